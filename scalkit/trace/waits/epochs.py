"""Late Post and Early Wait: waits of post-start-complete-wait synchronisation."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import group_starts, next_calls, pack, with_ordinals
from scalkit.trace.local.part import LocalTrace, Table
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.functions import COMPLETE, LOCK, LOCK_ALL, POST, START, UNLOCK, UNLOCK_ALL, WAIT
from scalkit.trace.waits.locks import Held, lock_targets
from scalkit.trace.waits.progress_waits import Analysis, Longest, Metrics, ask_targets, last_call
from scalkit.trace.waits.requests import Progress, Requests, is_known

_METRICS = Metrics("wait_for_grant", "wait_for_grant_bound", None)


def waits_for_grants(analysis: Analysis, progress: Progress, completing: NDArray[np.integer], held: Held) -> None:
    """Add the waits of locks and unlocks for progress of their targets, and the bounds of these waits.

    A lock asks its target, and an unlock tells it: where the library of the target must answer, the call waits until that
    progresses, by the rule of operations that are posted when the call begins. While another process holds the lock the call
    waits for that one; only what comes after counts here. A call that also completes operations waits for these.

    `progress`: of the locations of this process.
    `completing` of shape (n,): places of calls that complete one-sided operations.
    `held`: until when locks were held by others.
    """
    trace, chunk = analysis.trace, analysis.options.chunk
    calls = trace.calls
    one, every = (trace.is_call(*names) & (calls["scope"] >= 0) for names in (LOCK | UNLOCK, LOCK_ALL | UNLOCK_ALL))
    asking = one | every
    asking[completing] = False
    place = np.flatnonzero(asking)
    sizes = np.where(every[place], trace.definitions.sizes[calls["scope"][place]], 1)
    ends = np.cumsum(sizes)
    begins, n_rows = ends - sizes, int(ends[-1]) if len(ends) else 0
    at = 0
    while analysis.ranks.most(np.array([int(at < len(place))]))[0]:
        end = last_call(begins, n_rows, at, chunk)
        requests = _requests(trace, place[at:end], every, held)
        ask_targets(analysis, requests, progress, _METRICS)
        at = end


def _requests(trace: LocalTrace, place: NDArray[np.intp], every: NDArray[np.bool_], held: Held) -> Requests:
    """Return a row for each of these calls and every target of it, from when its lock was free on."""
    row, target = lock_targets(trace, place, every[place])
    call = place[row]
    kept = is_known(trace, target) & (target != trace.calls["location"][call])
    call, target = call[kept], target[kept]
    enter, leave = trace.calls["enter"][call], trace.calls["leave"][call]
    since = np.clip(_held_until(held, call, target), enter, leave)
    firsts = group_starts(call)
    lengths = np.diff(np.append(firsts, len(call)))
    begin = np.repeat(np.maximum.reduceat(since, firsts), lengths) if len(firsts) else since
    return Requests(call, target, since, np.repeat(lengths == 1, lengths), begin)


def _held_until(held: Held, call: Ints, target: Ints) -> Ints:
    """Return until when others held the lock that each call asks each target for; long ago where nobody did."""
    found = np.full(len(call), -(1 << 62), dtype=np.int64)
    if len(held.call) == 0 or len(call) == 0:
        return found
    known, asked = pack([held.call, held.target], [call, target])
    order = np.lexsort((held.until, known))
    known, until = known[order], held.until[order]
    place = np.searchsorted(known, asked, side="right") - 1
    at = np.maximum(place, 0)
    return np.where((place >= 0) & (known[at] == asked), until[at], found)


def waits_in_epochs(analysis: Analysis) -> None:
    """Add the waits for late posts, and of early waits.

    The k-th start of an origin that names a target, on a window, belongs to the k-th post of the target that names the
    origin. Start and complete wait until the last of their targets has posted; wait waits until the last of its origins has
    called complete.
    """
    trace = analysis.trace
    starts, posts = _pairs(analysis, START, COMPLETE), _pairs(analysis, POST, WAIT)
    posted_rows = pd.MultiIndex.from_arrays([posts[name] for name in ("scope", "location", "partner", "ordinal")])
    late_post, early_wait = (Longest(name, trace) for name in ("late_post", "early_wait"))
    enter = trace.calls["enter"]
    completed = np.where(starts["closed"] >= 0, enter[starts["closed"]] if len(enter) else 0, -1)
    before = analysis.surroundings.before(starts["location"], completed)
    columns = (*(starts[name] for name in ("scope", "partner", "location", "ordinal")), starts["closed"], completed, before)
    for each in rounds(analysis.ranks, trace.owner(starts["partner"], analysis.ranks.size), analysis.options.chunk):
        scope, target, origin, ordinal, closed, complete, path = np.ascontiguousarray(each.ask(*columns).T)
        row = posted_rows.get_indexer(pd.MultiIndex.from_arrays([scope, target, origin, ordinal]))
        has = row >= 0
        posted = np.where(has, enter[posts["call"][row]] if len(posts["call"]) else 0, 0)
        waited = np.where(has, posts["closed"][row] if len(posts["call"]) else -1, -1)
        ends = np.flatnonzero((waited >= 0) & (closed >= 0))
        early_wait.offer(waited[ends], complete[ends], origin[ends], path[ends])
        answer = each.answer(has, posted, analysis.surroundings.before(target, posted))
        _late_posts({name: values[each.sent] for name, values in starts.items()}, answer, late_post)
    late_post.add_to(analysis.waits)
    early_wait.add_to(analysis.waits)


def _late_posts(starts: Table, answer: Ints, late: Longest) -> None:
    matched, posted, before = answer.T
    for column in ("call", "closed"):
        kept = np.flatnonzero((matched != 0) & (starts[column] >= 0))
        late.offer(starts[column][kept], posted[kept], starts["partner"][kept], before[kept])


def _pairs(analysis: Analysis, opening: frozenset[str], closing: frozenset[str]) -> Table:
    """Return a row for each opening call and each member of its group: the member, the ordinal, and the closing call."""
    trace = analysis.trace
    calls = trace.calls
    opened, closes = (np.flatnonzero(trace.is_call(*names) & (calls["scope"] >= 0)) for names in (opening, closing))
    closed = next_calls(calls, closes, {name: calls[name][opened] for name in ("location", "scope")}, calls["number"][opened])
    groups = [trace.groups[calls["location"][one] - trace.first].get(int(calls["peer"][one]), ()) for one in opened]
    lengths = [len(group) for group in groups]
    call = np.repeat(opened, lengths).astype(np.int64)
    partner = np.array([member for group in groups for member in group], dtype=np.int64)
    rows = {"call": call, "closed": np.repeat(closed, lengths), "partner": partner}
    rows |= {name: calls[name][call] for name in ("location", "scope", "number")}
    return with_ordinals(rows, ("location", "scope", "partner"), by="number")
