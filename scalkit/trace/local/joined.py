"""Puts the tables of locations behind each other, with numbers and times that all share, in as little memory as may be."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.files.tables import BLOCKING, RECEIVE, SEND, TABLES, Columns
from scalkit.trace.local.arrays import next_calls, ranges
from scalkit.trace.waits.functions import ACTIVE, FLUSH_ALL, FLUSH_ONE

Table = dict[str, NDArray[Any]]
"""Columns of whole numbers, all of one length, each as narrow as its values allow."""

PLACE = np.int32
"""Type of a place in the calls of a process, of locations, call paths and scopes."""

_TIMES = ("enter", "leave", "time")


def joined(
    name: str, parts: Sequence[dict[str, Columns]], first: int, numbers: Sequence[Mapping[str, Mapping[int, int]]]
) -> Table:
    """Return a table of all locations of a process from its tables of each, which lose their columns.

    Times are then on the clock of all.

    `first`: the first location. `numbers`: those that all share for the ``"path"`` and the ``"scope"`` of each location.
    """
    lengths = [len(part[name][TABLES[name][0][0]]) for part in parts]
    table: Table = {"location": np.repeat(np.arange(first, first + len(parts), dtype=PLACE), lengths)}
    for column, _ in TABLES[name]:
        values = [part[name].pop(column) for part in parts]
        if column in _TIMES:
            values = [corrected(one, part["clock"]) for one, part in zip(values, parts, strict=True)]
        if column in ("path", "scope"):
            values = [_mapped(known[column], one) for one, known in zip(values, numbers, strict=True)]
        table[column] = np.concatenate(values)
    return table


def bounds(table: Table, first: int, count: int) -> list[slice]:
    """Return where each of `count` locations from `first` on stands in a table."""
    ends = np.searchsorted(table["location"], np.arange(first, first + count + 1, dtype=PLACE)).tolist()
    return [slice(low, high) for low, high in pairwise(ends)]


def entered(marks: Table, definitions: Definitions) -> Table:
    """Return the marks with the innermost region after each, the region that is new, or -1, and that which it is about."""
    path = marks["path"]
    after = np.where(marks["way"] > 0, path, definitions.parents[path]).astype(PLACE)
    new = np.where(marks["way"] > 0, path, -1).astype(PLACE)
    kept = {name: marks[name] for name in ("location", "time", "number")}
    return {**kept, "path": after, "entered": new, "own": path}


def changes(calls: Table, marks: Table, parents: Ints, begin: int) -> tuple[Ints, Ints]:
    """Return the times at which the innermost call path of a location changes, and the new paths.

    From `begin` on, the location is in the program. At one time, calls end from the inside out
    before others begin. Calls that took no time are left out.

    `calls`, `marks`: of one location, in order of their numbers. `parents` of shape (n_paths,): the path around each.
    Returns: times in ns, ascending, without equal ones; paths.
    """
    lasts = calls["leave"] > calls["enter"]
    enter, leave, number, path = (calls[name][lasts].astype(np.int64) for name in ("enter", "leave", "number", "path"))
    after = np.maximum(parents[path], 0)
    if not len(marks["time"]) and (enter[1:] >= leave[:-1]).all():
        time = np.stack([enter, leave], axis=1).ravel()
        state = np.stack([path, after], axis=1).ravel()
    else:
        time = np.concatenate([leave, enter, marks["time"]])
        state = np.concatenate([after, path, marks["path"]])
        begins = np.repeat(np.array([0, 1], dtype=np.int8), [len(leave), len(enter) + len(marks["time"])])
        order = np.lexsort((np.concatenate([-number, number, marks["number"].astype(np.int64)]), begins, time))
        time, state = time[order], state[order]
    time, state = np.append(begin, time), np.append(0, state)
    is_last = np.append(time[1:] != time[:-1], True)
    return time[is_last], state[is_last]


def link(calls: Table, transfers: Table, completions: Table, first: int, count: int) -> tuple[NDArray[Any], Table]:
    """Replace numbers of calls by places in the table, and find the call that completed each call and transfer.

    Result: the place of the first call that completed each call, or -1; and as `transfer, done` one-sided transfers that a later
    call completes once more, as a fence does with a put that was complete for its origin before: places of the transfer, and
    of the call.
    """
    again: list[tuple[NDArray[Any], NDArray[Any]]] = [(np.empty(0, dtype=PLACE), np.empty(0, dtype=PLACE))]
    place = np.empty(len(transfers["call"]), dtype=PLACE)
    ended = np.full(len(calls["number"]), -1, dtype=PLACE)
    for mine, posts, ends in zip(*(bounds(one, first, count) for one in (calls, transfers, completions)), strict=True):
        numbers, posted = calls["number"][mine], transfers["call"][posts]
        place[posts] = np.searchsorted(numbers, posted) + mine.start
        if ends.stop > ends.start:
            whose, by = completions["posted"][ends], completions["call"][ends]
            order = np.lexsort((by, whose))
            whose, by = whose[order], np.searchsorted(numbers, by[order]) + mine.start
            once, firsts = np.unique(whose, return_index=True)
            at = np.minimum(np.searchsorted(once, numbers), len(once) - 1)
            ended[mine] = np.where(once[at] == numbers, by[firsts[at]], -1)
            more, row = _completed_again(transfers["kind"][posts], posted, whose)
            again.append((more + posts.start, by[row]))
    transfers["call"] = place
    transfers["done"] = np.where((transfers["kind"] & BLOCKING) != 0, place, ended[place])
    columns = zip(*again, strict=True)
    landings = {name: np.concatenate(column).astype(PLACE) for name, column in zip(("transfer", "done"), columns, strict=True)}
    return ended, landings


def complete_on_windows(calls: Table, transfers: Table, definitions: Definitions, first: int, count: int) -> None:
    """Name the first call on its window, or to its target, that completes a one-sided transfer, if no earlier one is named."""
    is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
    to_one, to_all = (definitions.paths_in(names) for names in (FLUSH_ONE, FLUSH_ALL | ACTIVE))
    for mine, posts in zip(*(bounds(one, first, count) for one in (calls, transfers)), strict=True):
        rows = np.flatnonzero(is_rma[posts]) + posts.start
        posted = calls["number"][transfers["call"][rows]]
        done = transfers["done"][rows]
        for is_completing, columns in ((to_one, ("scope", "peer")), (to_all, ("scope",))):
            place = np.flatnonzero(is_completing[calls["path"][mine]]) + mine.start
            later = next_calls(calls, place, {name: transfers[name][rows] for name in columns}, posted)
            done = np.where((done < 0) | ((later >= 0) & (later < done)), later, done)
        transfers["done"][rows] = done


def _completed_again(kind: NDArray[Any], posted: NDArray[Any], whose: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one-sided transfers, and the rows of completions, in order of the posting call, that are not their first."""
    is_first = np.ones(len(whose), dtype=bool)
    is_first[1:] = whose[1:] != whose[:-1]
    is_rma = ~np.isin(kind & 0xFF, (SEND, RECEIVE))
    blocking = is_rma & ((kind & BLOCKING) != 0)
    if is_first.all() and not blocking.any():
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    low, high = (np.searchsorted(posted, whose, side=side) for side in ("left", "right"))
    row, transfer = ranges(low, high - low)
    kept = np.where(blocking[transfer], True, is_rma[transfer] & ~is_first[row])
    return transfer[kept], row[kept]


