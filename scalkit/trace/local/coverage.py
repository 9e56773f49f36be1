"""How long any of several targets was in progress, without fetching more of their intervals at once than a chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.ranks import Ranks, rounds
from scalkit.trace.waits.formulas import covered_by_any
from scalkit.trace.waits.progress import Progress

Pieces = tuple[Ints, Ints, Ints]
"""Number of the call, begin and end of pieces of calls."""


def covered_by_targets(
    ranks: Ranks,
    progress: Progress,
    target: NDArray[Any],
    owner: NDArray[Any],
    group: Ints,
    enter: Ints,
    leave: Ints,
    chunk: int,
) -> Ints:
    """Return how many ns of each call are progress of any of its targets, whose intervals are fetched for that.

    A call in which more intervals than a chunk lie is cut in two, again and again; the parts are added.

    `progress`: of the locations of this process.
    `target`, `owner`, `group` of shape (n,): location of each target, the process that has it, and the number of the call it
    is a target of, ascending. `enter`, `leave` of shape (n_calls,), in ns.
    """
    found = np.zeros(len(enter), dtype=np.int64)
    n_targets = np.bincount(group, minlength=len(enter)).astype(np.int64)
    starts = np.cumsum(n_targets) - n_targets
    todo: list[Pieces] = [(np.arange(len(enter), dtype=np.int64), enter, leave)] if len(enter) else []
    while ranks.most(np.array([len(todo)]))[0]:
        call, low, high = _next(todo, n_targets, chunk)
        of = np.repeat(np.arange(len(call), dtype=np.int64), n_targets[call])
        row = starts[call][of] + _within(n_targets[call])
        whom, whose = target[row], owner[row]
        where = np.zeros((len(of), 2), dtype=np.int64)
        for each in rounds(ranks, whose, chunk):
            piece = of[each.sent]
            asked, begin, end = np.ascontiguousarray(each.send(whom[each.sent], low[piece], high[piece]).T)
            where[each.sent] = each.answer(*progress.overlapping(asked, begin, end))
        total = np.zeros(len(call), dtype=np.int64)
        np.add.at(total, of, where[:, 1])
        cut = (total > chunk) & (high - low > 1)
        if cut.any():
            middle = (low[cut] + high[cut]) // 2
            todo.append((call[cut], low[cut], middle))
            todo.append((call[cut], middle, high[cut]))
        where[cut[of], 1] = 0
        total[cut] = 0
        batches = _batches(total, chunk)
        for k in range(int(ranks.most(np.array([len(batches)]))[0])):
            begin_at, end_at = batches[k] if k < len(batches) else (0, 0)
            rows = np.flatnonzero((of >= begin_at) & (of < end_at))
            got = _fetched(ranks, progress, whose[rows], where[rows], chunk)
            piece = np.repeat(of[rows] - begin_at, where[rows, 1])
            part = slice(begin_at, end_at)
            np.add.at(found, call[part], covered_by_any(piece, got[:, 0], got[:, 1], low[part], high[part]))
    return found


def _next(todo: list[Pieces], n_targets: Ints, chunk: int) -> Pieces:
    """Take pieces that together have at most a chunk of targets, at least one; none if none is left."""
    if not todo:
        none = np.empty(0, dtype=np.int64)
        return none, none, none
    call, low, high = todo.pop()
    n = max(1, int(np.searchsorted(np.cumsum(n_targets[call]), chunk, side="right")))
    if n < len(call):
        todo.append((call[n:], low[n:], high[n:]))
    return call[:n], low[:n], high[:n]


def _batches(total: Ints, chunk: int) -> list[tuple[int, int]]:
    """Return stretches of pieces that together have at most a chunk of intervals, at least one piece each."""
    reach, found, at = np.cumsum(total), [], 0
    while at < len(total):
        before = int(reach[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(reach, before + chunk, side="right")))
        found.append((at, end))
        at = end
    return found


def _fetched(ranks: Ranks, progress: Progress, owner: NDArray[Any], where: Ints, chunk: int) -> Ints:
    """Return start and end of the intervals of each row, `where` of which says the place of the first and how many."""
    place, count = where.T
    row = np.repeat(np.arange(len(owner), dtype=np.int64), count)
    wanted = place[row] + _within(count)
    found = np.zeros((len(row), 2), dtype=np.int64)
    for each in rounds(ranks, owner[row], chunk):
        found[each.sent] = each.answer(*progress.intervals(each.send(wanted[each.sent])[:, 0]))
    return found


def _within(lengths: Ints) -> Ints:
    """Return 0, 1, ... for each of the lengths, one after the other."""
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
