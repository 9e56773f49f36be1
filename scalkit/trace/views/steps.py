"""What a location did when: its nested calls and regions as steps, each the innermost for some time."""

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import extent
from scalkit.trace.local.joined import PLACE, Table, changes

OUTSIDE = -1
"""Path of the last step of a location: nothing is recorded from there on."""


def steps_of(calls: Table, marks: Table, parents: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return from when on which call path is the innermost of a location.

    `calls`, `marks`: of one location, in order of their numbers, as `scalkit.trace.local.part.LocalTrace` has them.
    `parents` of shape (n_paths,).
    `time` of shape (n,), in ns: ascending, without equal ones. Calls that took no time are left out.
    `path` of shape (n,): the last one is `OUTSIDE`.
    """
    if not len(calls["enter"]) and not len(marks["time"]):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    begin, end = extent(calls["enter"], calls["leave"], marks["time"])
    lasting = calls["leave"] > calls["enter"]
    enter, leave, path, number = (calls[name][lasting] for name in ("enter", "leave", "path", "number"))
    after = parents[path].astype(PLACE)
    if not len(marks["time"]) and (enter[1:] >= leave[:-1]).all():
        time = np.stack([enter, leave], axis=1).ravel()
        state = np.stack([path, after], axis=1).ravel()
    else:
        time, state = changes(enter, leave, path, after, number.astype(np.int64), marks)
    time = np.concatenate([[begin], time, [end]])
    state = np.concatenate([[0], state, [OUTSIDE]]).astype(np.int32)
    is_last = np.append(time[1:] > time[:-1], True)
    return time[is_last], state[is_last]


def union_of(begin: Ints, end: Ints, what: NDArray[np.uint8]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """Return intervals without overlap, in order; those that overlap become one, with `what` of the first.

    `begin`, `end` of shape (n,). `what` of shape (n,).
    """
    if len(begin) == 0:
        return begin, end, what
    order = np.lexsort((-end, begin))
    begin, end, what = begin[order], np.maximum.accumulate(end[order]), what[order]
    is_new = np.append(True, begin[1:] >= end[:-1])
    starts = np.flatnonzero(is_new)
    return begin[starts], np.maximum.reduceat(end, starts), what[starts]
