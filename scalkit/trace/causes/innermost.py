"""What a location was in at every instant: its innermost call or region, and whether it waited."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import ranges, summed
from scalkit.trace.local.joined import changes
from scalkit.trace.local.part import Table

_ROWS = 1 << 22
"""Pieces that are made at once: 100 MB of them."""


@dataclass(frozen=True)
class Innermost:
    """A location as stretches of time, one behind the other.

    `start` of shape (n,), in ns: begin of each; the last has no end. `path` of shape (n,): call path of each.
    `waits` of shape (n,).
    """

    start: Ints
    path: Ints
    waits: NDArray[np.bool_]

    def at(self, time: Ints) -> Ints:
        """Return the call path just before each time."""
        return self.path[np.maximum(np.searchsorted(self.start, time) - 1, 0)]

    def profile(self, low: Ints, high: Ints, *, waiting: bool) -> tuple[Ints, Ints, Ints]:
        """Return how long the location was in each call path between two times, as rows without zeros.

        `waiting`: whether waits count.
        Returns the number of the pair of times, the path, and ns, in order of the first two.
        """
        first = np.maximum(np.searchsorted(self.start, low, side="right") - 1, 0)
        counts = np.maximum(np.searchsorted(self.start, high) - first, 0)
        own = np.unique(self.path)
        is_long = counts > 8 * len(own)
        found = [self._long(np.flatnonzero(is_long), low, high, own, waiting)]
        short = np.flatnonzero(~is_long)
        batch = np.cumsum(counts[short]) // _ROWS
        for part in np.split(short, np.flatnonzero(np.diff(batch)) + 1):
            found.append(self._short(part, low, high, first, counts, waiting))
        number, path, time = np.concatenate(found, axis=1)
        order = np.lexsort((path, number))
        return number[order], path[order], time[order]

    def _short(self, part: Ints, low: Ints, high: Ints, first: Ints, counts: Ints, waiting: bool) -> Ints:
        """Return the rows of intervals with few stretches, one by one."""
        row, at = ranges(first[part], counts[part])
        number = part[row]
        end = np.append(self.start[1:], np.iinfo(np.int64).max)[at]
        time = np.minimum(end, high[number]) - np.maximum(self.start[at], low[number])
        kept = (time > 0) & (waiting | ~self.waits[at])
        n_paths = 1 + self.path.max()
        key, time = summed(number[kept] * n_paths + self.path[at[kept]], time[kept])
        return np.stack([*np.divmod(key, n_paths), time])

    def _long(self, part: Ints, low: Ints, high: Ints, own: Ints, waiting: bool) -> Ints:
        """Return the rows of intervals with many stretches, path by path."""
        rows = [np.empty((3, 0), dtype=np.int64)]
        for path in own.tolist() if len(part) else ():
            time = self.before(path, high[part], waiting=waiting) - self.before(path, low[part], waiting=waiting)
            kept = time > 0
            rows.append(np.stack([part[kept], np.full(int(kept.sum()), path), time[kept]]))
        return np.concatenate(rows, axis=1)

    def before(self, path: int, time: Ints, *, waiting: bool) -> Ints:
        """Return how long the location was in a path before each time."""
        mine = np.flatnonzero((self.path == path) & (waiting | ~self.waits))
        if len(mine) == 0:
            return np.zeros(len(time), dtype=np.int64)
        start = self.start[mine]
        length = np.append(self.start[1:], np.iinfo(np.int64).max)[mine] - start
        place = np.searchsorted(start, time, side="right") - 1
        at = np.maximum(place, 0)
        done = np.append(0, np.cumsum(length[:-1]))[at]
        return np.where(place >= 0, done + np.minimum(time - start[at], length[at]), 0)


def innermost(calls: Table, marks: Table, parents: Ints, begin: int, waits: tuple[Ints, Ints]) -> Innermost:
    """Return what a location was in; before its first record it is the program.

    `parents`: of each call path.
    `begin`: of the trace, in ns.
    `waits`: begins and ends, in order, without overlap.
    """
    time, after = changes(calls, marks, parents, begin)
    low, high = waits
    start = np.unique(np.concatenate([time, low, high]))
    wait = np.searchsorted(low, start, side="right") - 1
    waiting = (wait >= 0) & (start < high[np.maximum(wait, 0)]) if len(low) else np.zeros(len(start), dtype=bool)
    return Innermost(start, after[np.searchsorted(time, start, side="right") - 1], waiting)
