"""Quality of the data: repetitions, noise, missed starts, foreign load, missing points."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.measured import shown_setting
from scalkit.measure.schema import as_points, parameters_of
from scalkit.plots.style import METRIC_WORDS
from scalkit.reports.pages.verdicts import Page
from scalkit.support.text import as_percent


def quality(page: Page) -> dict[str, Any]:
    """Return remarks about the data as a whole, the quality of the run times, and that of everything else."""
    timed = [(*_common(v), *_cells(page.data, v)) for v in page.result.verdicts if v.metric == "time"]
    other = [(*_common(v), METRIC_WORDS.get(v.metric, v.metric)) for v in page.result.verdicts if v.metric != "time"]
    return {"quality": {"remarks": list(_remarks(page)), "timed": timed, "other": other}}


def _remarks(page: Page) -> Iterator[str]:
    data = as_points(page.data)[0]
    if truncated := str(data.attrs.get("truncated", "") or ""):
        yield f"These run files end early (what they hold was used): {truncated}."
    yield from _left_out(page, data)
    yield from page.notes


def _left_out(page: Page, data: xr.Dataset) -> Iterator[str]:
    """Yield which points were left out by hand, and which have no value."""
    excluded = page.session.state.excluded if page.session is not None else {}
    parameters = parameters_of(page.data)
    by_hand = [
        f"{function} at {'; '.join(shown_setting(one, parameters) for one in points)}" for function, points in excluded.items()
    ]
    if by_hand:
        yield f"Left out by hand: {', '.join(by_hand)}."
    absent = []
    for verdict in page.result.verdicts:
        if isinstance(verdict, Verdict):
            missing = [f"{x:g}" for x in _missing(data, verdict) if x not in excluded.get(verdict.function, ())]
            absent += [f"{verdict.function} at {', '.join(missing)}"] * bool(missing)
    if absent:
        yield f"No value for: {'; '.join(absent)}."


def _missing(data: xr.Dataset, verdict: Verdict) -> NDArray[np.float64]:
    """Return the points without a value where other functions have one of the same metric."""
    metric = data[verdict.metric.removeprefix(f"{verdict.parameter}*")]
    there = metric.notnull().any([dim for dim in metric.dims if dim != verdict.parameter])
    return np.setdiff1d(np.asarray(data[verdict.parameter], dtype=float)[np.asarray(there)], verdict.series.shown_x)


def _common(verdict: AnyVerdict) -> tuple[str, ...]:
    series = verdict.series
    repetitions = np.asarray(series.n_repetitions, dtype=float)
    low, high = int(np.nanmin(repetitions)), int(np.nanmax(repetitions))
    noise = float(series.noise)
    return (
        verdict.function,
        str(len(series.y)),
        str(int(np.isfinite(np.asarray(series.values, dtype=float)).any(axis=0).sum())),
        f"{low}" if low == high else f"{low}–{high}",
        "exact" if series.exact and not noise > 0 else as_percent(noise, ".1f"),
    )


def _cells(data: xr.Dataset, verdict: AnyVerdict) -> tuple[str, ...]:
    total = _reduced(data, verdict, "n_repetitions", np.nansum)
    late, overrun = (_reduced(data, verdict, name, np.nansum) for name in ("n_late", "n_overrun"))
    load = _reduced(data, verdict, "foreign_load", np.nanmedian)
    shares = ("–" if part is None or not total else as_percent(part / total, ".1f") for part in (late, overrun))
    return (*shares, "–" if load is None else as_percent(load, ".1f"), _converged(data, verdict))


def _reduced(
    data: xr.Dataset, verdict: AnyVerdict, variable: str, reduce: Callable[[NDArray[np.float64]], float]
) -> float | None:
    if variable not in data or "function" not in data[variable].dims:
        return None
    values = np.asarray(data[variable].sel(function=verdict.function), dtype=float)
    return float(reduce(values)) if np.isfinite(values).any() else None


def _converged(data: xr.Dataset, verdict: AnyVerdict) -> str:
    if "status" not in data or "function" not in data["status"].dims:
        return "–"
    words = [str(word) for word in np.asarray(data["status"].sel(function=verdict.function)).ravel() if str(word)]
    return f"{words.count('converged')} of {len(words)}" if words else "–"
