"""What the analysis asks the targets of one-sided operations: which call completed them, when they were posted, to whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.trace.arrays import Ints, group_starts, next_of_group, pack
from scalkit.trace.functions import COMPLETE, FENCE, FLUSH_ALL, FLUSH_ONE
from scalkit.trace.loading import LocalTrace
from scalkit.trace.options import Options
from scalkit.trace.tables import RECEIVE, SEND

__all__ = ["Requests", "find_requests", "members"]


_NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Requests:
    """A row for each pair of a completing call and one of its targets, in order of the calls.

    Attributes
    ----------
    call : ndarray of int of shape (n,)
        Place of the completing call in the calls of this process.
    target : ndarray of int of shape (n,)
        Location of the target.
    since : ndarray of int of shape (n,), in ns
        From when on progress of the target counts.
    is_single : ndarray of bool of shape (n,)
        Whether the call has no other target.
    """

    call: Ints
    target: Ints
    since: Ints
    is_single: NDArray[np.bool_]


def find_requests(trace: LocalTrace, options: Options) -> Requests:
    """Return the requests of the locations of this process.

    Operations to the own process, to a target whose location is unknown, or that has no file, are left out, and so are those
    that a fence or a call of post-start-complete-wait completes: these calls wait for other calls, not for progress.
    """
    calls, transfers = trace.calls, trace.transfers
    is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
    rows = {name: values[is_rma] for name, values in transfers.items()}
    done = _completed_by(trace, rows)
    target = members(trace, rows["scope"], rows["peer"])
    posted = calls["enter"][rows["call"]]
    kept = (done >= 0) & _is_known(trace, target) & (target != rows["location"])
    kept[kept] = ~trace.definitions.paths_in(FENCE | COMPLETE | {"MPI_Win_free"})[calls["path"][done[kept]]]
    done, target, posted = done[kept], target[kept], posted[kept]
    if options.all_targets == "window":
        done, target, posted = (
            np.concatenate(pair) for pair in zip((done, target, posted), _whole(trace), strict=True)
        )
    return _grouped(calls["enter"], done, target, posted, options)


def _is_known(trace: LocalTrace, target: Ints) -> NDArray[np.bool_]:
    """Return for each target whether something was recorded of it."""
    missing = [problem.location for problem in trace.problems if problem.kind == "missing"]
    return np.asarray((target >= 0) & ~np.isin(target, missing))


def _grouped(enter: Ints, done: Ints, target: Ints, posted: Ints, options: Options) -> Requests:
    key = pack([done, target])[0]
    order = np.argsort(key, kind="stable")
    starts = group_starts(key[order])
    latest = np.maximum.reduceat(posted[order], starts) if len(starts) else posted
    call, asked = done[order[starts]], target[order[starts]]
    entered = enter[call]
    since = entered if options.search == "entering" else np.where(latest == _NEVER, entered, latest)
    begins = group_starts(call)
    lengths = np.diff(np.append(begins, len(call)))
    return Requests(call, asked, np.minimum(since, entered), np.repeat(lengths == 1, lengths))


def _completed_by(trace: LocalTrace, rows: dict[str, Ints]) -> Ints:
    """Return the first call that completes each operation: named by the trace, or one that completes its target or window."""
    calls = trace.calls
    number = calls["number"][rows["call"]]
    one = np.flatnonzero(trace.is_call(*FLUSH_ONE))
    all_of_it = np.flatnonzero(trace.is_call(*FLUSH_ALL, *FENCE, *COMPLETE, "MPI_Win_free"))
    found = rows["done"]
    for place, columns in ((one, ("location", "scope", "peer")), (all_of_it, ("location", "scope"))):
        where = next_of_group(
            [calls[name][place] for name in columns],
            calls["number"][place],
            [rows[name] for name in columns],
            number,
        )
        later = np.where(where >= 0, place[where] if len(place) else -1, -1)
        found = np.where((found < 0) | ((later >= 0) & (later < found)), later, found)
    return np.asarray(found)


def members(trace: LocalTrace, scope: Ints, rank: Ints) -> Ints:
    """Return the location of each rank of each scope; -1 where it is not known."""
    sizes = trace.definitions.sizes
    flat = np.concatenate([np.empty(0, dtype=np.int64), *(one.members for one in trace.definitions.scopes)])
    starts = np.cumsum(sizes) - sizes
    known = scope >= 0
    found = np.full(len(scope), -1, dtype=np.int64)
    found[known] = flat[starts[scope[known]] + rank[known]]
    return found


def _whole(trace: LocalTrace) -> tuple[Ints, Ints, Ints]:
    """Return a row for every other member of the window of every call that completes a whole one."""
    place = np.flatnonzero(trace.is_call(*FLUSH_ALL) & (trace.calls["scope"] >= 0))
    scopes = trace.definitions.scopes
    members = [scopes[number].members for number in trace.calls["scope"][place]]
    done = np.repeat(place, [len(one) for one in members]).astype(np.int64)
    target = np.concatenate([np.empty(0, dtype=np.int64), *members])
    kept = (target >= 0) & (target != trace.calls["location"][done])
    return done[kept], target[kept], np.full(int(kept.sum()), _NEVER, dtype=np.int64)
