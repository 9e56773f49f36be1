"""The waits that count for causes: one at a time for each location, with those of all processes in one table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import pack
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks


@dataclass(frozen=True)
class Edges:
    """Waits in order of their end, then of the location that waits; those of one location do not overlap.

    `waiter`, `cause` of shape (n,): who waited for whom; never the same location. `begin`, `until` of shape (n,), in ns.
    `scope` of shape (n,): communicator or window of a barrier, fence, or operation from all to all in which all its members
    meet; else -1.
    `since` of shape (n,), in ns: when both met last: one waited for the other, or they passed such an operation in which
    somebody waited. The begin of the trace if they did not.
    """

    waiter: Ints
    cause: Ints
    begin: Ints
    until: Ints
    scope: Ints
    since: Ints

    def __len__(self) -> int:
        return len(self.until)


def find_edges(found: Ints, trace: LocalTrace, ranks: Ranks, begin: int) -> Edges:
    """Return the waits of all processes, the same on each; all of them must call this.

    `found` of shape (5, n): location, cause, begin, end and scope of each wait that this process found, in any order.
    `begin`: earliest time of the trace, in ns.
    """
    rows = _apart(np.concatenate(ranks.gather(found), axis=1))
    waiter, cause, since, until, scope = rows[:, np.lexsort((rows[0], rows[3]))]
    members = [one.members for one in trace.definitions.scopes]
    met = _last_pair(waiter, cause, until, begin)
    for number in np.unique(scope[scope >= 0]).tolist():
        inside = np.zeros(trace.header.locations, dtype=bool)
        inside[members[number][members[number] >= 0]] = True
        both = np.flatnonzero(inside[waiter] & inside[cause])
        times = np.unique(until[scope == number])
        place = np.searchsorted(times, until[both]) - 1
        met[both] = np.maximum(met[both], np.where(place >= 0, times[np.maximum(place, 0)], begin))
    return Edges(waiter, cause, since, until, scope, np.minimum(met, since))


def _apart(found: Ints) -> Ints:
    """Return waits of which no two of one location overlap: of those that do, the one that ends last, then the longest counts."""
    found = found[:, (found[0] != found[1]) & (found[1] >= 0)]
    waiter, cause, begin, until, _ = found
    order = np.lexsort((-found[4], cause, begin, -until, waiter))
    kept, at, free = [], -1, 0
    for place, one, low, high in zip(order.tolist(), *(c[order].tolist() for c in (waiter, begin, until)), strict=True):
        if one != at or high <= free:
            kept.append(place)
            at, free = one, low
    return found[:, np.array(kept, dtype=np.int64)]


def _last_pair(waiter: Ints, cause: Ints, until: Ints, begin: int) -> Ints:
    """Return when the two of each wait waited for each other before, in any direction."""
    pair, _ = pack([np.minimum(waiter, cause), np.maximum(waiter, cause)], [waiter[:0], cause[:0]])
    order = np.lexsort((until, pair))
    is_same = pair[order][1:] == pair[order][:-1]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = ~is_same | (until[order][1:] != until[order][:-1])
    firsts = np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    before = np.maximum(firsts - 1, 0)
    found = np.full(len(order), begin, dtype=np.int64)
    known = (firsts > 0) & (pair[order[before]] == pair[order]) if len(order) else is_new
    found[order[known]] = until[order[before[known]]]
    return found


def slices(edges: Edges, locations: int) -> tuple[NDArray[np.intp], Ints]:
    """Return the waits in order of location and time, and where each location begins among them."""
    order = np.lexsort((edges.until, edges.waiter))
    return order, np.searchsorted(edges.waiter[order], np.arange(locations + 1))
