"""Which delays caused which waits, and the critical path: what is searched for in all records at once."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.causes.innermost import Innermost, innermost
from scalkit.trace.local.arrays import exact_sums, pack, summed
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks, rounds
from scalkit.trace.waits.progress_waits import Analysis


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


Rows = tuple[Ints, Ints, Ints]
"""Number of the wait, call path, ns."""


def excess(more: Rows, less: Rows, n_paths: int) -> Rows:
    """Return by how much `more` exceeds `less`, path by path, where it does."""
    key = np.concatenate([more[0] * n_paths + more[1], less[0] * n_paths + less[1]])
    key, time = summed(key, np.concatenate([more[2], -less[2]]))
    kept = time > 0
    return (*np.divmod(key[kept], n_paths), time[kept])


@dataclass(frozen=True)
class Behind:
    """The waits of the cause of each wait since both met, as places among all waits in order of location and time.

    `position` of shape (n_edges,): place of each wait.
    `begin`, `low`, `high` of shape (n_edges,): where the waits of the cause begin, and those among them from `low` to ``high -
    1`` that count. `time` of shape (n_edges,), in ns: how long these are together.
    """

    position: Ints
    begin: Ints
    low: Ints
    high: Ints
    time: Ints


def behind(edges: Edges, locations: int) -> Behind:
    """Return the waits that may have led to each wait."""
    order, starts = slices(edges, locations)
    known, since, until = pack(
        [edges.waiter[order], edges.until[order]], [edges.cause, edges.since + 1], [edges.cause, edges.until]
    )
    low, high = np.searchsorted(known, since), np.searchsorted(known, until)
    high = np.maximum(low, high)
    reach = np.append(0, np.cumsum((edges.until - edges.begin)[order]))
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return Behind(position, starts[edges.cause], low, high, reach[high] - reach[low])


def rates(edges: Edges, delays: Ints, before: Behind, locations: int) -> NDArray[np.float64]:
    """Return for each wait what of its cost falls on a ns of what led to it.

    A wait costs its own length, and its part of the costs of the later waits that its location caused. Its cost falls on the
    delays of its cause, and on the waits of its cause since both met, in proportion to their lengths.

    `delays` of shape (n_edges,), in ns: of the cause of each wait.
    """
    steps, running, found = [0.0] * len(edges), [0.0] * locations, [0.0] * len(edges)
    columns = (edges.waiter, before.position, edges.until - edges.begin, delays + before.time)
    places = (before.low, before.high, before.begin)
    rows = zip(range(len(edges) - 1, -1, -1), *(one[::-1].tolist() for one in (*columns, *places)), strict=True)
    for k, who, at, wait, whole, low, high, begin in rows:
        running[who] += steps[at]
        found[k] = rate = wait * (1.0 + running[who]) / whole
        if high > low:  # from the last wait of the cause that counts, back to the first
            steps[high - 1] += rate
            if low > begin:
                steps[low - 1] -= rate
    return np.array(found)


def shortened(edges: Edges, ends: Ints, location: int, spent: Ints, spent_at_end: int) -> int:
    """Return by how many tenths of a ns the run is shorter if a location is a tenth faster in a call path.

    A wait ends when its cause comes earlier, but not before the one that waits has come, nor, where all meet, the others.
    Nobody waits who did not wait before, so the run gains no more than this.

    `ends` of shape (n_locations,), in ns: last record of each location. `location`: which is faster.
    `spent` of shape (n_edges,), in ns: what it spent in the path, without waits, before each wait that is its own or that it
    causes. `spent_at_end`: the same before its last record.
    """
    earlier = [0] * len(ends)  # in tenths of a ns: by how much waits end earlier
    columns = (edges.until, edges.waiter, edges.cause, edges.begin, edges.scope, spent)
    for until, rows in groupby(zip(*(one.tolist() for one in columns), strict=True), key=itemgetter(0)):
        released: dict[tuple[int, int], int] = {}
        ended = []
        for _, waiter, cause, begin, scope, done in rows:
            came = 10 * begin - earlier[waiter] - done * (waiter == location)
            ready = 10 * until - earlier[cause] - done * (cause == location)
            meeting = (cause, scope) if scope >= 0 else (-1, waiter)
            released[meeting] = max(released.get(meeting, ready), came)
            ended.append((waiter, meeting, done * (waiter == location)))
        for waiter, meeting, done in ended:
            earlier[waiter] = 10 * until - released[meeting] - done
    earlier[location] += spent_at_end
    run = max(10 * int(end) - less for end, less in zip(ends, earlier, strict=True))
    return 10 * int(ends.max()) - run


def critical_path(edges: Edges, ends: Ints, begin: int) -> tuple[Ints, Ints, Ints]:
    """Return location, begin and end of each piece of the critical path, the last one first; they fill the whole run.

    It ends with the location that ends last. From the end of a wait it goes on with the location that was waited for; of
    what happens at the same instant nothing is the cause of the other.

    `ends` of shape (n_locations,), in ns: last record of each location. `begin`: of the run, in ns.
    """
    order, starts = slices(edges, len(ends))
    until, cause = edges.until[order].tolist(), edges.cause[order].tolist()
    bounds = starts.tolist()
    location, time = int(ends.argmax()), int(ends.max())
    pieces = []
    limit = time + 1
    while True:
        place = bisect_left(until, limit, bounds[location], bounds[location + 1]) - 1
        if place < bounds[location]:
            break
        pieces.append((location, until[place], time))
        location, time = cause[place], until[place]
        limit = time
    pieces.append((location, begin, time))
    whose, low, high = np.array(pieces, dtype=np.int64).T
    return whose, low, high


_LARGEST = 3
"""Causes whose gain is computed: as many as the command shows."""

Gains = list[tuple[int, int, int]]
"""Call path, location, and by how many tenths of a ns the run is shorter if the location is a tenth faster there."""


def find_causes(analysis: Analysis) -> Gains:
    """Add `critical_path` and `delay_cost` at their call paths and locations; return the gains of the largest delays."""
    trace, ranks = analysis.trace, analysis.ranks
    begin, n_paths, locations = analysis.frame.begin, len(trace.definitions.paths), trace.header.locations
    ends = _ends(analysis, begin)
    edges = find_edges(analysis.waits.edges(), trace, ranks, begin)
    causes = _Causes(analysis, edges, begin)
    more, less = causes.profiles(critical_path(edges, ends, begin))
    delays = excess(more, causes.sent(less), n_paths)
    before = behind(edges, locations)
    lengths = ranks.total(exact_sums(delays[0], delays[2], len(edges)))
    lost = np.flatnonzero(lengths + before.time == 0)  # clocks that disagree: what the cause was in then is the delay
    number, which, time = (np.concatenate(pair) for pair in zip(delays, causes.at_the_end(lost), strict=True))
    lengths[lost] = 1
    rate = rates(edges, lengths, before, locations)
    key = (edges.cause[number] - trace.first) * n_paths + which
    costs = np.rint(np.bincount(key, weights=time * rate[number], minlength=trace.count * n_paths))
    location, path = np.divmod(np.flatnonzero(costs), n_paths)
    found = costs[costs != 0].astype(np.int64)
    analysis.waits.add("delay_cost", path, location + trace.first, found)
    mine = np.stack([-found, path, location + trace.first])[:, np.argsort(-found, kind="stable")[: 2 * _LARGEST]]
    largest = sorted(tuple(row) for part in ranks.gather(mine) for row in part.T.tolist())[:_LARGEST]
    return [(path, at, causes.gain(ends, path, at)) for _, path, at in largest]


def _ends(analysis: Analysis, begin: int) -> Ints:
    """Return the last record of each location."""
    trace = analysis.trace
    found = np.zeros(trace.header.locations, dtype=np.int64)
    for k, (calls, _, marks) in enumerate(trace.parts()):
        found[trace.first + k] = max((int(one.max()) for one in (calls["leave"], marks["time"]) if len(one)), default=begin)
    return analysis.ranks.total(found)


class _Causes:
    """The locations of this process, and the waits of all."""

    def __init__(self, analysis: Analysis, edges: Edges, begin: int) -> None:
        self._analysis, self._edges, self._begin = analysis, edges, begin
        self._own, self._own_starts = slices(edges, analysis.trace.header.locations)
        self._caused = np.argsort(edges.cause, kind="stable")
        self._caused_starts = np.searchsorted(edges.cause[self._caused], np.arange(analysis.trace.header.locations + 1))
        self._parts = list(analysis.trace.parts())

    def _of(self, location: int) -> tuple[Innermost, Ints, Ints]:
        """Return what a location was in, its own waits, and those that it caused."""
        own = self._own[self._own_starts[location] : self._own_starts[location + 1]]
        caused = self._caused[self._caused_starts[location] : self._caused_starts[location + 1]]
        calls, _, marks = self._parts[location - self._analysis.trace.first]
        waits = self._edges.begin[own], self._edges.until[own]
        parents = self._analysis.trace.definitions.around
        return innermost(calls, marks, parents, self._begin, waits), own, caused

    def profiles(self, pieces: tuple[Ints, Ints, Ints]) -> tuple[Rows, Rows]:
        """Add the critical path; return what causes, and what those that waited did since both met, without waits."""
        edges, trace = self._edges, self._analysis.trace
        more, less = [np.empty((3, 0), dtype=np.int64)], [np.empty((3, 0), dtype=np.int64)]
        for location in range(trace.first, trace.first + trace.count):
            there, own, caused = self._of(location)
            mine = pieces[0] == location
            _, path, time = there.profile(pieces[1][mine], pieces[2][mine], waiting=True)
            self._analysis.waits.add("critical_path", path, np.full(len(path), location), time)
            for rows, numbers, until in ((more, caused, edges.until), (less, own, edges.begin)):
                number, path, time = there.profile(edges.since[numbers], until[numbers], waiting=False)
                rows.append(np.stack([numbers[number], path, time]))
        first, second = (np.concatenate(rows, axis=1) for rows in (more, less))
        return (first[0], first[1], first[2]), (second[0], second[1], second[2])

    def sent(self, rows: Rows) -> Rows:
        """Return the rows that are about waits which the locations of this process caused."""
        ranks, trace = self._analysis.ranks, self._analysis.trace
        owner = trace.owner(self._edges.cause[rows[0]], ranks.size)
        came = [each.ask(*rows) for each in rounds(ranks, owner, self._analysis.options.chunk)]
        number, path, time = np.concatenate([np.empty((0, 3), dtype=np.int64), *came]).T
        return number, path, time

    def at_the_end(self, waits: Ints) -> Rows:
        """Return for waits that this process caused where their cause was when they ended, as rows of 1 ns."""
        trace = self._analysis.trace
        found = [np.empty((3, 0), dtype=np.int64)]
        for location in np.unique(self._edges.cause[waits]).tolist():
            if trace.first <= location < trace.first + trace.count:
                numbers = waits[self._edges.cause[waits] == location]
                path = self._of(location)[0].at(self._edges.until[numbers])
                found.append(np.stack([numbers, path, np.ones(len(numbers), dtype=np.int64)]))
        number, path, time = np.concatenate(found, axis=1)
        return number, path, time

    def gain(self, ends: Ints, path: int, location: int) -> int:
        """Return by how many tenths of a ns the run is shorter if a location is a tenth faster in a path."""
        edges, trace = self._edges, self._analysis.trace
        spent = np.zeros(len(edges) + 1, dtype=np.int64)
        if trace.first <= location < trace.first + trace.count:
            there, own, caused = self._of(location)
            for numbers, until in ((own, edges.begin), (caused, edges.until)):
                spent[numbers] = there.before(path, until[numbers], waiting=False)
            spent[-1] = there.before(path, ends[location : location + 1], waiting=False)[0]
        spent = self._analysis.ranks.total(spent)
        return shortened(edges, ends, location, spent[:-1], int(spent[-1]))
