"""Lock Contention: how long locks of windows were held by others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.tables import EXCLUSIVE
from scalkit.trace.local.arrays import group_starts, next_calls, ranges
from scalkit.trace.local.part import LocalTrace, Table
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.functions import LOCK, LOCK_ALL, UNLOCK, UNLOCK_ALL
from scalkit.trace.waits.progress_waits import Analysis, Longest
from scalkit.trace.waits.requests import members


@dataclass(frozen=True)
class Held:
    """Until when others held the lock that a call asks a target for.

    `call`, `target` of shape (n,): place of the call that locks or unlocks, and location of the target.
    `until` of shape (n,), in ns: when the last unlock before it began.
    """

    call: Ints
    target: Ints
    until: Ints


def waits_for_locks(analysis: Analysis) -> Held:
    """Add the waits for locks that others hold, and return until when they held them.

    Of two locks of the same target that exclude each other, that one was held first whose unlock ended first. A process waits,
    within the calls that lock and unlock, until the last unlock before its own begins: the true wait lasts somewhat longer.
    """
    trace, ranks = analysis.trace, analysis.ranks
    own = _epochs(trace)
    if ranks.most(np.array([int(own["exclusive"].any())]))[0] == 0:
        return _held([])
    enter, leave = trace.calls["enter"], trace.calls["leave"]
    released, begun = leave[own["unlock"]], enter[own["unlock"]]
    before = analysis.surroundings.before(own["location"], begun)
    columns = (own["scope"], own["target"], own["exclusive"], released, begun, own["location"], before)
    kept = []
    came = [np.empty((0, len(columns)), dtype=np.int64)]
    for each in rounds(ranks, trace.owner(own["target"], ranks.size), analysis.options.chunk):
        came.append(each.ask(*columns))
        kept.append(each)
    found = _waited_for(np.concatenate(came))
    late = Longest("lock_contention", trace)
    by_others: list[Ints] = []
    at = 0
    for each, rows in zip(kept, came[1:], strict=True):
        until, cause, path = each.answer(*found[at : at + len(rows)].T).T
        at += len(rows)
        for column in ("lock", "unlock"):
            call = own[column][each.sent]
            late.offer(call, until, cause, path)
            waited = np.minimum(until, leave[call]) > enter[call]
            by_others.append(np.stack([call[waited], own["target"][each.sent][waited], until[waited]]))
    late.add_to(analysis.waits)
    return _held(by_others)


def _held(parts: list[Ints]) -> Held:
    return Held(*np.concatenate([np.empty((3, 0), dtype=np.int64), *parts], axis=1))


def _epochs(trace: LocalTrace) -> Table:
    """Return a row for each lock of a target: the calls that locked and unlocked it. A lock of all targets has many."""
    calls = trace.calls
    parts = []
    for opening, closing, columns in (
        (LOCK, UNLOCK, ("location", "scope", "peer")),
        (LOCK_ALL, UNLOCK_ALL, ("location", "scope")),
    ):
        lock, unlock = (np.flatnonzero(trace.is_call(*names) & (calls["scope"] >= 0)) for names in (opening, closing))
        peer = calls["peer"] & (EXCLUSIVE - 1)
        table = {**calls, "peer": peer}
        place = next_calls(table, unlock, {name: table[name][lock] for name in columns}, calls["number"][lock])
        ended = place >= 0
        lock, place = lock[ended], place[ended]
        row, target = lock_targets(trace, lock, np.full(len(lock), opening is LOCK_ALL))
        parts.append({"target": target, "lock": lock[row], "unlock": place[row]})
    found: Table = {
        name: np.concatenate([part[name] for part in parts]).astype(np.int64) for name in ("target", "lock", "unlock")
    }
    found = {name: values[found["target"] >= 0] for name, values in found.items()}
    found |= {name: calls[name][found["lock"]] for name in ("location", "scope")}
    found["exclusive"] = (calls["peer"][found["lock"]] >= EXCLUSIVE).astype(np.int64)
    return found


def lock_targets(trace: LocalTrace, call: NDArray[np.intp], is_all: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the index of the call and the location, or -1, of each target of locks and unlocks.

    `is_all`: which calls are about all members of their window.
    """
    scope = trace.calls["scope"][call]
    sizes = trace.definitions.sizes[scope]
    row, rank = ranges(np.zeros(len(call), dtype=np.int64), np.where(is_all, sizes, 1))
    rank = np.where(is_all[row], rank, trace.calls["peer"][call][row] & (EXCLUSIVE - 1))
    inside = rank < sizes[row]
    return row[inside], members(trace, scope[row[inside]], rank[inside])


def _waited_for(table: Ints) -> Ints:
    """Return for each lock when the last one before it, that excludes it, began to be released; whose, and its path.

    `table` of shape (n, 7): scope, target, exclusive, end of the unlock, its begin, location and path of each lock.
    Result of shape (n, 3): the time is -2^62 where there is none.
    """
    scope, target, exclusive, released, begun, location, path = table.T
    n = len(table)
    order = np.lexsort((location, released, target, scope))
    is_new = np.ones(n, dtype=bool)
    is_new[1:] = (scope[order][1:] != scope[order][:-1]) | (target[order][1:] != target[order][:-1])
    group = np.cumsum(is_new)
    by_time = np.lexsort((-location, begun))
    grade = np.empty(n, dtype=np.int64)
    grade[by_time] = np.arange(1, n + 1)
    found = np.empty((n, 3), dtype=np.int64)
    starts = group_starts(group)
    for of_exclusive in (False, True):  # an exclusive lock waits for all others, a shared one for exclusive ones
        counted = np.where((exclusive[order] == 1) | (not of_exclusive), grade[order], 0)
        most = np.maximum.accumulate(group * (n + 1) + counted) % (n + 1)
        previous = np.concatenate(([0], most[:-1]))[:n]
        previous[starts] = 0
        rows = order[(exclusive[order] == 0) == of_exclusive]
        last = previous[(exclusive[order] == 0) == of_exclusive]
        who = by_time[np.maximum(last - 1, 0)]
        found[rows, 0] = np.where(last > 0, begun[who], -(1 << 62))
        found[rows, 1], found[rows, 2] = location[who], path[who]
    return found
