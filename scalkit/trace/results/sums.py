"""Sums of waits by place and by who caused them, exact, and independent of the order in which they come."""

from typing import NamedTuple

import numpy as np

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import summed
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.results.summary import FACTS

_NUMBER = {name: number for number, name in enumerate(FACTS)}
_HELD = 1 << 20


class _Sums:
    """Sums of values by key; rows are added up whenever they have become twice as many."""

    def __init__(self) -> None:
        self._rows = [np.empty((2, 0), dtype=np.int64)]
        self._held, self._limit = 0, _HELD

    def add(self, keys: Ints, values: Ints) -> None:
        counts = values > 0
        self._rows.append(np.stack([keys[counts], values[counts]]))
        self._held += self._rows[-1].shape[1]
        if self._held > self._limit:
            self._rows = [np.stack(self.rows())]
            self._held = self._rows[0].shape[1]
            self._limit = max(_HELD, 2 * self._held)

    def rows(self) -> tuple[Ints, Ints]:
        """Return every key with a sum above 0, ascending, and the sum."""
        keys, values = np.concatenate(self._rows, axis=1)
        return summed(keys, values)


class Found(NamedTuple):
    """All sums of an analysis, as rows.

    `severity`: metric, path, location, value of every sum above 0.
    `causes`: metric, location that waited, location that it waited for, path that kept that one, value.
    `traffic`: location, the one that it reached, number and bytes of one-sided operations, number and bytes of messages.
    """

    severity: tuple[Ints, ...]
    causes: tuple[Ints, ...]
    traffic: tuple[Ints, ...]


class Waits:
    """What a process has found so far.

    `n_locations`, `n_paths`: of the whole trace.
    `keeps_edges`: whether each wait is kept, too, for `edges`.
    """

    def __init__(self, n_locations: int, n_paths: int, *, keeps_edges: bool = False) -> None:
        self._locations, self._paths = n_locations, n_paths
        self._severity, self._causes = _Sums(), _Sums()
        self._traffic: list[Ints] = []
        self._edges: list[Ints] | None = [] if keeps_edges else None

    def add(self, metric: str, path: Ints, location: Ints, value: Ints) -> None:
        """Add waits, or counts, at their call path and location."""
        key = (_NUMBER[metric] * self._paths + np.asarray(path, dtype=np.int64)) * self._locations + location
        self._severity.add(key, value)

    def blame(
        self, metric: str, location: Ints, cause: Ints, path: Ints, value: Ints, until: Ints, scope: Ints | None = None
    ) -> None:
        """Add waits, which ended at `until`, to what a location, in a call path, made another one wait.

        `scope`: where all members of a communicator or window meet, its number; else -1.
        """
        if self._edges is not None and len(kept := np.flatnonzero(value > 0)):
            scope = np.full(len(value), -1) if scope is None else scope
            columns = (location, cause, until - value, until, scope)
            self._edges.append(np.stack([np.asarray(one, dtype=np.int64)[kept] for one in columns]))
        key = (_NUMBER[metric] * self._locations + np.asarray(location, dtype=np.int64)) * self._locations + cause
        self._causes.add(key * self._paths + path, value)

    def edges(self) -> Ints:
        """Return each wait as a column: location, cause, begin, end, scope; and forget them."""
        kept, self._edges = self._edges or [], None
        return np.concatenate([np.empty((5, 0), dtype=np.int64), *kept], axis=1)

    def note_traffic(self, location: int, peer: Ints, values: tuple[Ints, ...]) -> None:
        """Note what a location began with each of `peer`, which it does once for all of them: columns as in `Found.traffic`."""
        self._traffic.append(np.stack([np.full(len(peer), location, dtype=np.int64), peer, *values]))

    def collect(self, ranks: Ranks) -> Found:
        """Return the sums of all processes, on each of them."""
        gathered = ranks.gather((*self._severity.rows(), *self._causes.rows()))
        key, value, blamed, amount = (np.concatenate(column) for column in zip(*gathered, strict=True))
        (key, value), (blamed, amount) = summed(key, value), summed(blamed, amount)
        metric, key = np.divmod(key, self._locations * self._paths)
        pair, path = np.divmod(blamed, self._paths)
        pair, cause = np.divmod(pair, self._locations)
        number, location = np.divmod(pair, self._locations)
        severity = (metric, *np.divmod(key, self._locations), value)
        traffic = [one for part in ranks.gather(self._traffic) for one in part]
        columns = np.concatenate([np.empty((6, 0), dtype=np.int64), *traffic], axis=1)
        return Found(severity, (number, location, cause, path, amount), tuple(columns))
