"""What the analysis asks the targets of one-sided operations: which call completed them, when they were posted, to whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import Frame, group_starts, pack
from scalkit.trace.local.joined import PLACE
from scalkit.trace.local.part import LocalTrace, Table
from scalkit.trace.options import Options
from scalkit.trace.waits.functions import ACTIVE


@dataclass(frozen=True)
class FirstProgress:
    """The first progress of a target that ends at or after an instant, for many instants.

    `start`, `end` in ns: undefined where there is none.
    """

    exists: NDArray[np.bool_]
    start: Ints
    end: Ints


class Progress:
    """The disjoint intervals in which the locations of a process are in a call that can progress communication.

    Calls within calls, and calls that follow each other without a gap, are one interval.

    `room`: calls at most.
    `spans`, pairs of ndarray of int: keys of begin and end of the calls of each location, one location
    after the other.
    """

    def __init__(self, frame: Frame, room: int, spans: Iterable[tuple[Ints, Ints]]) -> None:
        self._frame = frame
        low, high = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        at = 0
        for begin, end in spans:
            merged = union(begin, end)
            low[at : at + len(merged[0])], high[at : at + len(merged[0])] = merged
            at += len(merged[0])
        self._low, self._high = low[:at], high[:at]
        self._through = self._high - self._low  # of all progress up to the end of each
        np.cumsum(self._through, out=self._through)

    def first(self, location: Ints, since: Ints) -> FirstProgress:
        """Return the first progress of each location that ends at or after a time."""
        if len(self._low) == 0:
            nothing = np.zeros(len(since), dtype=np.int64)
            return FirstProgress(nothing != 0, nothing, nothing)
        place = np.searchsorted(self._high, self._frame.key(location, since))
        at = np.minimum(place, len(self._low) - 1)
        low = self._low[at]
        exists = (place < len(self._low)) & (self._frame.location(low) == location)
        return FirstProgress(exists, self._frame.time(low), self._frame.time(self._high[at]))

    def covered(self, location: Ints, begin: Ints, end: Ints) -> Ints:
        """Return how many ns of each interval lie in progress of the location."""
        return self._until(self._frame.key(location, end)) - self._until(self._frame.key(location, begin))

    def overlapping(self, location: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the place of the first interval that overlaps each of those given, and how many do."""
        low = np.searchsorted(self._high, self._frame.key(location, begin))
        high = np.searchsorted(self._low, self._frame.key(location, end), side="right")
        return low.astype(np.int64), np.maximum(high - low, 0).astype(np.int64)

    def intervals(self, places: Ints) -> tuple[Ints, Ints]:
        """Return start and end of the intervals at these places, in ns."""
        return self._frame.time(self._low[places]), self._frame.time(self._high[places])

    def _until(self, key: Ints) -> Ints:
        """Return the length of all progress before each key."""
        if len(self._low) == 0:
            return np.zeros(len(key), dtype=np.int64)
        place = np.searchsorted(self._low, key, side="right") - 1
        at = np.maximum(place, 0)
        return np.where(place < 0, 0, self._through[at] - self._high[at] + np.minimum(key, self._high[at]))


