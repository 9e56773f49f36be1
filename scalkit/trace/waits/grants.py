"""Wait for Grant: calls that lock a window, or unlock it, until the library of the target answers."""

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.files.tables import EXCLUSIVE
from scalkit.trace.local.arrays import group_starts, pack
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.waits.functions import LOCK, LOCK_ALL, UNLOCK, UNLOCK_ALL
from scalkit.trace.waits.locks import Held
from scalkit.trace.waits.progress import Progress
from scalkit.trace.waits.progress_waits import Analysis, Metrics, ask_targets, last_call
from scalkit.trace.waits.requests import Requests, is_known, members

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
        requests = _requests(trace, place[at:end], sizes[at:end], every, held)
        ask_targets(analysis, requests, progress, _METRICS)
        at = end


def _requests(trace: LocalTrace, place: NDArray[np.intp], sizes: Ints, every: NDArray[np.bool_], held: Held) -> Requests:
    """Return a row for each of these calls and every target of it, from when its lock was free on."""
    call = np.repeat(place, sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    peer = trace.calls["peer"][call].astype(np.int64)
    rank = np.where(every[call], np.arange(len(call), dtype=np.int64) - starts, peer & (EXCLUSIVE - 1))
    scope = trace.calls["scope"][call]
    inside = (peer != -1) | every[call]
    inside &= rank < trace.definitions.sizes[scope]
    call, scope, rank = call[inside], scope[inside], rank[inside]
    target = members(trace, scope, rank)
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
