"""The longest wait that was found for each call, and who caused it."""

from __future__ import annotations

import numpy as np

from scalkit.trace.arrays import Ints
from scalkit.trace.loading import LocalTrace
from scalkit.trace.sums import Waits

__all__ = ["Longest"]


class Longest:
    """The longest of the waits offered for each call; of equal ones that whose cause has the smallest location.

    Parameters
    ----------
    n_calls : int
    """

    def __init__(self, n_calls: int) -> None:
        self._wait = np.zeros(n_calls, dtype=np.int64)
        self._cause = np.zeros(n_calls, dtype=np.int64)
        self._before = np.zeros(n_calls, dtype=np.int64)

    def offer(self, call: Ints, wait: Ints, cause: Ints, before: Ints) -> None:
        """Keep a wait of a call, which `cause` ended, after it was in the path `before`, if none is longer."""
        order = np.lexsort((before, cause, -wait, call))
        at = call[order]
        is_first = np.ones(len(at), dtype=bool)
        is_first[1:] = at[1:] != at[:-1]
        order = order[is_first]
        at = call[order]
        longer = wait[order] > self._wait[at]
        equal = (wait[order] == self._wait[at]) & (self._wait[at] > 0)
        nearer = (cause[order] < self._cause[at]) | (
            (cause[order] == self._cause[at]) & (before[order] < self._before[at])
        )
        better = longer | (equal & nearer)
        at, order = at[better], order[better]
        self._wait[at], self._cause[at], self._before[at] = wait[order], cause[order], before[order]

    def add_to(self, waits: Waits, metric: str, trace: LocalTrace) -> None:
        """Add what was kept."""
        at = np.flatnonzero(self._wait)
        location, wait = trace.calls["location"][at], self._wait[at]
        waits.add(metric, trace.calls["path"][at], location, wait)
        waits.blame(metric, location, self._cause[at], self._before[at], wait)