def union(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return begin and end of the union of intervals; those that touch are one."""
    if len(low) == 0:
        return low, high
    if (low[1:] < low[:-1]).any():
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
    reach = np.maximum.accumulate(high)
    starts = np.flatnonzero(np.concatenate(([True], low[1:] > reach[:-1])))
    return low[starts], reach[np.append(starts[1:], len(low)) - 1]


def find_progress(trace: LocalTrace, frame: Frame, options: Options) -> Progress:
    """Return the progress of the locations of this process."""
    can = trace.definitions.library_calls(options.no_progress)

    def spans() -> Iterator[tuple[Ints, Ints]]:
        for k, (calls, _, _) in enumerate(trace.parts()):
            counts = can[calls["path"]]
            low, high = (frame.key(trace.first + k, calls[name][counts]) for name in ("enter", "leave"))
            yield low, high

    return Progress(frame, len(trace.calls["enter"]), spans())


@dataclass(frozen=True)
class Requests:
    """A row for each pair of a completing call and one of its targets, in order of the calls.

    `call` of shape (n,): place of the completing call in the calls of this process.
    `target` of shape (n,): location of the target. `since` of shape (n,), in ns: from when on progress of the target counts.
    `is_single` of shape (n,): whether the call has no other target.
    `begin` of shape (n,), in ns: from when on the call waits for its targets, if that may be later than its begin.
    """

    call: NDArray[Any]
    target: NDArray[Any]
    since: Ints
    is_single: NDArray[np.bool_]
    begin: Ints | None = None


def find_requests(trace: LocalTrace, options: Options) -> Requests:
    """Return the requests of the locations of this process.

    Operations to the own process, to a target whose location is unknown, or that has no file, are left out, and so are those
    that a fence or a call of post-start-complete-wait completes: these calls wait for other calls, not for progress.
    """
    active = trace.definitions.paths_in(ACTIVE)
    parts = [
        _of_location(trace, trace.first + k, begin, calls, transfers, active, options)
        for k, (begin, (calls, transfers, _)) in enumerate(zip(trace.begins, trace.parts(), strict=True))
    ]
    columns = zip(*parts, strict=True)
    return Requests(*(np.concatenate(column) for column in columns))


def _of_location(
    trace: LocalTrace, location: int, begin: int, calls: Table, transfers: Table, active: NDArray[np.bool_], options: Options
) -> tuple[NDArray[Any], ...]:
    low, high = np.searchsorted(trace.landings["location"], (location, location + 1))
    is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
    rows = {
        name: np.concatenate([transfers[name][is_rma], trace.landings[name][low:high]])
        for name in ("call", "done", "scope", "peer")
    }
    done = np.where(rows["done"] >= 0, rows["done"] - begin, -1)
    target = members(trace, rows["scope"], rows["peer"])
    posted = calls["enter"][rows["call"] - begin]
    kept = (done >= 0) & is_known(trace, target) & (target != location)
    kept[kept] = ~active[calls["path"][done[kept]]]
    done, target, posted = done[kept], target[kept], posted[kept]
    call, target, since, is_single = _grouped(calls["enter"], done, target, posted, options)
    return (call + begin).astype(PLACE), target.astype(PLACE), since, is_single


def is_known(trace: LocalTrace, target: Ints) -> NDArray[np.bool_]:
    """Return for each target whether something was recorded of it."""
    missing = [problem.location for problem in trace.problems if problem.kind == "missing"]
    return np.asarray((target >= 0) & ~np.isin(target, missing) if missing else target >= 0)


def _grouped(enter: Ints, done: Ints, target: Ints, posted: Ints, options: Options) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
    key = pack([done, target])[0]
    order = np.argsort(key, kind="stable")
    starts = group_starts(key[order])
    latest = np.maximum.reduceat(posted[order], starts) if len(starts) else posted
    call, asked = done[order[starts]], target[order[starts]]
    entered = enter[call]
    since = entered if options.search == "entering" else latest
    begins = group_starts(call)
    lengths = np.diff(np.append(begins, len(call)))
    return call, asked, np.minimum(since, entered), np.repeat(lengths == 1, lengths)


def members(trace: LocalTrace, scope: NDArray[Any], rank: NDArray[Any]) -> Ints:
    """Return the location of each rank of each scope; -1 where it is not known."""
    sizes = trace.definitions.sizes
    flat = np.concatenate([np.empty(0, dtype=np.int64), *(one.members for one in trace.definitions.scopes)])
    starts = np.cumsum(sizes) - sizes
    known = scope >= 0
    found = np.full(len(scope), -1, dtype=np.int64)
    found[known] = flat[starts[scope[known]] + rank[known]]
    return found
