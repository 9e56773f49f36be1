"""Time, visits and one-sided operations of every call path, without the waits."""

from __future__ import annotations

import numpy as np

from scalkit.trace.loading import LocalTrace
from scalkit.trace.ranks import Ints
from scalkit.trace.sums import Waits
from scalkit.trace.tables import RECEIVE, SEND

__all__ = ["profile"]


def profile(trace: LocalTrace, waits: Waits) -> None:
    """Add time, visits, operations and bytes of the locations of this process.

    The time of a call path is that in which it was the innermost: without its calls and regions. It is counted from the
    first to the last record of a location.
    """
    calls, marks, transfers = trace.calls, trace.marks, trace.transfers
    lengths = calls["leave"] - calls["enter"]
    spent = np.zeros((len(trace.definitions.paths), trace.count), dtype=np.int64)
    np.add.at(spent, (calls["path"], calls["location"] - trace.first), lengths)
    np.subtract.at(spent, (trace.definitions.parents[calls["path"]], calls["location"] - trace.first), lengths)
    np.add.at(spent, *_regions(trace))
    path, location = np.nonzero(spent)
    waits.add("time", path, location + trace.first, spent[path, location])
    waits.add("visits", calls["path"], calls["location"], np.ones(len(lengths), dtype=np.int64))
    entered = marks["entered"] >= 0
    waits.add("visits", marks["entered"][entered], marks["location"][entered], entered[entered].astype(np.int64))
    is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
    of_path, of_location = calls["path"][transfers["call"][is_rma]], transfers["location"][is_rma]
    waits.add("rma_operations", of_path, of_location, np.ones(len(of_path), dtype=np.int64))
    waits.add("rma_bytes", of_path, of_location, transfers["bytes"][is_rma])


def _regions(trace: LocalTrace) -> tuple[tuple[Ints, Ints], Ints]:
    """Return path and location of the stretches between records that enter or leave regions, and how long each is."""
    calls, marks = trace.calls, trace.marks
    never = np.iinfo(np.int64).max
    begin, end = np.full(trace.count, never), np.full(trace.count, -never)
    for table, low, high in ((calls, "enter", "leave"), (marks, "time", "time")):
        np.minimum.at(begin, table["location"] - trace.first, table[low])
        np.maximum.at(end, table["location"] - trace.first, table[high])
    seen = np.flatnonzero(begin <= end)
    location = np.concatenate([seen, marks["location"] - trace.first])
    time = np.concatenate([begin[seen], marks["time"]])
    path = np.concatenate([np.zeros(len(seen), dtype=np.int64), marks["path"]])
    order = np.argsort(location, kind="stable")
    location, time, path = location[order], time[order], path[order]
    until = np.append(time[1:], 0)
    is_last = np.append(location[1:] != location[:-1], True)[: len(location)]
    until[is_last] = end[location[is_last]]
    return (path, location), until - time
