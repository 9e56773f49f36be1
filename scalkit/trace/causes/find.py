"""Finds the causes: adds the critical path and the delay costs to what an analysis found, and what the largest would gain."""

import numpy as np

from scalkit.arrays import Ints
from scalkit.trace.causes.critical_path import critical_path
from scalkit.trace.causes.delays import Rows, behind, excess, rates
from scalkit.trace.causes.edges import Edges, find_edges, slices
from scalkit.trace.causes.innermost import Innermost, innermost
from scalkit.trace.causes.what_if import shortened
from scalkit.trace.local.arrays import exact_sums
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.progress_waits import Analysis

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
