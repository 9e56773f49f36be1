"""Bandwidth and rate of messages of windows: what OSU's osu_bw, osu_bibw and osu_mbw_mr print, from the same times."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalkit.measure.layout import as_points
from scalkit.measure.schema import FUNCTION, RUN, parameters_of
from scalkit.units import format_quantity


@dataclass(frozen=True)
class Bandwidth:
    """What one function moved at one setting: medians over the runs, of the first quartile of the times of a run.

    `setting`: values of the parameters, in order.
    `bandwidth` [B/s] and `message_rate` [1/s]: all processes together.
    """

    function: str
    setting: tuple[tuple[str, float], ...]
    bandwidth: float
    message_rate: float

    def cells(self) -> tuple[str, str, str, str]:
        """Return function, setting, bandwidth and rate of messages as text."""
        where = ", ".join(f"{name} = {value:g}" for name, value in self.setting)
        return self.function, where, format_quantity(self.bandwidth, "B/s"), format_quantity(self.message_rate, "/s")


HEAD = ("function", "at", "bandwidth", "messages")


def bandwidths(ds: xr.Dataset) -> tuple[Bandwidth, ...]:
    """Return bandwidth and rate of messages of each window that was measured, function by function; empty if there are none."""
    return tuple(_bandwidths(ds)) if "bandwidth" in ds else ()


def _bandwidths(ds: xr.Dataset) -> Iterator[Bandwidth]:
    points = as_points(ds)[0]
    names = parameters_of(ds)
    along = points[names[0]].dims[0]
    usual = points[["bandwidth", "message_rate"]].median(RUN, skipna=True)
    for function in map(str, points[FUNCTION].values):
        for place in range(points.sizes[along]):
            one = usual.sel({FUNCTION: function}).isel({along: place})
            if np.isfinite(float(one["bandwidth"])):
                setting = tuple((name, float(points[name][place])) for name in names)
                yield Bandwidth(function, setting, float(one["bandwidth"]), float(one["message_rate"]))
