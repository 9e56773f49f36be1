"""How good the data are: settings, repetitions, noise, missed starts, crowded cores, foreign load, what is missing."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.measure import Series, series
from scalkit.measure.schema import as_points, parameters_of
from scalkit.measure.virtual_time import said_of
from scalkit.plots.style import METRIC_WORDS
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section, esc, name, notes, table, words_of
from scalkit.reports.sections.reopen import as_word
from scalkit.text import as_percent
from scalkit.units import format_quantity
from scalkit.validation import AnyVerdict, Verdict
from scalkit.validation.judge.measured import shown_setting

_CONDITIONS = words_of("conditions")


def quality(page: Page) -> Section:
    """Return remarks about the data as a whole, a table of the run times and a table of everything else."""
    timed = [v for v in page.result.verdicts if v.metric == "time"]
    other = [v for v in page.result.verdicts if v.metric != "time"]
    tables = (_times(page.data, timed) if timed else "") + (_others(other) if other else "")
    return Section.of(notes(_remarks(page)), f'<div class="sheet">{_conditions(page)}{tables}</div>')


def _times(data: xr.Dataset, verdicts: Sequence[AnyVerdict]) -> str:
    head = ("function", "settings", "runs", "repetitions", "noise", "late", "overrun", "foreign load", "converged")
    caption = (
        "Run times. Repetitions: per setting, all runs together. Noise: spread between runs, median over the settings. "
        "Late: repetitions that some process started after the common start; overrun: those that outlasted their window. "
        "Foreign load: CPU time of others, median over the cells. Converged: cells whose interval became narrow enough."
    )
    rows = [(*_common(v), *_cells(data, v)) for v in verdicts]
    return table(caption, head, rows, numeric=range(1, len(head)))


def _others(verdicts: Sequence[AnyVerdict]) -> str:
    head = ("function", "settings", "runs", "values", "noise", "metric")
    rows = [(*_common(v), esc(METRIC_WORDS.get(v.metric, v.metric))) for v in verdicts]
    caption = "Other metrics. Values: per setting, all runs together. Exact: every run gave the same."
    return table(caption, head, rows, numeric=range(1, 5))


def _conditions(page: Page) -> str:
    """Return under which settings the campaign ran, in one paragraph; empty if it does not say."""
    arguments, settings = page.arguments, page.campaign.get("settings")
    words = [text.format(as_word(arguments[key])) for key, text in _CONDITIONS.items() if arguments.get(key)]
    if isinstance(settings, dict) and settings:
        words.append("MPI set to " + ", ".join(f"{key}={value}" for key, value in settings.items()))
    return f'<p class="soft">Measured with {esc("; ".join(words))}.</p>' if words else ""


def _remarks(page: Page) -> Iterator[str]:
    data = as_points(page.data)[0]
    crowded = _where(data, "oversubscribed")
    if crowded:
        yield (
            f"More processes than cores at {crowded}: a run time there tells about the scheduler of "
            "the operating system as much as about the library, so verdicts on run times are shown but do not decide. "
            "Memory is not affected."
        )
    nodes = data.coords.get("processes_per_node")
    if nodes is not None and np.unique(np.asarray(nodes)).size > 1:
        yield (
            "The number of processes per node is not the same at all scales; MPI's own memory depends on it, so its "
            "verdict is shown but does not decide."
        )
    truncated = str(data.attrs.get("truncated", "") or "")
    if truncated:
        yield f"These run files end early (what they hold was used): {truncated}."
    excluded = page.session.state.excluded if page.session is not None else {}
    left_out = [
        f"{function} at {'; '.join(shown_setting(one, parameters_of(page.data)) for one in settings)}"
        for function, settings in excluded.items()
    ]
    if left_out:
        yield f"Left out by hand: {', '.join(left_out)}."
    verdicts = [v for v in page.result.verdicts if isinstance(v, Verdict)]
    missing = [[x for x in _missing(data, v) if x not in excluded.get(v.function, ())] for v in verdicts]
    absent = [
        f"{v.function} at {', '.join(f'{x:g}' for x in found)}" for v, found in zip(verdicts, missing, strict=True) if found
    ]
    if absent:
        yield f"No value for: {'; '.join(absent)}."
    yield from page.notes
    if int(data.attrs.get("simulated", 0)):
        yield "These values come from a simulator, not from a machine."
    if said := said_of(data.attrs):
        yield (
            f"Run times are those of a virtual clock: {said}. They repeat exactly and decide, and say nothing of the speed of "
            "this machine."
        )


def _where(data: xr.Dataset, coordinate: str) -> str:
    """Return at which settings a flag is set, as ``p = 8, 16``; empty if at none."""
    flags = data.coords.get(coordinate)
    if flags is None or not np.asarray(flags, dtype=bool).any():
        return ""
    parts = []
    for parameter in parameters_of(data):
        if set(data[parameter].dims) <= set(flags.dims):
            values, flagged = (np.asarray(one) for one in xr.broadcast(data[parameter], flags))
            found = np.unique(values[flagged.astype(bool)])
            if len(found) < np.unique(values).size:
                parts.append(f"{parameter} = {', '.join(f'{x:g}' for x in found)}")
    return " and ".join(parts) or "all settings"


def _missing(data: xr.Dataset, verdict: Verdict) -> NDArray[np.float64]:
    """Return the settings without a value where other functions have one of the same metric."""
    metric = data[verdict.metric.removeprefix(f"{verdict.parameter}*")]
    there = metric.notnull().any([dim for dim in metric.dims if dim != verdict.parameter])
    return np.setdiff1d(np.asarray(data[verdict.parameter], dtype=float)[np.asarray(there)], verdict.series.shown_x)


def _common(verdict: AnyVerdict) -> tuple[str, ...]:
    series = verdict.series
    repetitions = np.asarray(series.n_repetitions, dtype=float)
    low, high = int(np.nanmin(repetitions)), int(np.nanmax(repetitions))
    return (
        name(verdict.function),
        str(len(series.y)),
        str(int(np.isfinite(np.asarray(series.values, dtype=float)).any(axis=0).sum())),
        f"{low}" if low == high else f"{low}–{high}",
        _noise(verdict),
    )


def _cells(data: xr.Dataset, verdict: AnyVerdict) -> tuple[str, ...]:
    total = _quality(data, verdict, "n_repetitions", np.nansum)
    load = _quality(data, verdict, "foreign_load", np.nanmedian)
    return (
        _share(_quality(data, verdict, "n_late", np.nansum), total),
        _share(_quality(data, verdict, "n_overrun", np.nansum), total),
        "–" if load is None else as_percent(load, ".1f"),
        _converged(data, verdict),
    )


def _noise(verdict: AnyVerdict) -> str:
    noise = float(verdict.series.noise)
    if verdict.series.exact and not noise > 0:
        return "exact"
    return as_percent(noise, ".1f")


def _quality(
    data: xr.Dataset, verdict: AnyVerdict, variable: str, reduce: Callable[[NDArray[np.float64]], float]
) -> float | None:
    if variable not in data or "function" not in data[variable].dims:
        return None
    values = np.asarray(data[variable].sel(function=verdict.function), dtype=float)
    return float(reduce(values)) if np.isfinite(values).any() else None


def _share(part: float | None, total: float | None) -> str:
    if part is None or not total:
        return "–"
    return as_percent(part / total, ".1f")


def _converged(data: xr.Dataset, verdict: AnyVerdict) -> str:
    if "status" not in data or "function" not in data["status"].dims:
        return "–"
    words = [str(word) for word in np.asarray(data["status"].sel(function=verdict.function)).ravel() if str(word)]
    return f"{words.count('converged')} of {len(words)}" if words else "–"


_LOAD = re.compile(r"other programs used about (\d+) % of the CPU")


def real_times(page: Page) -> Section:
    """Return a table of the run times of both clocks; nothing where no real ones were given."""
    if page.real_times is None:
        return Section.of()
    found = _run_times(page.real_times)
    beside = {one.function: dict(zip(one.x.tolist(), one.y.tolist(), strict=True)) for one in _run_times(page.data)}
    head = ("function", found[0].parameter, "real time", "lowest run", "highest run", "virtual time")
    rows = [row for one in found for row in _rows(one, beside.get(one.function, {}))]
    caption = (
        f"Real time: {page.real_times_name}, the first quartile of the repetitions of each of {_runs(found[0])}, and of these "
        "again. Virtual time: what the verdicts are about."
    )
    largest = max(float(one.x[-1]) for one in found)
    return Section.rendered(
        "real_times.html",
        remarks=_remarks_of_real_times(found),
        host=str(page.real_times.attrs.get("measured_on", "") or "this machine"),
        largest=f"{found[0].parameter} = {largest:g}",
        times=table(caption, head, rows, numeric=range(1, len(head))),
    )


def _remarks_of_real_times(found: list[Series]) -> list[str]:
    """Return the remarks on all functions, each once, and the load of other programs as one range."""
    remarks = list(dict.fromkeys(remark for one in found for remark in one.caveats))
    loads = [int(match[1]) for remark in remarks if (match := _LOAD.fullmatch(remark))]
    others = [remark for remark in remarks if not _LOAD.fullmatch(remark)]
    if not loads:
        return others
    span = f"{min(loads)}" if len(loads) == 1 else f"{min(loads)} to {max(loads)}"
    return [*others, f"other programs used about {span} % of the CPU"]


def _run_times(data: xr.Dataset) -> list[Series]:
    return [one for one in series(data) if one.metric == "time"]


def _rows(one: Series, virtual: dict[float, float]) -> Iterator[tuple[str, ...]]:
    lowest, highest = np.nanmin(one.values, axis=1).tolist(), np.nanmax(one.values, axis=1).tolist()
    for x, y, low, high in zip(one.x.tolist(), one.y.tolist(), lowest, highest, strict=True):
        times = (y, low, high, virtual.get(x, float("nan")))
        yield (name(one.function), f"{x:g}", *(format_quantity(value, one.unit).replace("-", "–") for value in times))


def _runs(one: Series) -> str:
    n = int(np.isfinite(one.values).any(axis=0).sum())
    return f"{n} runs" if n > 1 else "one run"
