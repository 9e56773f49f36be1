"""What locations did before their calls: the regions of the user that kept others waiting."""

import numpy as np

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import Frame, group_ends, group_starts
from scalkit.trace.local.joined import PLACE
from scalkit.trace.local.part import LocalTrace, Table


class Surroundings:
    """The region in which a location spent most of the time between one library call and the next."""

    def __init__(self, frame: Frame, trace: LocalTrace) -> None:
        self._frame = frame
        n = len(trace.calls["enter"]) if len(trace.marks["time"]) else 0
        self._enter, self._doing = np.empty(n, dtype=np.int64), np.zeros(n, dtype=PLACE)
        if n == 0:
            return
        at = 0
        for k, (calls, _, marks) in enumerate(trace.parts()):
            enter = self._enter[at : at + len(calls["enter"])]
            enter[:] = frame.key(trace.first + k, calls["enter"])
            if len(marks["time"]):
                self._doing[at : at + len(enter)] = self._of_location(trace.first + k, enter, calls, marks)
            at += len(enter)

    def _of_location(self, location: int, enter: Ints, calls: Table, marks: Table) -> Ints:
        reach = np.maximum.accumulate(self._frame.key(location, calls["leave"]))
        begin = np.full(len(reach), self._frame.key(location, np.array([self._frame.begin]))[0])
        begin[1:] = np.maximum(begin[1:], reach[:-1])
        return _longest(begin, enter, self._frame.key(location, marks["time"]), marks["path"], self._frame)

    def before(self, location: Ints, time: Ints) -> Ints:
        """Return what each location did before the first of its calls that begins at a time, or after it; 0 is the program."""
        if len(self._doing) == 0:
            return np.zeros(len(time), dtype=np.int64)
        place = np.searchsorted(self._enter, self._frame.key(location, time))
        at = np.minimum(place, len(self._enter) - 1)
        is_mine = (place < len(self._enter)) & (self._frame.location(self._enter[at]) == location)
        return np.where(is_mine, self._doing[at], 0).astype(np.int64)


def _longest(begin: Ints, end: Ints, marks: Ints, path: Ints, frame: Frame) -> Ints:
    """Return the path of the longest stretch in each gap from `begin` to `end`, between which marks change the path."""
    if len(marks) == 0:
        return np.zeros(len(begin), dtype=np.int64)
    place = np.searchsorted(marks, begin, side="right") - 1
    known = np.maximum(place, 0)
    is_mine = (place >= 0) & (frame.location(marks[known]) == frame.location(begin))
    first = np.where(is_mine, path[known], 0)
    gap = np.searchsorted(end, marks)
    inside = np.flatnonzero(gap < len(end))
    inside = inside[marks[inside] > begin[gap[inside]]]
    whose = np.concatenate([np.arange(len(begin), dtype=np.int64), gap[inside]])
    since = np.concatenate([begin, marks[inside]])
    doing = np.concatenate([first, path[inside]])
    order = np.lexsort((np.arange(len(whose)), since, whose))
    whose, since, doing = whose[order], since[order], doing[order]
    until = np.append(since[1:], 0)
    lasts = group_ends(whose)
    until[lasts] = end[whose[lasts]]
    order = np.lexsort((doing, -np.maximum(until - since, 0), whose))
    return np.asarray(doing[order[group_starts(whose[order])]])
