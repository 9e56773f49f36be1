"""When locations can progress what others have begun: the time that they spend in calls of the communication library."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.frame import Frame
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.options import Options


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
            merged = _merged(begin, end)
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


def _merged(low: Ints, high: Ints) -> tuple[Ints, Ints]:
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
