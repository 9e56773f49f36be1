"""Run files of a master and its workers become one Dataset over the number of workers, the size of a unit, or both."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.arrays import Flags
from scalkit.errors import DataError
from scalkit.measure.assemble import require_distinct, run_labels, shared_attributes
from scalkit.measure.pattern_records import Units
from scalkit.measure.runfile import RunFile
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, Metric
from scalkit.measure.virtual_time import clock_attributes

WORKERS, SIZE = "workers", "S"

MASTER_WORKER = "sk_master_worker"
"""The program that measures them."""

UNIT_TIME = Metric("time", "s", "time for each work unit", exact=False)
SHARES = {
    metric.name: metric
    for metric in (
        Metric("master_share", "1", "share of its time that the master does not wait for workers", exact=False),
        Metric("idle_share", "1", "share of their time that workers have no unit", exact=False),
    )
}
"""What is measured beside the time; an expectation without a metric is not about them."""


def assemble_units(files: Sequence[RunFile]) -> xr.Dataset:
    """Return the Dataset of run files of sk_master_worker that belong to one campaign.

    `files`: at least one. Files with the same ``run_id`` are one run.
    Returns: metrics ``time`` [s] for each unit, ``master_share`` and ``idle_share`` over function, ``workers``, the
    size of a unit ``S`` [B], run and repetition. Of a single size, or a single number of workers, there is no such
    dimension.
    Raises DataError if two files hold the same launch, or the files differ in library or machine.
    """
    require_distinct(files)
    shared = shared_attributes(files)
    cells: dict[tuple[str, int, int, str], list[Units]] = {}
    for file in files:
        for one in sorted(file.units, key=lambda one: one.number):
            cells.setdefault((one.op, file.env.point, one.size_bytes, file.env.run_id), []).append(one)
    if not cells:
        raise DataError("the run files hold no work units: all launches died early; measure again.")
    axes = _Axes(cells, files)
    ds = xr.Dataset(_variables(axes, cells), _coordinates(axes, files))
    ds = ds.assign(incomplete=(axes.dims[:4], _incomplete(axes, files)))
    ds["incomplete"].attrs.update(role="quality", long_name="the run file ends early")
    ds.attrs = {
        "title": f"{'simulation of ' if shared['simulated'] else ''}a master and its workers",
        **shared,
        **clock_attributes([file.env.virtual for file in files]),
        "datatype": "byte",
    }
    return _without_single(ds.sortby(RUN))


class _Axes:
    """Where the values of a cell belong."""

    def __init__(self, cells: Mapping[tuple[str, int, int, str], Sequence[Units]], files: Sequence[RunFile]) -> None:
        self.dims = (FUNCTION, WORKERS, SIZE, RUN, REPETITION)
        self.functions, self.workers, self.sizes = (sorted({key[place] for key in cells}) for place in range(3))
        self.runs = run_labels({file.env.run_id for file in files})
        self.depth = max(sum(len(one.t_ns) for one in passes) for passes in cells.values())

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of what is said once for a launch."""
        return len(self.functions), len(self.workers), len(self.sizes), len(self.runs)

    def at(self, key: tuple[str, int, int, str]) -> tuple[int, int, int, int]:
        op, workers, size, run_id = key
        place = self.functions.index(op), self.workers.index(workers), self.sizes.index(size)
        return (*place, list(self.runs).index(run_id))


def _variables(axes: _Axes, cells: Mapping[tuple[str, int, int, str], Sequence[Units]]) -> dict[str, Any]:
    metrics = {"time": UNIT_TIME, **SHARES}
    values = {name: np.full((*axes.shape, axes.depth), math.nan) for name in metrics}
    counts = np.zeros(axes.shape, dtype=np.int32)
    load, worked = np.full(axes.shape, math.nan), np.full(axes.shape, math.nan)
    verified = np.ones(axes.shape, dtype=np.bool_)
    for key, passes in cells.items():
        at = axes.at(key)
        counts[at] = sum(len(one.t_ns) for one in passes)
        for name, array in values.items():
            array[at][: counts[at]] = np.concatenate([getattr(one, name) for one in passes])
        verified[at] = all(one.verified for one in passes)
        known = [(one.foreign_load, len(one.t_ns)) for one in passes if not math.isnan(one.foreign_load)]
        total = sum(n for _, n in known)
        load[at] = sum(share * n for share, n in known) / total if total else math.nan
        worked[at] = 1e-9 * np.median(np.concatenate([np.array(one.worked_ns) / one.units for one in passes]))
    quality: dict[str, tuple[NDArray[Any], str]] = {
        "n_repetitions": (counts, "repetitions measured"),
        "foreign_load": (load, "share of the node's CPU time used by others"),
        "verified": (verified, "results were right"),
    }
    found: dict[str, Any] = {name: (axes.dims, values[name], metric.attrs()) for name, metric in metrics.items()}
    found |= {name: (axes.dims[:4], array, {"role": "quality", "long_name": text}) for name, (array, text) in quality.items()}
    about = {"role": "detail", "units": "s", "long_name": "work on a unit, as the workers' clocks saw it"}
    return found | {"time_work": (axes.dims[:4], worked, about)}


def _coordinates(axes: _Axes, files: Sequence[RunFile]) -> dict[str, Any]:
    crowded = [any(f.env.oversubscribed for f in files if f.env.point == point) for point in axes.workers]
    per_node = [_single(f.env.processes_per_node for f in files if f.env.point == point) for point in axes.workers]
    return {
        FUNCTION: np.array(axes.functions, dtype=np.str_),
        WORKERS: np.array(axes.workers, dtype=np.int64),
        SIZE: np.array(axes.sizes, dtype=np.int64),
        RUN: np.array(list(axes.runs.values()), dtype=np.int64),
        "oversubscribed": (WORKERS, np.array(crowded)),
        "processes_per_node": (WORKERS, np.array(per_node, dtype=np.int64)),
    }


def _single(values: Iterable[int]) -> int:
    found = set(values)
    return found.pop() if len(found) == 1 else 0


def _incomplete(axes: _Axes, files: Sequence[RunFile]) -> Flags:
    found = np.zeros(axes.shape, dtype=np.bool_)
    for file in files:
        if not file.complete and file.env.point in axes.workers:
            found[:, axes.workers.index(file.env.point), :, list(axes.runs).index(file.env.run_id)] = True
    return found


def _without_single(ds: xr.Dataset) -> xr.Dataset:
    """Return the Dataset without the size, or else without the workers, if there is a single one of them."""
    if ds.sizes[SIZE] == 1:
        size = int(ds[SIZE].item())
        ds = ds.squeeze(SIZE, drop=True)
        ds.attrs |= {"parameter": WORKERS, "message_size_B": size}
    elif ds.sizes[WORKERS] == 1:
        along = {name: (SIZE, np.repeat(ds[name].values, ds.sizes[SIZE])) for name in ("oversubscribed", "processes_per_node")}
        number = int(ds[WORKERS].item())
        ds = ds.squeeze(WORKERS, drop=True).drop_vars(list(along), errors="ignore").assign_coords(along)
        ds.attrs |= {"parameter": SIZE, "workers": number}
    else:
        ds.attrs["parameter"] = f"{WORKERS},{SIZE}"
    return ds
