"""Wait for Progress of all calls: the targets compute it where one is enough, and answer where the origin needs several.

One target: the origin sends its times, the target finds its first progress and keeps the wait for the origin until the end
(decoupled exchange). Several targets: they answer with their progress, and the origin computes (direct exchange).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import group_starts
from scalkit.trace.local.coverage import covered_by_targets
from scalkit.trace.local.frame import Frame
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks, rounds
from scalkit.trace.options import Options
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.formulas import wait_for_one, wait_for_several
from scalkit.trace.waits.progress import FirstProgress, Progress, find_progress
from scalkit.trace.waits.requests import Requests, find_requests
from scalkit.trace.waits.surroundings import Surroundings


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


def wait_for_progress(analysis: Analysis) -> tuple[Requests, Progress]:
    """Add the waits for progress of all operations, and return the requests and the progress of this process.

    One-sided operations are forgotten once their requests are known, so that memory is there for the exchange.
    """
    requests = find_requests(analysis.trace, analysis.options)
    analysis.trace.forget_one_sided()
    progress = find_progress(analysis.trace, analysis.frame, analysis.options)
    ask_targets(analysis, requests, progress, _OF_OPERATIONS)
    return requests, progress


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
        wait, unseen = wait_for_one(enter, leave, first, analysis.options)
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
    result = wait_for_several(group, enter, leave, first, analysis.options)
    where = (trace.calls["path"][calls], trace.calls["location"][calls])
    waits.add(metrics.wait, *where, result.wait)
    if metrics.unseen:
        waits.add(metrics.unseen, *where, result.unseen.astype(np.int64))
    waits.blame(metrics.wait, where[1][group], target, found[:, 3], result.share, found[:, 1])
    owner = trace.owner(target, ranks.size)
    covered = covered_by_targets(ranks, progress, target, owner, group, enter, leave, analysis.options.chunk)
    waits.add(metrics.bound, *where, leave - enter - covered)