def _mapped(known: Mapping[int, int], values: NDArray[Any]) -> NDArray[Any]:
    if not known:
        return np.full(len(values), -1, dtype=PLACE)
    keys = np.array(sorted(known), dtype=np.int64)
    to = np.array([known[int(key)] for key in keys], dtype=PLACE)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where(keys[place] == values, to[place], -1).astype(PLACE)


def corrected(times: NDArray[np.integer[Any]], clock: Columns) -> NDArray[np.int64]:
    """Return the times with the offset added that a line through the first and the last measured offset gives.

    `times` in ns: on the clock of the location.
    `clock`: samples of `local` time, `offset` to the common clock and its `error`, all in ns. Without any, times stay as they
    are; with one, the offset is constant.
    Result in ns: a later time never becomes an earlier one, because a clock does not gain as much as it runs.
    """
    given = np.asarray(times, dtype=np.int64)
    local, offset = np.asarray(clock["local"], dtype=np.int64), np.asarray(clock["offset"], dtype=np.int64)
    if len(local) == 0:
        return given
    first, last = int(local.argmin()), int(local.argmax())
    change, length = int(offset[last] - offset[first]), int(local[last] - local[first])
    if change == 0 or length == 0:
        return np.asarray(given + offset[first])
    return np.asarray(given + offset[first] + np.rint((given - local[first]) * (change / length)).astype(np.int64))
