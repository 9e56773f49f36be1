"""The waits for progress of calls with one and with several targets, and their upper bounds, in whole ns."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import exact_sums, group_ends, group_starts
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.options import Options
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.progress import FirstProgress


def wait_for_one(enter: Ints, leave: Ints, first: FirstProgress, options: Options) -> tuple[Ints, NDArray[np.bool_]]:
    """Return how long each call waited for its only target, and which ended without progress of it being seen.

    A target that is in progress when the call begins, or was since the operation was posted, makes nobody wait.
    """
    unseen = ~first.exists | (first.start > leave)
    wait = np.where(unseen | (first.start <= enter), 0, first.start - enter)
    if options.no_overlap == "cap":
        wait = np.where(unseen, leave - enter, wait)
    return wait, unseen


class Several(NamedTuple):
    """Waits of calls with several targets.

    `wait` of shape (n_calls,), in ns.
    `unseen` of shape (n_calls,): calls that ended without progress of any target being seen.
    `share` of shape (n,), in ns: part of the wait that each target ended, in the order of the targets given.
    """

    wait: Ints
    unseen: NDArray[np.bool_]
    share: Ints


def wait_for_several(call: Ints, enter: Ints, leave: Ints, first: FirstProgress, options: Options) -> Several:
    """Return how long each call had no overlap with the first progress of any of its targets.

    `call` of shape (n,): number, from 0 on, of the call that each row belongs to. `enter`, `leave` of shape (n_calls,), in ns.
    `first`: of each row.
    """
    n_calls = len(enter)
    kept = np.flatnonzero(first.exists & (first.start <= leave[call]))
    order = kept[np.lexsort((first.end[kept], first.start[kept], call[kept]))]
    whose, start, end = call[order], first.start[order], first.end[order]
    reached = _running_most(whose, np.maximum(end, enter[whose]))
    begins = group_starts(whose)
    previous = np.empty(len(order), dtype=np.int64)
    previous[1:] = reached[:-1]
    previous[begins] = enter[whose[begins]]
    gaps = np.maximum(start - previous, 0)
    unseen = np.ones(n_calls, dtype=bool)
    unseen[whose] = False
    ends = group_ends(whose)
    if options.several == "latest":
        gaps = np.zeros(len(order), dtype=np.int64)
        gaps[ends] = np.maximum(start[ends] - enter[whose[ends]], 0)
    wait = exact_sums(whose, gaps, n_calls)
    if options.tail == "include" and options.several == "gaps":
        wait[whose[ends]] += np.maximum(leave[whose[ends]] - reached[ends], 0)
    if options.no_overlap == "cap":
        wait = np.where(unseen, leave - enter, wait)
    share = np.zeros(len(call), dtype=np.int64)
    share[order] = gaps
    return Several(wait, unseen, share)


def covered_by_any(call: Ints, start: Ints, end: Ints, enter: Ints, leave: Ints) -> Ints:
    """Return how many ns of each call at least one of its intervals covers.

    `call`, `start`, `end` of shape (n,): number of the call that each interval belongs to; intervals may overlap and reach
    beyond their call. `enter`, `leave` of shape (n_calls,), in ns.
    """
    low, high = np.maximum(start, enter[call]), np.minimum(end, leave[call])
    order = np.lexsort((low, call))
    whose, low, high = call[order], low[order], high[order]
    reached = _running_most(whose, high)
    begins = group_starts(whose)
    previous = np.empty(len(order), dtype=np.int64)
    previous[1:] = reached[:-1]
    previous[begins] = enter[whose[begins]]
    return exact_sums(whose, np.maximum(high - np.maximum(low, previous), 0), len(enter))


def _running_most(group: Ints, values: Ints) -> Ints:
    """Return the largest value so far within each group, which stand together in ascending order."""
    if len(values) == 0:
        return values
    known, place = np.unique(values, return_inverse=True)
    key = np.unique(group, return_inverse=True)[1].reshape(-1) * len(known) + place.reshape(-1)
    return np.asarray(known[np.maximum.accumulate(key) % len(known)])


_HELD = 1 << 18

MEETINGS = frozenset({"wait_at_barrier", "wait_at_nxn", "wait_at_fence"})
"""Waits that end when the last of all has come."""


class Longest:
    """The longest of the waits offered for each call; of equal ones that whose cause has the smallest location.

    It holds rows for calls that waited only, so that its memory does not grow with the trace.
    """

    def __init__(self, metric: str, trace: LocalTrace) -> None:
        self._metric, self._trace = metric, trace
        self._rows = np.empty((0, 4), dtype=np.int64)
        self._more: list[Ints] = []
        self._held, self._limit = 0, _HELD

    def offer(self, call: NDArray[Any], until: Ints, cause: Ints, before: Ints) -> None:
        """Keep a wait of a call for what `cause` did at `until`, after it was in the path `before`, if none is longer."""
        calls = self._trace.calls
        wait = np.minimum(until, calls["leave"][call]) - calls["enter"][call]
        waited = np.flatnonzero(wait > 0)
        if len(waited) == 0:
            return
        self._more.append(np.stack([one[waited] for one in (call, wait, cause, before)], axis=1).astype(np.int64))
        self._held += len(waited)
        if self._held > self._limit:
            self._settle()
            self._limit = max(_HELD, len(self._rows))

    def add_to(self, waits: Waits) -> None:
        """Add what was kept."""
        self._settle()
        call, wait, cause, before = self._rows.T
        enter, path, location, scope = (self._trace.calls[name][call] for name in ("enter", "path", "location", "scope"))
        waits.add(self._metric, path, location, wait)
        waits.blame(self._metric, location, cause, before, wait, enter + wait, np.where(self._metric in MEETINGS, scope, -1))

    def _settle(self) -> None:
        """Leave one row for each call."""
        rows = np.concatenate([self._rows, *self._more])
        call, wait, cause, before = rows.T
        order = np.lexsort((before, cause, -wait, call))
        self._rows, self._more, self._held = rows[order[group_starts(call[order])]], [], 0
