"""Steps of locations as a raster: which class takes most of each column, and what share of it is waiting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Floats, Ints

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Pieces:
    """Intervals within a window, cut at its ends.

    `row` of shape (n,). `begin`, `end` of shape (n,), in ns: from the begin of the window.
    `place` of shape (n,): where each stands in the columns they come from.
    """

    row: NDArray[np.int32]
    begin: Ints
    end: Ints
    place: Ints


def pieces_between(time: Ints, offsets: Ints, locations: Sequence[int], low: int, high: int) -> Pieces:
    """Return the steps of locations between two times.

    `time` of shape (n,), in ns: begin of each step, ascending within a location; each lasts until the next one, the last one
    of a location is none. `offsets` of shape (n_locations + 1,): where the steps of each location stand.
    `locations`: what becomes row 0, 1, ... `low`, `high` in ns.
    """
    starts, counts = steps_between(time, offsets, locations, low, high)
    row_of = np.repeat(np.arange(len(locations), dtype=np.int32), counts)
    within = np.arange(len(row_of), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    place = starts[row_of] + within
    begin_at = np.clip(time[place] - low, 0, high - low)
    end_at = np.clip(time[place + 1] - low, 0, high - low)
    kept = end_at > begin_at
    if not kept.all():
        row_of, begin_at, end_at, place = row_of[kept], begin_at[kept], end_at[kept], place[kept]
    return Pieces(row_of, begin_at, end_at, place)


def steps_between(time: Ints, offsets: Ints, locations: Sequence[int], low: int, high: int) -> tuple[Ints, Ints]:
    """Return where the steps of each location between two times begin, and how many they are; see `pieces_between`."""
    starts = np.empty(len(locations), dtype=np.int64)
    counts = np.zeros(len(locations), dtype=np.int64)
    for row, location in enumerate(locations):
        first, last = int(offsets[location]), int(offsets[location + 1]) - 1
        mine = time[first : last + 1]
        begin = max(int(mine.searchsorted(low, side="right")) - 1, 0)
        starts[row] = first + begin
        counts[row] = max(min(int(mine.searchsorted(high)), last - first) - begin, 0)
    return starts, counts


def covered(pieces: Pieces, n_rows: int, n_columns: int, bits: int) -> Floats:
    """Return how much of each column intervals take that do not overlap, in ns.

    `bits`: a column takes 2^bits ns. Result of shape (n_rows * n_columns,).
    """
    return np.asarray(classed(pieces, np.zeros(len(pieces.row), dtype=np.uint8), 1, n_rows, n_columns, bits)[0])


def classed(pieces: Pieces, kind: Bytes, n_kinds: int, n_rows: int, n_columns: int, bits: int) -> Floats:
    """Return how much of each column each class takes, in ns. Result of shape (n_kinds, n_rows * n_columns)."""
    width, cells = 1 << bits, n_rows * n_columns
    first, last = pieces.begin >> bits, (pieces.end - 1) >> bits
    base = kind.astype(np.int64) * cells + pieces.row.astype(np.int64) * n_columns
    length = pieces.end - pieces.begin
    is_long = last > first
    if not is_long.any():
        return _added(base + first, length, n_kinds * cells).reshape(n_kinds, cells)
    long = np.flatnonzero(is_long)
    length[long] = ((first[long] + 1) << bits) - pieces.begin[long]
    found = _added(base + first, length, n_kinds * cells)
    found += _added(base[long] + last[long], pieces.end[long] - (last[long] << bits), n_kinds * cells)
    inner = last[long] - first[long] - 1
    between = np.repeat(base[long] + first[long] + 1 - (np.cumsum(inner) - inner), inner)
    between += np.arange(len(between), dtype=np.int64)
    found[between] += width
    return found.reshape(n_kinds, cells)


def _added(keys: Ints, values: Ints, n: int) -> Floats:
    return np.asarray(np.bincount(keys, weights=values, minlength=n), dtype=np.float64)


def largest(amount: NDArray[Any]) -> Bytes:
    """Return the class that takes most of each cell; of equal ones the first, 0 where there is none."""
    found = np.zeros(amount.shape[1], dtype=np.uint8)
    most = amount[0].copy()
    for kind in range(1, len(amount)):
        better = amount[kind] > most
        found[better] = kind
        np.maximum(most, amount[kind], out=most)
    return found


def halved(amount: Floats, n_rows: int) -> Floats:
    """Return the same with two columns in one, `amount` being of shape (n_kinds, n_rows * n_columns)."""
    whole = amount.reshape(len(amount), n_rows, -1)
    if whole.shape[2] % 2:
        whole = np.concatenate([whole, np.zeros((*whole.shape[:2], 1))], axis=2)
    return np.asarray((whole[:, :, 0::2] + whole[:, :, 1::2]).reshape(len(amount), -1))


def voted(kind: Bytes, wait: Bytes, together: int, n_kinds: int) -> tuple[Bytes, Bytes]:
    """Return rows of several locations: the class that most of them have, and their mean wait."""
    n = -(-len(kind) // together)
    missing = ((0, n * together - len(kind)), (0, 0))
    kinds = np.pad(kind, missing, constant_values=n_kinds).reshape(n, together, -1)
    waits = np.pad(wait, missing).reshape(n, together, -1)
    votes = np.zeros((n_kinds, n, kind.shape[1]), dtype=np.uint16)
    total = np.zeros((n, kind.shape[1]), dtype=np.uint32)
    for member in range(together):
        total += waits[:, member]
        for number, one in enumerate(votes):
            one += kinds[:, member] == number
    sizes = np.minimum(together, len(kind) - together * np.arange(n))[:, None]
    return largest(votes.reshape(n_kinds, -1)).reshape(total.shape), np.ceil(total / sizes).astype(np.uint8)
