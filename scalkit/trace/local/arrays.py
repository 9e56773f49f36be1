"""Groups and sums of whole numbers, exact, for whole columns at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.support.arrays import Ints

if TYPE_CHECKING:
    from scalkit.trace.local.part import LocalTrace
    from scalkit.trace.local.ranks import Ranks

_WIDEST = 1 << 62


def exact_sums(keys: NDArray[np.integer[Any]], values: Ints, n: int) -> Ints:
    """Return the sum of the values of each key from 0 to `n - 1`, exact to 63 bits."""
    sums = np.zeros(n, dtype=np.int64)
    np.add.at(sums, keys, values)
    return sums


def extent(*columns: NDArray[np.integer[Any]]) -> tuple[int, int]:
    """Return the least and the greatest of all values; 0 and 0 if there are none."""
    filled = [one for one in columns if len(one)]
    return min((int(one.min()) for one in filled), default=0), max((int(one.max()) for one in filled), default=0)


def summed(keys: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return each key once, ascending, and the exact sum of its values."""
    if len(keys) == 0:
        return keys, values
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = group_starts(ordered)
    return ordered[starts], np.add.reduceat(values[order], starts)


def group_starts(ordered: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return where groups of equal values begin in an array in which they stand together."""
    if len(ordered) == 0:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def group_ends(ordered: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return the places of the last elements of groups of equal values, which stand together."""
    return np.append(group_starts(ordered)[1:], len(ordered))[: len(ordered)] - 1


def positions_within(ordered: NDArray[np.integer[Any]]) -> Ints:
    """Return the place of each element within its group of equal values, which stand together."""
    starts = group_starts(ordered)
    lengths = np.diff(np.append(starts, len(ordered)))
    return np.arange(len(ordered), dtype=np.int64) - np.repeat(starts, lengths)


def ranges(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return `counts` consecutive numbers from each start: indices of the starts, and numbers."""
    row = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return row, np.arange(len(row), dtype=np.int64) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def pack(*sides: Sequence[NDArray[np.integer[Any]]]) -> list[Ints]:
    """Return one number for each row, ordered as the rows are, and equal only for equal rows.

    `*sides`: tables with the same columns, first the one that counts most; rows of all sides become comparable.
    """
    packed: list[Ints] = [np.zeros(len(side[0]), dtype=np.int64) for side in sides]
    span = 1
    for columns in zip(*sides, strict=True):
        has = [column for column in columns if len(column)]
        low = min((int(column.min()) for column in has), default=0)
        width = max((int(column.max()) for column in has), default=low) - low + 1
        values = [np.asarray(column, dtype=np.int64) - low for column in columns]
        if span * width >= _WIDEST:
            packed, span = _dense(packed)
        if span * width >= _WIDEST:
            values, width = _dense(values)
        for one, more in zip(packed, values, strict=True):
            one *= width
            one += more
        span *= width
    return packed


def _dense(sides: list[Ints]) -> tuple[list[Ints], int]:
    """Return the values of all sides as numbers from 0 on, in the same order, and how many there are."""
    known, place = np.unique(np.concatenate(sides), return_inverse=True)
    ends = np.cumsum([len(side) for side in sides])[:-1]
    return [np.array(side, dtype=np.int64) for side in np.split(place.reshape(-1), ends)], max(1, len(known))


def next_calls(
    calls: Mapping[str, NDArray[Any]], place: NDArray[np.intp], asked: Mapping[str, NDArray[Any]], after: NDArray[np.integer[Any]]
) -> Ints:
    """Return for each query the place of the first call that is like it and has a larger number; -1 without one.

    `calls`: a table, of which only the rows `place` are looked at. `asked`: columns in which the call must be the same, of shape
    (m,). `after` of shape (m,): the number after which to look.
    """
    if len(place) == 0 or len(after) == 0:
        return np.full(len(after), -1, dtype=np.int64)
    group, wanted = pack([calls[name][place] for name in asked], list(asked.values()))
    keys, queries = pack([group, calls["number"][place]], [wanted, after])
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys[order], queries, side="right")
    found = order[np.minimum(at, len(order) - 1)]
    return np.where((at < len(order)) & (group[found] == wanted), place[found], -1).astype(np.int64)


def with_ordinals(rows: Mapping[str, Ints], keys: Sequence[str], by: str) -> dict[str, Ints]:
    """Return a table sorted by the columns `keys` and then `by`, with the place among rows of equal keys as ``ordinal``."""
    order = np.lexsort((rows[by], *(rows[name] for name in reversed(keys))))
    found = {name: values[order] for name, values in rows.items()}
    is_new = np.zeros(len(order), dtype=bool)
    for name in keys:
        is_new[1:] |= found[name][1:] != found[name][:-1]
    found["ordinal"] = positions_within(np.cumsum(is_new))
    return found


_NEVER = -(1 << 62)


@dataclass(frozen=True)
class Frame:
    """The first location of a process, the earliest time of the trace, and the bits that a time needs."""

    first: int
    begin: int
    bits: int

    def key(self, location: Ints | int, time: Ints) -> Ints:
        """Return the number of each location and time; numbers are ordered by location, then by time."""
        return np.asarray((np.asarray(location, dtype=np.int64) - self.first << self.bits) + (time - self.begin))

    def time(self, key: Ints) -> Ints:
        """Return the time of each number, in ns."""
        return np.asarray((key & ((1 << self.bits) - 1)) + self.begin)

    def location(self, key: Ints) -> Ints:
        """Return the location of each number."""
        return np.asarray((key >> self.bits) + self.first)


def find_frame(trace: LocalTrace, ranks: Ranks) -> Frame:
    """Return the frame of this process; all processes must call it.

    Raises DataError if the trace spans so long a time that its nanoseconds do not fit.
    """
    times = [trace.calls["enter"], trace.calls["leave"], trace.marks["time"]]
    low = max((-int(one.min()) for one in times if len(one)), default=_NEVER)
    high = max((int(one.max()) for one in times if len(one)), default=_NEVER)
    low, high = (int(one) for one in ranks.most(np.array([low, high], dtype=np.int64)))
    if low == _NEVER:
        return Frame(trace.first, 0, 1)
    bits = max(1, (high + low).bit_length())
    if bits + trace.count.bit_length() > 62:
        raise DataError(f"{trace.header.folder} spans {high + low} ns, which is too long; analyse it with more processes.")
    return Frame(trace.first, -low, bits)
