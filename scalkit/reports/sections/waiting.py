"""The sections of a report on waiting."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.plots.style import quantity
from scalkit.plots.traces.timeline import timeline_svg
from scalkit.plots.traces.waiting import WaitingRun, analysis_speed, parts_of_time, scaling_of_program, waiting_over_processes
from scalkit.reports.content import made_with
from scalkit.reports.pages.waiting import WaitingPage, is_strong
from scalkit.support.text import as_percent, counted
from scalkit.trace.results.summary import TITLES, lacks_progress, summary

_MOST_ROWS = 12
_MUCH = 0.1  # of the time; waiting for longer is shown as a problem


def headline(page: WaitingPage) -> dict[str, Any]:
    """Return how much of the time is waiting, and what was analysed."""
    runs = page.runs
    share = float(page.worst.run.parts.share)
    most, last = (counted(n, "process", "processes") for n in (page.worst.run.processes, runs[-1].processes))
    waiting = as_percent(share, ".1f") if np.isfinite(share) else "none"
    if any(lacks_progress(source.ds) for source in page.sources):
        waiting = "unknown"
    tiles = [
        ("fix" if share > _MUCH else "fine", "", waiting, f"of the time waits for progress on {most}, where it is most"),
        ("fine", "", quantity(runs[-1].parts.wall, "s"), f"the program takes on {last}"),
    ]
    facts = [
        ("runs", len(runs)),
        ("processes", ", ".join(str(run.processes) for run in runs)),
        ("one-sided operations", sum(int(run.parts.operations.sum()) for run in runs)),
        ("of", page.region or "the whole program"),
        ("report", page.made),
        ("", "simulated, not measured" if page.is_simulated else ""),
    ]
    return {"facts": facts, "tiles": tiles}


def strong_scaling(page: WaitingPage) -> dict[str, Any]:
    """Return time of the program and of the analysis over the processes, as in figure 5 of the paper."""
    first = page.runs[0]

    def row(run: WaitingRun) -> tuple[str, ...]:
        wall = run.parts.wall
        efficiency = f"{first.parts.wall * first.processes / run.processes / wall:.2f}" if wall else "–"
        return str(run.processes), quantity(wall, "s"), efficiency, _time(run.analysis_s)

    return _of_analysis(page, scaling_of_program(page.runs), row)


def speed(page: WaitingPage) -> dict[str, Any]:
    """Return the number of operations and how fast the analysis treats them, as in figure 6 of the paper."""

    def row(run: WaitingRun) -> tuple[str, ...]:
        n = int(run.parts.operations.sum())
        return str(run.processes), str(n), f"{n / run.processes:.1f}", _rate(n, run.analysis_s)

    return _of_analysis(page, analysis_speed(page.runs), row)


def _of_analysis(page: WaitingPage, figure: object, row: Callable[[WaitingRun], tuple[str, ...]]) -> dict[str, Any]:
    """Return a figure and its rows."""
    rows = [row(run) for run in page.runs]
    return {"figure": figure, "rows": rows, "is_timed": any(np.isfinite(run.analysis_s) for run in page.runs)}


def communication(page: WaitingPage) -> dict[str, Any]:
    """Return how the time is spent, and calls against waiting for progress, as in figure 7 of the paper."""
    rows = [
        (
            str(run.processes),
            *(_time(float(one.mean())) for one in (run.parts.kinds["one-sided"], run.parts.waiting, run.parts.bound)),
            f"{quantity(float(run.parts.waiting.min()), 's')} to {quantity(float(run.parts.waiting.max()), 's')}",
            as_percent(run.parts.share, ".1f"),
        )
        for run in page.runs
    ]
    return {"parts": parts_of_time(page.runs), "boxes": waiting_over_processes(page.runs), "rows": rows}


def growth(page: WaitingPage) -> dict[str, Any]:
    """Return whether waiting grows as expected."""
    verdicts = page.validation.along_one if page.validation is not None else ()
    cards = [(verdict, plots.fit(verdict), plots.divergence(verdict)) for verdict in verdicts]
    return {"cards": cards, "is_strong": is_strong(page.sources)}


def hottest(page: WaitingPage) -> dict[str, Any]:
    """Return the call paths that wait longest, and who made them wait, on most processes."""
    source = page.sources[-1]
    found = summary(source.ds, _MOST_ROWS)
    run = found["totals"].get("critical_path", 0)
    waits = [
        (row["path"], TITLES[row["metric"]], _ns(row["ns"]), str(row["most_at"]), _ns(row["most_ns"])) for row in found["where"]
    ]
    causes = [(row["path"], TITLES[row["metric"]], _ns(row["ns"]), str(row["location"])) for row in found["causes"]]
    reasons = [
        (row["path"], str(row["location"]), _ns(row["ns"]), f"{_ns(row['gain_ns'])}, {as_percent(row['gain_ns'] / run, '.1f')}")
        for row in found.get("delay_cost", ())
        if "gain_ns" in row
    ]
    return {"waits": waits, "causes": causes, "reasons": reasons, "processes": source.run.processes}


def when(page: WaitingPage) -> dict[str, Any] | None:
    """Return timelines of the largest and the smallest trace; nothing where results were given, not traces."""
    if all(source.trace is None for source in page.sources):
        return None
    return {"timelines": [(one, Markup(timeline_svg(one))) for one in page.timelines]}


def method(page: WaitingPage) -> dict[str, Any]:
    """Return the options of the analyses."""
    options: dict[str, list[str]] = {}
    for source in page.sources:
        taken = json.loads(source.ds.attrs["options"]).items()
        words = ", ".join(f"{key} {value}" for key, value in taken if value not in ([], ""))
        options.setdefault(words, []).append(source.name)
    return {"options": options}


def provenance(page: WaitingPage) -> dict[str, Any]:
    """Return where the numbers come from."""
    found: dict[str, list[str]] = {}
    for source in page.sources:
        for key, value in json.loads(source.ds.attrs["trace"]).items():
            if key not in ("format", "schema", "locations") and str(value) not in found.setdefault(key, []):
                found[key].append(str(value))
    facts = [
        ("runs", ", ".join(source.name for source in page.sources) + (" (simulated)" if page.is_simulated else "")),
        *((key, "; ".join(values)) for key, values in sorted(found.items())),
        *made_with("numpy", "xarray", "plotly").items(),
        ("report written", page.made),
    ]
    problems = [f"Left out of {one.name}: {problem}." for one in page.sources for problem in json.loads(one.ds.attrs["problems"])]
    return {"facts": facts, "problems": problems, "files": {one.name: one.sha256 for one in page.sources}}


def _time(seconds: float) -> str:
    return quantity(seconds, "s") if np.isfinite(seconds) else "–"


def _ns(value: float) -> str:
    return quantity(1e-9 * value, "s")


def _rate(n: int, seconds: float) -> str:
    return f"{n / seconds:,.0f}" if np.isfinite(seconds) and seconds > 0 else "–"
