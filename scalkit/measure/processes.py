"""When each process was done: the root in every repetition, all of them by their medians, and which one is the last."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.records import Cell
from scalkit.measure.schema import FUNCTION, PROCESS, REPETITION, RUN, as_points, parameters_of
from scalkit.support.arrays import Flags, Floats
from scalkit.support.text import as_percent
from scalkit.support.units import format_quantity

DIMENSIONS = {"root_time": REPETITION, "process_time": PROCESS, "process_last": PROCESS}
"""Variables of a Dataset, and what they lie on beside function, parameter and run."""

_AMONG_THE_LAST = 0.5
"""More than half of the repetitions."""


def of_processes(cells: Sequence[Cell], left_out: Flags) -> dict[str, Floats]:
    """Return the times of the processes in all passes of an operation in a launch.

    `cells`: in order.
    `left_out` of shape (repetitions,): those that do not count.
    Returns: ``root_time`` [s] of shape (repetitions,), NaN where it does not count; ``process_time`` [s] of shape
    (processes,), the median over the repetitions of which all times were kept; ``process_last`` [1] of shape
    (processes,), the share of them in which the process was the last, shared where several were. Empty if no times were
    kept.
    """
    found: dict[str, Floats] = {}
    if cells and all(len(cell.root_ns) == len(cell.t_ns) for cell in cells) and any(cell.root_ns for cell in cells):
        root = np.array([t for cell in cells for t in cell.root_ns], dtype=np.float64) * 1e-9
        root[left_out] = np.nan
        found["root_time"] = root
    rows = np.array([row for cell in cells for row in cell.process_ns], dtype=np.float64)
    if rows.size:
        starts = np.cumsum([0, *(len(cell.t_ns) for cell in cells)])
        at = np.array([start + i for start, cell in zip(starts, cells, strict=False) for i in range(len(cell.process_ns))])
        counts = ~left_out[at]
        rows = rows[counts] if counts.any() else rows
        found["process_time"] = np.median(rows, axis=0) * 1e-9
        last = rows == rows.max(axis=1, keepdims=True)
        found["process_last"] = (last / last.sum(axis=1, keepdims=True)).mean(axis=0)
    return found


@dataclass(frozen=True, eq=False)
class ProcessTimes:
    """When the processes of one operation were done, at one setting.

    `x`: value of the parameter.
    `times` (shape (runs, processes), in s): the median over the repetitions; NaN where a run has none.
    `last` (shape (runs, processes)): share of the repetitions in which the process was the last.
    """

    function: str
    parameter: str
    x: float
    times: Floats
    last: Floats

    @property
    def of_each(self) -> Floats:
        """The median over the runs, of shape (processes,), in s."""
        found: Floats = np.nanmedian(self.times, axis=0)
        return found

    @property
    def root(self) -> float:
        """The time of process 0, in s."""
        return float(self.of_each[0])

    @property
    def slowest(self) -> int:
        """The process that is done last, by its median."""
        return int(np.argmax(self.of_each))

    @property
    def share_last(self) -> Floats:
        """Share of the repetitions in which each process was the last, mean of the runs, of shape (processes,)."""
        found: Floats = np.nanmean(self.last, axis=0)
        return found

    def __str__(self) -> str:
        each, share = self.of_each, self.share_last
        late = int(np.argmax(share))
        often = "mostly" if share[late] > _AMONG_THE_LAST else "most often"
        slowest = f"the slowest, {self.slowest}, after {_time(each[self.slowest])}" if self.slowest else "it is the slowest"
        return (
            f"{self.function}, {self.parameter} = {self.x:g}: process 0 is done after {_time(self.root)}, {slowest}; {often} "
            f"process {late} is the last ({as_percent(share[late])})."
        )


def _time(seconds: Any) -> str:
    return format_quantity(float(seconds), "s")


def process_times(ds: xr.Dataset) -> list[ProcessTimes]:
    """Return when each process was done, of every function and setting where that was kept.

    `ds`: as `scalkit.read` returns it of what was measured with ``per_process``; along one parameter.
    Raises DataError if nothing was kept, or there are several parameters.
    """
    names = parameters_of(ds)
    if len(names) != 1:
        raise DataError(f"times of processes are along one parameter, the Dataset is over {', '.join(names)}; select one.")
    if "process_time" not in ds:
        raise DataError("the times of the processes were not kept; set per_process in a campaign file.")
    found = []
    axes = (FUNCTION, names[0], RUN, PROCESS)
    times, last = (np.asarray(ds[name].transpose(*axes)) for name in ("process_time", "process_last"))
    for i, function in enumerate(np.asarray(ds[FUNCTION]).tolist()):
        for j, x in enumerate(np.asarray(ds[names[0]]).tolist()):
            there = np.isfinite(times[i, j]).any(axis=0)
            if there.any():
                n = int(np.flatnonzero(there)[-1]) + 1
                found.append(ProcessTimes(str(function), names[0], x, times[i, j][:, :n], last[i, j][:, :n]))
    return found


HEAD = ("function", "at", "bandwidth", "messages")


def bandwidths(ds: xr.Dataset) -> list[tuple[str, str, str, str]]:
    """Return the rows of a table with `HEAD`: each window that was measured; empty if there are none.

    Bandwidth and rate of messages are of all processes together: medians over the runs, of the first quartile of the times
    of a run.
    """
    if "bandwidth" not in ds:
        return []
    names = parameters_of(ds)
    points, axis = as_points(ds)
    usual = points[["bandwidth", "message_rate"]].median(RUN, skipna=True)
    table = usual.to_dataframe([FUNCTION, axis]).dropna(subset="bandwidth").reset_index()
    return [
        (
            str(row[FUNCTION]),
            ", ".join(f"{name} = {row[name]:g}" for name in names),
            format_quantity(row["bandwidth"], "B/s"),
            format_quantity(row["message_rate"], "/s"),
        )
        for row in table.to_dict("records")
    ]
