"""Wait for Progress of all calls: the targets compute it where one is enough, and answer where the origin needs several.

One target: the origin sends its times, the target finds its first progress and keeps the wait for the origin until the end
(decoupled exchange). Several targets: they answer with their progress, and the origin computes (direct exchange)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import Frame, exact_sums, group_starts, ranges
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks, rounds
from scalkit.trace.options import Options
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.requests import FirstProgress, Progress, Requests, find_progress, find_requests, union
from scalkit.trace.waits.surroundings import Surroundings


def wait_for_one(enter: Ints, leave: Ints, first: FirstProgress) -> tuple[Ints, NDArray[np.bool_]]:
    """Return how long each call waited for its only target, and which ended without progress of it being seen.

    A target that is in progress when the call begins, or was since the operation was posted, makes nobody wait.
    """
    unseen = ~first.exists | (first.start > leave)
    wait = np.where(unseen | (first.start <= enter), 0, first.start - enter)
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


def wait_for_several(call: Ints, enter: Ints, leave: Ints, first: FirstProgress) -> Several:
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
    wait = exact_sums(whose, gaps, n_calls)
    share = np.zeros(len(call), dtype=np.int64)
    share[order] = gaps
    return Several(wait, unseen, share)


def covered_by_any(call: Ints, start: Ints, end: Ints, enter: Ints, leave: Ints) -> Ints:
    """Return how many ns of each call at least one of its intervals covers.

    `call`, `start`, `end` of shape (n,): number of the call that each interval belongs to; intervals may overlap and reach
    beyond their call. `enter`, `leave` of shape (n_calls,), in ns.
    """
    width = int((leave - enter).max(initial=0)) + 1
    shift = call * width - enter[call]
    low, high = union(np.maximum(start, enter[call]) + shift, np.minimum(end, leave[call]) + shift)
    return exact_sums(low // width, high - low, len(enter))


def _running_most(group: Ints, values: Ints) -> Ints:
    """Return the largest value so far within each group, which stand together in ascending order."""
    if len(values) == 0:
        return values
    known, place = np.unique(values, return_inverse=True)
    key = np.unique(group, return_inverse=True)[1].reshape(-1) * len(known) + place.reshape(-1)
    return np.asarray(known[np.maximum.accumulate(key) % len(known)])


_HELD = 1 << 18

MEETINGS = frozenset(f"wait_at_{name}" for name in "barrier nxn fence window init finalize".split())
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


@dataclass(frozen=True)
class Analysis:
    """What every pattern needs: the trace, who analyses it, how, and where its waits go."""

    trace: LocalTrace
    ranks: Ranks
    options: Options
    frame: Frame
    surroundings: Surroundings
    waits: Waits


@dataclass(frozen=True)
class Metrics:
    """Names of the metrics of a wait, of its bound, and of calls that ended without progress seen, if these are counted."""

    wait: str
    bound: str
    unseen: str | None


_OF_OPERATIONS = Metrics("wait_for_progress", "wait_for_progress_bound", "without_progress")


def wait_for_progress(analysis: Analysis) -> tuple[NDArray[Any], Progress]:
    """Add the waits for progress of all operations; return places of the calls that complete them, and the progress.

    One-sided operations are forgotten once their requests are known, and so are the requests in the end, so that memory is
    there for what follows.
    """
    requests = find_requests(analysis.trace, analysis.options)
    analysis.trace.forget_one_sided()
    progress = find_progress(analysis.trace, analysis.frame, analysis.options)
    ask_targets(analysis, requests, progress, _OF_OPERATIONS)
    return requests.call, progress


def ask_targets(analysis: Analysis, requests: Requests, progress: Progress, metrics: Metrics) -> None:
    """Add the waits of the calls that make these requests."""
    _decoupled(analysis, requests, progress, metrics)
    _direct(analysis, requests, progress, metrics)


def _decoupled(analysis: Analysis, requests: Requests, progress: Progress, metrics: Metrics) -> None:
    trace, waits = analysis.trace, analysis.waits
    one = None if requests.is_single.all() else np.flatnonzero(requests.is_single)
    owner = trace.owner(requests.target if one is None else requests.target[one], analysis.ranks.size)
    for each in rounds(analysis.ranks, owner, analysis.options.chunk):
        rows = each.sent if one is None else one[each.sent]
        call = requests.call[rows]
        sent = [trace.calls[name][call] for name in ("enter", "leave", "location", "path")]
        if requests.begin is not None:
            sent[0] = requests.begin[rows]
        came = each.send(requests.target[rows], requests.since[rows], *sent)
        asked, begin, enter, leave, origin, path = np.ascontiguousarray(came.T)
        first = progress.first(asked, begin)
        wait, unseen = wait_for_one(enter, leave, first)
        waits.add(metrics.wait, path, origin, wait)
        bound = leave - enter - progress.covered(asked, enter, leave)
        waits.add(metrics.bound, path, origin, bound)
        if metrics.unseen:
            waits.add(metrics.unseen, path, origin, unseen.astype(np.int64))
        blamed = np.flatnonzero(wait)
        instant = np.where(unseen, leave, first.start)[blamed]
        before = analysis.surroundings.before(asked[blamed], instant)
        waits.blame(metrics.wait, origin[blamed], asked[blamed], before, wait[blamed], instant)


def _direct(analysis: Analysis, requests: Requests, progress: Progress, metrics: Metrics) -> None:
    several = np.flatnonzero(~requests.is_single)
    begins = group_starts(requests.call[several])
    place = 0
    while analysis.ranks.most(np.array([int(place < len(begins))]))[0]:
        end = last_call(begins, len(several), place, analysis.options.chunk)
        rows = several[begins[place] if place < len(begins) else 0 : begins[end] if end < len(begins) else len(several)]
        _direct_part(analysis, requests, progress, metrics, rows if place < len(begins) else rows[:0])
        place = end


def last_call(begins: Ints, n_rows: int, place: int, chunk: int) -> int:
    """Return where the calls end that fit into a chunk of rows, at least one."""
    if place >= len(begins):
        return place
    return max(place + 1, int(np.searchsorted(np.append(begins, n_rows), begins[place] + chunk, side="right")) - 1)


def _direct_part(analysis: Analysis, requests: Requests, progress: Progress, metrics: Metrics, rows: Ints) -> None:
    trace, ranks, waits = analysis.trace, analysis.ranks, analysis.waits
    target, since = requests.target[rows], requests.since[rows]
    calls, firsts, group = np.unique(requests.call[rows], return_index=True, return_inverse=True)
    group = group.reshape(-1)
    enter, leave = trace.calls["enter"][calls], trace.calls["leave"][calls]
    if requests.begin is not None:
        enter = requests.begin[rows][firsts]
    found = np.zeros((len(rows), 4), dtype=np.int64)
    for each in rounds(ranks, trace.owner(target, ranks.size), analysis.options.chunk):
        of = group[each.sent]
        asked, begin, high = np.ascontiguousarray(each.send(target[each.sent], since[each.sent], leave[of]).T)
        first = progress.first(asked, begin)
        before = analysis.surroundings.before(asked, np.where(first.exists, first.start, high))
        found[each.sent] = each.answer(first.exists, first.start, first.end, before)
    first = FirstProgress(found[:, 0] != 0, found[:, 1], found[:, 2])
    result = wait_for_several(group, enter, leave, first)
    where = (trace.calls["path"][calls], trace.calls["location"][calls])
    waits.add(metrics.wait, *where, result.wait)
    if metrics.unseen:
        waits.add(metrics.unseen, *where, result.unseen.astype(np.int64))
    waits.blame(metrics.wait, where[1][group], target, found[:, 3], result.share, found[:, 1])
    owner = trace.owner(target, ranks.size)
    covered = covered_by_targets(ranks, progress, target, owner, group, enter, leave, analysis.options.chunk)
    waits.add(metrics.bound, *where, leave - enter - covered)


Pieces = tuple[Ints, Ints, Ints]
"""Number of the call, begin and end of pieces of calls."""


def covered_by_targets(
    ranks: Ranks, progress: Progress, target: NDArray[Any], owner: NDArray[Any], group: Ints, enter: Ints, leave: Ints, chunk: int
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
        of, row = ranges(starts[call], n_targets[call])
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
    row, wanted = ranges(*where.T)
    found = np.zeros((len(row), 2), dtype=np.int64)
    for each in rounds(ranks, owner[row], chunk):
        found[each.sent] = each.answer(*progress.intervals(each.send(wanted[each.sent])[:, 0]))
    return found
