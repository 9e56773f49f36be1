"""The longest wait that was found for each call, and who caused it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.results.sums import Waits

_HELD = 1 << 18

MEETINGS = frozenset({"wait_at_barrier", "wait_at_nxn", "wait_at_fence"})
"""Waits that end when the last of all has come."""


class Longest:
    """The longest of the waits offered for each call; of equal ones that whose cause has the smallest location.

    It holds rows for calls that waited only, so that its memory does not grow with the trace.
    """

    def __init__(self) -> None:
        self._rows = np.empty((0, 4), dtype=np.int64)
        self._more: list[Ints] = []
        self._held, self._limit = 0, _HELD

    def offer(self, call: NDArray[Any], wait: Ints, cause: Ints, before: Ints) -> None:
        """Keep a wait of a call, which `cause` ended, after it was in the path `before`, if none is longer."""
        waited = np.flatnonzero(wait > 0)
        if len(waited) == 0:
            return
        self._more.append(np.stack([one[waited] for one in (call, wait, cause, before)], axis=1).astype(np.int64))
        self._held += len(waited)
        if self._held > self._limit:
            self._settle()
            self._limit = max(_HELD, len(self._rows))

    def add_to(self, waits: Waits, metric: str, trace: LocalTrace) -> None:
        """Add what was kept."""
        self._settle()
        call, wait, cause, before = self._rows.T
        location = trace.calls["location"][call]
        waits.add(metric, trace.calls["path"][call], location, wait)
        scope = np.where(metric in MEETINGS, trace.calls["scope"][call], -1)
        waits.blame(metric, location, cause, before, wait, trace.calls["enter"][call] + wait, scope)

    def _settle(self) -> None:
        """Leave one row for each call."""
        rows = np.concatenate([self._rows, *self._more])
        call, wait, cause, before = rows.T
        order = np.lexsort((before, cause, -wait, call))
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = call[order][1:] != call[order][:-1]
        self._rows, self._more, self._held = rows[order[is_first]], [], 0
