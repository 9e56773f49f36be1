"""Puts the tables of locations behind each other, with numbers and times that all share, in as little memory as may be."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.files.tables import BLOCKING, RECEIVE, SEND, TABLES, Columns

Table = dict[str, NDArray[Any]]
"""Columns of whole numbers, all of one length, each as narrow as its values allow."""

PLACE = np.int32
"""Type of a place in the calls of a process, of locations, call paths and scopes."""

_TIMES = ("enter", "leave", "time")
_RENUMBERED = frozenset({"path", "scope"})
_JOINED = ("calls", "transfers", "completions", "marks")


class Joining:
    """Tables of all locations of a process, filled one location after the other.

    `first`: the first location.
    `records`, sequence of dict from str to int: most records that each table of each location can have.
    """

    def __init__(self, first: int, records: Sequence[Mapping[str, int]]) -> None:
        self._next = first
        self._tables: dict[str, Table] = {}
        self._used = dict.fromkeys(_JOINED, 0)
        self._slices: list[dict[str, slice]] = []
        for name in _JOINED:
            room = sum(one[name] for one in records)
            kinds: dict[str, Any] = {
                "location": PLACE,
                **dict(TABLES[name]),
                **dict.fromkeys(_RENUMBERED & dict(TABLES[name]).keys(), PLACE),
            }
            self._tables[name] = {column: np.empty(room, dtype=kind) for column, kind in kinds.items()}

    def add(self, tables: Mapping[str, Columns]) -> None:
        """Take the columns of the next location, with times on the clock of all, call paths and scopes with its own numbers."""
        places = {}
        for name in _JOINED:
            length = len(tables[name][TABLES[name][0][0]])
            place = slice(self._used[name], self._used[name] + length)
            self._used[name] = place.stop
            self._tables[name]["location"][place] = self._next
            for column in list(tables[name]):
                values = tables[name].pop(column)
                given = corrected(values, tables["clock"]) if column in _TIMES else values
                self._tables[name][column][place] = given.astype(PLACE) if column in _RENUMBERED else given
            places[name] = place
        self._slices.append(places)
        self._next += 1

    def renumber(self, k: int, paths: Mapping[int, int], scopes: Mapping[int, int]) -> None:
        """Replace the numbers of the k-th location by those that all share."""
        for name, place in self._slices[k].items():
            for column, known in (("path", paths), ("scope", scopes)):
                if column in self._tables[name]:
                    values = self._tables[name][column][place]
                    values[:] = _mapped(known, values)

    def table(self, name: str) -> Table:
        """Return a table, and forget it here."""
        return {column: values[: self._used[name]] for column, values in self._tables.pop(name).items()}


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


def changes(
    enter: Ints, leave: Ints, path: NDArray[Any], after: NDArray[Any], number: Ints, marks: Table
) -> tuple[Ints, NDArray[Any]]:
    """Return when the innermost call path changes, and to which: at one time calls end from the inside out, then others begin.

    `enter`, `leave`, `path`, `after`, `number`: of calls that take time; their path, and the one around it.
    `marks`: as `entered` returns.
    """
    time = np.concatenate([leave, enter, marks["time"]])
    state = np.concatenate([after, path, marks["path"]])
    begins = np.repeat(np.array([0, 1], dtype=np.int8), [len(leave), len(enter) + len(marks["time"])])
    order = np.lexsort((np.concatenate([-number, number, marks["number"].astype(np.int64)]), begins, time))
    return time[order], state[order]


def link(calls: Table, transfers: Table, completions: Table, first: int, count: int) -> Table:
    """Replace numbers of calls by places in the table, and find the call that completed each transfer.

    Result: `transfer, done`: one-sided transfers that a later call completes once more, as a fence does with a put that was
    complete for its origin before: places of the transfer, and of the call.
    """
    again: list[tuple[NDArray[Any], NDArray[Any]]] = [(np.empty(0, dtype=PLACE), np.empty(0, dtype=PLACE))]
    place = np.empty(len(transfers["call"]), dtype=PLACE)
    done = np.full(len(place), -1, dtype=PLACE)
    for mine, posts, ends in zip(*(bounds(one, first, count) for one in (calls, transfers, completions)), strict=True):
        numbers, posted = calls["number"][mine], transfers["call"][posts]
        place[posts] = np.searchsorted(numbers, posted) + mine.start
        if ends.stop > ends.start:
            whose, by = completions["posted"][ends], completions["call"][ends]
            order = np.lexsort((by, whose))
            whose, by = whose[order], by[order]
            at = np.minimum(np.searchsorted(whose, posted), len(whose) - 1)
            done[posts] = np.where(whose[at] == posted, np.searchsorted(numbers, by[at]) + mine.start, -1)
            more, row = _completed_again(transfers["kind"][posts], posted, whose)
            again.append((more + posts.start, np.searchsorted(numbers, by[row]) + mine.start))
    blocking = (transfers["kind"] & BLOCKING) != 0
    done[blocking] = place[blocking]
    transfers["call"], transfers["done"] = place, done
    columns = zip(*again, strict=True)
    return {name: np.concatenate(column).astype(PLACE) for name, column in zip(("transfer", "done"), columns, strict=True)}


def _completed_again(kind: NDArray[Any], posted: NDArray[Any], whose: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one-sided transfers, and the rows of completions, in order of the posting call, that are not their first."""
    is_first = np.ones(len(whose), dtype=bool)
    is_first[1:] = whose[1:] != whose[:-1]
    is_rma = ~np.isin(kind & 0xFF, (SEND, RECEIVE))
    blocking = is_rma & ((kind & BLOCKING) != 0)
    if is_first.all() and not blocking.any():
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    low, high = (np.searchsorted(posted, whose, side=side) for side in ("left", "right"))
    row = np.repeat(np.arange(len(whose)), high - low)
    begin = np.repeat(np.cumsum(high - low) - (high - low), high - low)
    transfer = np.arange(len(row)) - begin + low[row]
    kept = np.where(blocking[transfer], True, is_rma[transfer] & ~is_first[row])
    return transfer[kept], row[kept]


def completing(calls: Table, completions: Table, is_wanted: NDArray[np.bool_], first: int, count: int) -> Table:
    """Return `call, done` for those calls that are wanted: their places, and that of the call that completed each, or -1."""
    call = np.flatnonzero(is_wanted)
    done = np.full(len(call), -1, dtype=np.int64)
    for mine, ends in zip(*(bounds(one, first, count) for one in (calls, completions)), strict=True):
        low, high = np.searchsorted(call, (mine.start, mine.stop))
        if high > low and ends.stop > ends.start:
            numbers = calls["number"][mine]
            order = np.lexsort((completions["call"][ends], completions["posted"][ends]))
            whose, by = completions["posted"][ends][order], completions["call"][ends][order]
            asked = calls["number"][call[low:high]]
            at = np.minimum(np.searchsorted(whose, asked), len(whose) - 1)
            done[low:high] = np.where(whose[at] == asked, np.searchsorted(numbers, by[at]) + mine.start, -1)
    return {"call": call, "done": done}


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
