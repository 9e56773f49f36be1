"""Steps of locations within a window, and rows of a raster that several locations share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints

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


def voted(kind: Bytes, wait: Bytes, together: int, n_kinds: int) -> tuple[Bytes, Bytes]:
    """Return rows of several locations: the class that most of them have, and their mean wait."""
    n = -(-len(kind) // together)
    missing = ((0, n * together - len(kind)), (0, 0))
    kinds = np.pad(kind, missing, constant_values=n_kinds).reshape(n, together, -1)
    waits = np.pad(wait, missing).reshape(n, together, -1)
    votes = [(kinds == number).sum(axis=1) for number in range(n_kinds)]
    sizes = np.minimum(together, len(kind) - together * np.arange(n))[:, None]
    return np.argmax(votes, axis=0).astype(np.uint8), np.ceil(waits.sum(axis=1) / sizes).astype(np.uint8)
