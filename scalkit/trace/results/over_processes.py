"""Waits over process counts: results of several traces as measurements, which scalkit.validate judges."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import DataError, UsageError
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, Metric, check
from scalkit.support.arguments import each_of
from scalkit.trace.results.dataset import require_result
from scalkit.trace.results.summary import TITLES, WAITS
from scalkit.trace.waits.functions import COLLECTIVES, COMPLETE, POST, START, WAIT, base_name, is_library_call

_ALL = "program"
_PICKS = {"mean": "mean of a process", "max": "most of a process", "sum": "all processes together"}


def over_processes(results: Iterable[xr.Dataset], *, of: Literal["mean", "max", "sum"] = "mean") -> xr.Dataset:
    """Return how long a process waited in each region, over the number of processes ``p``.

    `results`: from `analyse` or `read_result`, of the same program on several numbers of processes; those of the same number
    are repetitions.
    `of`: mean of all processes, that which waited longest, or all together: what waiting costs, where a problem of fixed
    size is shared by more and more processes.
    Returns: measurements, in s: a metric for each kind of wait that was met, a function for each region that waited, over
    all its call paths, and ``"program"``, all of them together. `scalkit.validate` takes it with expectations such as
    ``{"MPI_Win_flush": {"wait_for_progress": "log(p)"}}``.
    Raises DataError if there are no results.
    Raises UsageError if `of` is something else.
    """
    given = each_of(results, object, "the results", "give a list, as in [analyse(folder)]")
    for one in given:
        require_result(one)
    if of not in tuple(_PICKS):
        raise UsageError(f"of is {of!r}; it may be {', '.join(_PICKS)}.")
    if not given:
        raise DataError("there are no results to compare; analyse a trace of each number of processes.")
    regions = [_ALL, *sorted({region for ds in given for region in _called(ds)} - {_ALL})]
    metrics = [name for name in WAITS if any(name in ds["metric"] for ds in given)]
    same: dict[int, list[xr.DataArray]] = {}
    for ds in sorted(given, key=lambda ds: int(ds.sizes["location"])):
        waits = _by_region(ds, of).reindex({FUNCTION: regions}, fill_value=0.0).reindex(metric=metrics)
        same.setdefault(int(ds.sizes["location"]), []).append(waits)
    numbered = [xr.concat(each, REPETITION).assign_coords({REPETITION: range(len(each))}) for each in same.values()]
    waits = xr.concat(numbered, "p", join="outer").assign_coords(p=list(same)).expand_dims({RUN: [0]}).drop_vars(REPETITION)
    simulated = all(ds.attrs["simulated"] for ds in given)
    found = xr.Dataset(
        {
            name: waits.sel(metric=name, drop=True)
            .transpose(FUNCTION, "p", RUN, REPETITION)
            .assign_attrs(Metric(name, "s", f"{TITLES[name]}, {_PICKS[of]}", exact=simulated).attrs())
            for name in metrics
        },
        attrs={"title": "waits of a process, simulated" if simulated else "waits of a process", "parameter": "p"},
    )
    check(found)
    return found


def _called(ds: xr.Dataset) -> set[str]:
    """Return the regions in which anyone waited, and the functions of communication libraries, where nobody did too."""
    names = [str(name) for name in ds["metric"].values]
    waits = ds["severity"].values[[k for k, name in enumerate(names) if name in WAITS]].sum(axis=(0, 2))
    regions = map(str, ds["region"].values)
    return {name for name, wait in zip(regions, waits, strict=True) if wait or is_library_call(name)}


def _by_region(ds: xr.Dataset, of: str) -> xr.DataArray:
    """Return s of a process for each wait and region, and ``"program"`` for all regions together."""
    waits = ds["severity"].sel(metric=[name for name in WAITS if name in ds["metric"]])
    regions = waits.groupby(ds["region"].rename(FUNCTION)).sum("path").drop_sel({FUNCTION: _ALL}, errors="ignore")
    together = xr.concat([waits.sum("path").expand_dims({FUNCTION: [_ALL]}), regions], FUNCTION)
    picked: xr.DataArray = getattr(together, of)("location")
    return 1e-9 * picked


KINDS = ("computing", "one-sided", "synchronisation", "messages", "other calls")
"""What time is spent in. Calls within calls count as the outermost one."""

_SYNCHRONISING = COLLECTIVES | COMPLETE | POST | START | WAIT | {"MPI_Ibarrier"}
_ONE_SIDED = (
    *("MPI_Put", "MPI_Get_acc", "MPI_Accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap", "MPI_Rput", "MPI_Rget"),
    *("MPI_Raccumulate", "MPI_Win_flush", "MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_sync", "ARMCI_", "sk1s_"),
)
_NOT_ONE_SIDED = ("init", "begin", "end", "finalize", "malloc", "free", "wait_all")
_FOR_PROGRESS = ("wait_for_progress", "wait_for_grant")
_MESSAGES = tuple(f"MPI_{name}" for name in "Send Ssend Bsend Rsend Isend Issend Recv Irecv Mrecv Wait Test Probe Iprobe".split())


@dataclass(frozen=True)
class Breakdown:
    """Times of the locations of a result, each ndarray of float64 of shape (locations,), in s.

    `waiting`: for progress, with grants of locks; NaN if something else than calls progressed communication.
    `bound`: the most that it can be.
    `other_waits`: all others.
    `operations`: one-sided ones.
    """

    kinds: dict[str, NDArray[np.float64]]
    waiting: NDArray[np.float64]
    bound: NDArray[np.float64]
    other_waits: NDArray[np.float64]
    operations: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.float64]:
        """All time of each location, in s."""
        return np.asarray(np.sum(list(self.kinds.values()), axis=0))

    @property
    def wall(self) -> float:
        """Time of the location that took longest, in s."""
        return float(self.total.max())

    @property
    def share(self) -> float:
        """Part of the time of all locations that is waiting for progress."""
        total = float(self.total.sum())
        return float(self.waiting.sum()) / total if total else 0.0


def breakdown(ds: xr.Dataset, region: str = "") -> Breakdown:
    """Return where the time of a result went.

    `ds`: from `scalkit.trace.analyse` or `read_result`.
    `region`: only what happens within this region; empty for all.
    Raises DataError if there is no such region.
    """
    regions, parents = [str(name) for name in ds["region"].values], ds["parent"].values.tolist()
    kind_of, inside = _by_path(regions, parents, region, frozenset(json.loads(ds.attrs.get("functions", "[]"))))
    if not inside.any():
        there = ", ".join(sorted(set(regions) - {"program"})[:12])
        raise DataError(f"there is no region {region!r} in a result; it has {there}.")
    names = [str(name) for name in ds["metric"].values]
    severity = ds["severity"].values * inside[None, :, None]

    def of(metric: str) -> NDArray[np.float64]:
        if metric not in names:
            return np.full(severity.shape[2], np.nan)
        return np.asarray(1e-9 * severity[names.index(metric)].sum(axis=0))

    time = severity[names.index("time")]
    kinds = {kind: 1e-9 * time[kind_of == number].sum(axis=0) for number, kind in enumerate(KINDS)}

    def both(more: str) -> NDArray[np.float64]:
        grants = f"wait_for_grant{more}"
        return of(f"wait_for_progress{more}") + (of(grants) if grants in names else 0.0)

    others = np.sum([of(name) for name in WAITS if name in names and name not in _FOR_PROGRESS], axis=0)
    operations = severity[names.index("rma_operations")].sum(axis=0)
    return Breakdown(kinds, both(""), both("_bound"), others, operations)


def _by_path(
    regions: list[str], parents: list[int], region: str, of_the_user: frozenset[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the kind of each path, by its outermost call, and whether it is within the region."""
    kinds, inside = np.zeros(len(regions), dtype=np.int64), np.zeros(len(regions), dtype=bool)
    for path, parent in enumerate(parents):  # parents stand before their children
        above = int(kinds[parent]) if parent >= 0 else 0
        kinds[path] = above or _kind(base_name(regions[path]), of_the_user)
        inside[path] = not region or regions[path] == region or (parent >= 0 and bool(inside[parent]))
    return kinds, inside


def _kind(name: str, of_the_user: frozenset[str]) -> int:
    """Return the number of the kind of a region; `of_the_user` are functions of a one-sided library of one's own."""
    kind = "other calls"
    is_own = name in of_the_user
    if not is_own and not is_library_call(name):
        kind = "computing"
    elif name in _SYNCHRONISING or "barrier" in name.lower() or "allfence" in name.lower():
        kind = "synchronisation"
    elif name == "MPI_Get" or ((is_own or name.startswith(_ONE_SIDED)) and not name.lower().endswith(_NOT_ONE_SIDED)):
        kind = "one-sided"
    elif name.startswith(_MESSAGES):
        kind = "messages"
    return KINDS.index(kind)
