"""Waits over process counts: results of several traces as measurements, which scalkit.validate judges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import DataError, UsageError
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, Metric, check
from scalkit.trace.results.metrics import TITLES, WAITS
from scalkit.trace.waits.functions import is_library_call

_ALL = "program"
_PICKS = {"mean": "mean of a process", "most": "most of a process", "sum": "all processes together"}


def over_processes(
    results: Iterable[xr.Dataset], *, of: Literal["mean", "most", "sum"] = "mean", parameter: str = "p"
) -> xr.Dataset:
    """Return how long a process waited in each region, over the number of processes.

    Parameters
    ----------
    results : iterable of Dataset
        From `analyse` or `read_result`, of the same program on several numbers of processes; those of the same number are
        repetitions.
    of : {"mean", "most", "sum"}
        Mean of all processes, that which waited longest, or all together: what waiting costs, where a problem of fixed size is
        shared by more and more processes.
    parameter : str
        Name of the number of processes.

    Returns
    -------
    xarray.Dataset
        Measurements, in s: a metric for each kind of wait that was met, a function for each region that waited, over all its
        call paths, and ``"program"``, all of them together. `scalkit.validate` takes it with expectations such as
        ``{"MPI_Win_flush": {"wait_for_progress": "log(p)"}}``.

    Raises
    ------
    DataError
        If there are no results.
    UsageError
        If `of` is something else.
    """
    given = list(results)
    if of not in _PICKS:
        raise UsageError(f"of is {of!r}; it may be {', '.join(_PICKS)}.")
    if not given:
        raise DataError("there are no results to compare; analyse a trace of each number of processes.")
    tables = [_by_region(ds, of) for ds in given]
    metrics = [name for name in WAITS if any(one == name for table in tables for one, _ in table)]
    regions = [_ALL, *sorted({region for ds in given for region in _called(ds)} - {_ALL})]
    counts = sorted({ds.sizes["location"] for ds in given})
    same = {n: [k for k, ds in enumerate(given) if ds.sizes["location"] == n] for n in counts}
    shape = (len(regions), len(counts), 1, max(map(len, same.values())))
    simulated = all(ds.attrs["simulated"] for ds in given)
    found = {name: np.full(shape, np.nan) for name in metrics}
    for name, values in found.items():
        for at, n in enumerate(counts):
            for repetition, k in enumerate(same[n]):
                if name in given[k]["metric"]:
                    values[:, at, 0, repetition] = [1e-9 * tables[k].get((name, region), 0.0) for region in regions]
    ds = xr.Dataset(
        {
            name: (
                (FUNCTION, parameter, RUN, REPETITION),
                values,
                Metric(name, "s", f"{TITLES[name]}, {_PICKS[of]}", exact=simulated).attrs(),
            )
            for name, values in found.items()
        },
        {
            FUNCTION: np.array(regions, dtype=np.str_),
            parameter: np.array(counts, dtype=np.int64),
            RUN: np.array([0], dtype=np.int64),
        },
        {"title": "waits of a process, simulated" if simulated else "waits of a process", "parameter": parameter},
    )
    check(ds)
    return ds


def _called(ds: xr.Dataset) -> set[str]:
    """Return the regions in which anyone waited, and the functions of communication libraries, where nobody did too."""
    names = [str(name) for name in ds["metric"].values]
    waits = ds["severity"].values[[k for k, name in enumerate(names) if name in WAITS]].sum(axis=(0, 2))
    regions = map(str, ds["region"].values)
    return {name for name, wait in zip(regions, waits, strict=True) if wait or is_library_call(name)}


def _by_region(ds: xr.Dataset, of: str) -> dict[tuple[str, str], float]:
    """Return ns of a process for each wait and region."""
    found: dict[tuple[str, str], float] = {}
    names = [str(name) for name in ds["metric"].values]
    regions, place = np.unique(ds["region"].values, return_inverse=True)
    for name in WAITS:
        if name in names:
            severity = ds["severity"].values[names.index(name)]
            sums = np.zeros((len(regions), severity.shape[1]), dtype=np.int64)
            np.add.at(sums, place.reshape(-1), severity)
            picked = _picked(sums, of)
            found |= {(name, str(region)): float(value) for region, value in zip(regions, picked, strict=True)}
            found[name, _ALL] = float(_picked(severity.sum(axis=0), of))
    return found


def _picked(values: NDArray[np.int64], of: str) -> Any:
    """Return mean, most or sum over the last axis."""
    return values.mean(axis=-1) if of == "mean" else values.max(axis=-1) if of == "most" else values.sum(axis=-1)
