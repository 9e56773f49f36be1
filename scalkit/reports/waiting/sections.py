"""The sections of a report on waiting; each takes a `WaitingPage` and returns what a notebook cell shows."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.markup import counted
from scalkit.plots.style import quantity
from scalkit.plots.traces.timeline import timeline_svg
from scalkit.plots.traces.waiting import analysis_speed, parts_of_time, scaling_of_program, waiting_over_processes
from scalkit.reports.pieces import Piece, Section, details, figure, hashes, lines, name, notes, soft, table
from scalkit.reports.waiting.page import WaitingPage, is_strong
from scalkit.reports.writer.content import made_with
from scalkit.text import as_percent
from scalkit.trace.results.summary import TITLES, lacks_progress, summary

_MOST_ROWS = 12


def headline(page: WaitingPage) -> Section:
    """Return the top of the page."""
    runs = page.runs
    share = float(page.worst.run.parts.share)
    most, last = (counted(n, "process", "processes") for n in (page.worst.run.processes, runs[-1].processes))
    waiting = as_percent(share, ".1f") if np.isfinite(share) else "none"
    if any(lacks_progress(source.ds) for source in page.sources):
        waiting = "unknown"
    tiles = [
        ("none" if share > 0.1 else "total", "", waiting, f"of the time waits for progress on {most}, where it is most"),
        ("total", "", quantity(runs[-1].parts.wall, "s"), f"the program takes on {last}"),
    ]
    facts = [
        ("runs", len(runs)),
        ("processes", ", ".join(str(run.processes) for run in runs)),
        ("one-sided operations", sum(int(run.parts.operations.sum()) for run in runs)),
        ("of", page.region or "the whole program"),
        ("report", page.made),
        ("", "simulated, not measured" if page.is_simulated else ""),
    ]
    return Section.top("One-sided communication", page, facts, tiles)


def strong_scaling(page: WaitingPage) -> Section:
    """Return time of the program and of the analysis over the processes, as in figure 5 of the paper."""
    runs = page.runs
    rows = []
    for run in runs:
        ideal = runs[0].parts.wall * runs[0].processes / run.processes
        rows.append(
            (
                str(run.processes),
                quantity(run.parts.wall, "s"),
                f"{ideal / run.parts.wall:.2f}" if run.parts.wall else "–",
                _time(run.analysis_s),
                _time(run.baseline_s),
            )
        )
    head = ("processes", _title(page, "time"), "efficiency", "analysis", _EACH)
    caption = "Time from the first to the last record of the process that took longest; analysis on one core."
    drawn = figure(scaling_of_program(runs), "Strong scaling, and ideal scaling from the first run on.")
    return _with_analysis(page, drawn, caption, head, rows)


def speed(page: WaitingPage) -> Section:
    """Return the number of operations and how fast the analysis treats them, as in figure 6 of the paper."""
    rows = []
    for run in page.runs:
        n = int(run.parts.operations.sum())
        rows.append((str(run.processes), str(n), f"{n / run.processes:.1f}", _rate(n, run.analysis_s), _rate(n, run.baseline_s)))
    head = ("processes", "operations", "of a process", "analysed in a second", _EACH)
    caption = "One-sided operations, and how many of them the analysis treats in a second of one core."
    said = "More operations keep the analysis busier: its speed grows until it is limited by the core, not by its start."
    return _with_analysis(page, figure(analysis_speed(page.runs), said), caption, head, rows)


def communication(page: WaitingPage) -> Section:
    """Return what the time goes to, and calls against waiting for progress, as in figure 7 of the paper."""
    rows = []
    for run in page.runs:
        parts = run.parts
        calls = parts.kinds["one-sided"]
        rows.append(
            (
                str(run.processes),
                _time(float(calls.mean())),
                _time(float(parts.waiting.mean())),
                _time(float(parts.bound.mean())),
                f"{quantity(float(parts.waiting.min()), 's')} to {quantity(float(parts.waiting.max()), 's')}",
                as_percent(parts.share, ".1f"),
            )
        )
    head = (
        "processes",
        "in one-sided calls",
        "waiting for progress",
        "no target in a call",
        "least to most of a process",
        "of all time",
    )
    caption = (
        f"{_title(page, 'means of a process').capitalize()}. Waiting for one target is never longer than the time in which no "
        "target is in a call."
    )
    boxes = "In one-sided calls, and waiting for progress; boxes are quartiles over processes, whiskers the least and the most."
    drawn = figure(parts_of_time(page.runs), "What the time of all processes goes to.")
    pair = (*drawn, *figure(waiting_over_processes(page.runs), boxes))
    return Section.sheet('<div class="pair">', *pair, "</div>", table(caption, head, rows, numeric=(0, 1, 2, 3, 4, 5)))


def growth(page: WaitingPage) -> Section:
    """Return whether waiting grows as expected."""
    if page.validation is None:
        return Section.of(soft(page.no_verdict))
    whose = "all processes together, because the problem stays the same" if is_strong(page.sources) else "a process, in the mean"
    asked = "" if page.is_asked else " Nothing was expected; it is compared with a constant."
    section = Section.of(soft(f"Waiting of {whose}.{asked}"))
    for verdict in page.validation.along_one:
        drawn = {"fit": plots.fit(verdict), "divergence": plots.divergence(verdict)}
        section += Section.rendered("waiting_card.html", verdict=verdict, **drawn)
    return section


def hottest(page: WaitingPage) -> Section:
    """Return the call paths that wait longest, and who made them wait, on most processes."""
    source = page.sources[-1]
    told = summary(source.ds, _MOST_ROWS)
    waits = [
        (name(row["path"]), TITLES[row["metric"]], quantity(1e-9 * row["ns"], "s"), str(row["most_at"]),
         quantity(1e-9 * row["most_ns"], "s"))
        for row in told["where"]
    ]  # fmt: skip
    causes = [
        (name(row["path"]), TITLES[row["metric"]], quantity(1e-9 * row["ns"], "s"), str(row["location"]))
        for row in told["causes"]
    ]
    if not waits:
        return Section.of(soft("Nobody waited, as far as the patterns tell."))
    simulated = "simulated, " if page.is_simulated else ""
    caption = f"Longest waits on {counted(source.run.processes, 'process', 'processes')}, {simulated}all together."
    whom = "What kept others waiting: what the process had been in since its last call."
    head = ("in", "wait", "time", "most at process", "there")
    below = table(whom, ("caused in", "wait", "time", "by process"), causes, numeric=(2, 3)) if causes else ""
    return Section.sheet(table(caption, head, waits, numeric=(2, 3, 4)), below, _reasons(told))


def _reasons(told: dict[str, Any]) -> str:
    """Return what delays others most, as a table; nothing for a result that does not say."""
    run = told["totals"].get("critical_path", 0)
    reasons = [
        (name(row["path"]), str(row["location"]), quantity(1e-9 * row["ns"], "s"),
         f"{quantity(1e-9 * row['gain_ns'], 's')}, {as_percent(row['gain_ns'] / run, '.1f')}")
        for row in told.get("delay_cost", ())
        if "gain_ns" in row
    ]  # fmt: skip
    caption = (
        "Reasons of waiting: what processes did longer than those that then waited for them, with all waits that this led to. "
        "The last column is for the run, if the process were 10 % faster there."
    )
    head = ("reason", "process", "costs", "run shorter by at most")
    return table(caption, head, reasons, numeric=(1, 2, 3)) if reasons else ""


def when(page: WaitingPage) -> Section:
    """Return timelines of the largest and the smallest trace; nothing where results were given, not traces."""
    section = Section(())
    if not page.timelines and any(source.trace is not None for source in page.sources):
        section = Section.of(soft("The traces are too large to be drawn here; scalkit.widgets.TimelineView shows them."))
    for timeline in page.timelines:
        said = f"{counted(timeline.locations, 'process', 'processes')}{', simulated' if timeline.is_simulated else ''}"
        caption = Markup('<p class="figcaption">{}; waiting is drawn at the begin of its call.</p>').format(said)
        section += Section.sheet('<div class="figure">', timeline_svg(timeline), caption, "</div>")
    return section


def method(page: WaitingPage) -> Section:
    """Return how the numbers come about."""
    options: dict[str, list[str]] = {}
    for source in page.sources:
        taken = json.loads(source.ds.attrs["options"]).items()
        told = ", ".join(f"{key} {value}" for key, value in taken if value not in ([], ""))
        options.setdefault(told, []).append(source.name)
    return Section.rendered("waiting_method.html", options=options)


def provenance(page: WaitingPage) -> Section:
    """Return where the numbers come from."""
    facts: dict[str, str] = {}
    for source in page.sources:
        for key, value in json.loads(source.ds.attrs["trace"]).items():
            if key not in ("format", "schema", "locations"):
                text = str(value)
                facts[key] = text if facts.get(key, text) == text else f"{facts[key]}; {text}"
    rows = [("runs", ", ".join(source.name for source in page.sources) + (" (simulated)" if page.is_simulated else ""))]
    rows += [*sorted(facts.items()), *made_with("numpy", "xarray", "plotly").items(), ("report written", page.made)]
    problems = [f"Left out of {one.name}: {problem}." for one in page.sources for problem in json.loads(one.ds.attrs["problems"])]
    files = hashes((one.name, one.sha256) for one in page.sources)
    listing = table("Of each result, or of all files of a trace.", ("run", "SHA-256"), files)
    shown = table("Of the runs and of this report.", ("what", "value"), lines(rows))
    return Section.of(notes(problems)) + Section.sheet(shown, details("Inputs and their hashes", listing))


_EACH = "… a message for each request"
_UNTIMED = "Results do not say how long their analysis took; name traces to have it timed."


def _with_analysis(
    page: WaitingPage, drawn: tuple[Piece, ...], caption: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> Section:
    """Return a figure and its table, whose last column is left out where no analysis sent a message for each request."""
    untimed = "" if any(np.isfinite(run.analysis_s) for run in page.runs) else soft(_UNTIMED)
    n = len(head) if any(np.isfinite(run.baseline_s) for run in page.runs) else len(head) - 1
    return Section.sheet(*drawn, untimed, table(caption, head[:n], [row[:n] for row in rows], numeric=(0, 1, 2, 3, 4)))


def _time(seconds: float) -> str:
    return quantity(seconds, "s") if np.isfinite(seconds) else "–"


def _rate(n: int, seconds: float) -> str:
    return f"{n / seconds:,.0f}" if np.isfinite(seconds) and seconds > 0 else "–"


def _title(page: WaitingPage, what: str) -> str:
    return f"{what}, simulated" if page.is_simulated else what
