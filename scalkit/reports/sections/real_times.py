"""Run times of the real clock beside those of virtual time: shown as what they are, and not judged."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import xarray as xr

from scalkit.measure import Series, series
from scalkit.reports.markup import name, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.units import format_quantity

_LOAD = re.compile(r"other programs used about (\d+) % of the CPU")


def real_times(page: Page) -> Section:
    """Return a table of the run times of both clocks; nothing where no real ones were given."""
    if page.real_times is None:
        return Section.of()
    found = _times(page.real_times)
    beside = {one.function: dict(zip(one.x.tolist(), one.y.tolist(), strict=True)) for one in _times(page.data)}
    head = ("function", found[0].parameter, "real time", "lowest run", "highest run", "virtual time")
    rows = [row for one in found for row in _rows(one, beside.get(one.function, {}))]
    caption = (
        f"Real time: {page.real_times_name}, the first quartile of the repetitions of each of {_runs(found[0])}, and of these "
        "again. Virtual time: what the verdicts are about."
    )
    largest = max(float(one.x[-1]) for one in found)
    return Section.rendered(
        "real_times.html",
        remarks=_remarks(found),
        host=str(page.real_times.attrs.get("measured_on", "") or "this machine"),
        largest=f"{found[0].parameter} = {largest:g}",
        times=table(caption, head, rows, numeric=range(1, len(head))),
    )


def _remarks(found: list[Series]) -> list[str]:
    """Return the remarks on all functions, each once, and the load of other programs as one range."""
    remarks = list(dict.fromkeys(remark for one in found for remark in one.caveats))
    loads = [int(match[1]) for remark in remarks if (match := _LOAD.fullmatch(remark))]
    others = [remark for remark in remarks if not _LOAD.fullmatch(remark)]
    if not loads:
        return others
    span = f"{min(loads)}" if len(loads) == 1 else f"{min(loads)} to {max(loads)}"
    return [*others, f"other programs used about {span} % of the CPU"]


def _times(data: xr.Dataset) -> list[Series]:
    return [one for one in series(data) if one.metric == "time"]


def _rows(one: Series, virtual: dict[float, float]) -> Iterator[tuple[str, ...]]:
    lowest, highest = np.nanmin(one.values, axis=1).tolist(), np.nanmax(one.values, axis=1).tolist()
    for x, y, low, high in zip(one.x.tolist(), one.y.tolist(), lowest, highest, strict=True):
        times = (y, low, high, virtual.get(x, float("nan")))
        yield (name(one.function), f"{x:g}", *(format_quantity(value, one.unit).replace("-", "–") for value in times))


def _runs(one: Series) -> str:
    n = int(np.isfinite(one.values).any(axis=0).sum())
    return f"{n} runs" if n > 1 else "one run"
