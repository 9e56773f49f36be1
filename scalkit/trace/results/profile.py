"""Time, visits and one-sided operations of every call path, without the waits; and what went between locations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import exact_sums
from scalkit.trace.local.part import LocalTrace, Table
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.requests import members


def profile(trace: LocalTrace, waits: Waits) -> None:
    """Add time, visits, operations and bytes of the locations of this process, and what they began with others.

    The time of a call path is that in which it was the innermost: without its calls and regions. It is counted from the
    first to the last record of a location.
    """
    parents = trace.definitions.parents
    n_paths = len(parents)
    time, visits, operations, amount = (np.zeros((trace.count, n_paths), dtype=np.int64) for _ in range(4))
    for k, (calls, transfers, marks) in enumerate(trace.parts()):
        path, lengths = calls["path"], calls["leave"] - calls["enter"]
        time[k] += exact_sums(path, lengths, n_paths)
        inner = parents[path] >= 0
        time[k] -= exact_sums(parents[path[inner]], lengths[inner], n_paths)
        time[k] += _regions(calls, marks, n_paths)
        visits[k] += np.bincount(path, minlength=n_paths)
        visits[k] += np.bincount(marks["entered"][marks["entered"] >= 0], minlength=n_paths)
        is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
        of_path = path[transfers["call"][is_rma] - trace.begins[k]]
        operations[k] += np.bincount(of_path, minlength=n_paths)
        amount[k] += exact_sums(of_path, transfers["bytes"][is_rma], n_paths)
        _note_traffic(trace, trace.first + k, transfers, is_rma, waits)
    for metric, values in (("time", time), ("visits", visits), ("rma_operations", operations), ("rma_bytes", amount)):
        location, at = np.nonzero(values)
        waits.add(metric, at, location + trace.first, values[location, at])


def _note_traffic(trace: LocalTrace, location: int, transfers: Table, is_rma: NDArray[np.bool_], waits: Waits) -> None:
    """Note what a location began with others whose location is known: one-sided operations, and sends."""
    n = trace.header.locations
    peer = members(trace, transfers["scope"], transfers["peer"])
    found = []
    for kept in (is_rma, (transfers["kind"] & 0xFF) == SEND):
        kept = kept & (peer >= 0)
        found += [np.bincount(peer[kept], minlength=n), exact_sums(peer[kept], transfers["bytes"][kept], n)]
    reached = np.flatnonzero(found[0] + found[2])
    waits.note_traffic(location, reached, tuple(one[reached] for one in found))


def _regions(calls: Table, marks: Table, n_paths: int) -> Ints:
    """Return how long each path was the innermost region of a location, calls in it included."""
    times = [one for one in (calls["enter"], calls["leave"], marks["time"]) if len(one)]
    if not times:
        return np.zeros(n_paths, dtype=np.int64)
    begin, end = min(int(one.min()) for one in times), max(int(one.max()) for one in times)
    time = np.concatenate([[begin], marks["time"], [end]])
    path = np.concatenate([[0], marks["path"]])
    return exact_sums(path, np.diff(time), n_paths)
