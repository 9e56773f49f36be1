"""Waits in collective calls: where all meet, for a late root, of an early root, for lower ranks, for neighbours."""

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import group_starts, positions_within
from scalkit.trace.local.part import CALLS, LocalTrace, Table, missing_before
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits import functions
from scalkit.trace.waits.progress_waits import Analysis, Longest

_KINDS = (
    ("wait_at_barrier", functions.BARRIER),
    ("wait_at_nxn", functions.NXN),
    ("wait_at_fence", functions.FENCE),
    ("wait_at_window", functions.WINDOW),
    ("wait_at_init", functions.INIT),
    ("wait_at_finalize", functions.FINALIZE),
    ("late_broadcast", functions.FIRST_TO_ALL),
    ("early_reduce", functions.TO_ROOT),
    ("early_scan", functions.SCAN),
    ("late_neighbour", functions.NEIGHBOUR),
)
_ROOT, _FIRST, _SCAN, _NEIGHBOUR = range(len(_KINDS) - 4, len(_KINDS))  # at those before all meet


def waits_in_collectives(analysis: Analysis) -> None:
    """Add the waits in collective calls, and in those that complete what one began that does not wait.

    Calls belong together by their communicator, or window, and their place in the order of all such calls on it. At a
    barrier, a fence and an operation from all to all a process waits until the last one has entered; at a broadcast until
    the root has; the root of a reduction until the first other process has; at a scan until all lower ranks have; at an
    operation between neighbours until those have from which data come. Of several operations that one call completes the
    longest wait counts.
    """
    calls = _calls(analysis)
    n_scopes = len(analysis.trace.definitions.scopes)
    longest = np.zeros(n_scopes, dtype=np.int64)
    np.maximum.at(longest, calls["scope"], calls["ordinal"] + 1)
    longest = analysis.ranks.most(longest)
    calls["instance"] = (np.cumsum(longest) - longest)[calls["scope"]] + calls["ordinal"]
    calls["rank"] = _own_rank(analysis, calls)
    _ask(analysis, calls, _told(analysis, calls))


def _calls(analysis: Analysis) -> Table:
    """Return the collective calls in order of location, scope and number, with their ordinal and kind."""
    trace = analysis.trace
    kind_of_path = np.full(len(trace.definitions.paths), -1, dtype=np.int8)
    for number, (_, names) in enumerate(_KINDS):
        kind_of_path[trace.definitions.paths_in(names | functions.begun(names))] = number
    place = np.flatnonzero((kind_of_path[trace.calls["path"]] >= 0) & (trace.calls["scope"] >= 0))
    order = np.lexsort((trace.calls["number"][place], trace.calls["scope"][place], trace.calls["location"][place]))
    place = place[order]
    found = {name: trace.calls[name][place] for name in ("location", "enter", "path", "scope", "peer", "number")}
    found["kind"] = kind_of_path[found["path"]].astype(np.int64)
    found["waits"] = _waiting_calls(trace, place)
    found["ordinal"] = positions_within(found["location"].astype(np.int64) * len(trace.definitions.scopes) + found["scope"])
    found["ordinal"] = found["ordinal"] + missing_before(trace, found, found, "number", CALLS)
    return found


def _waiting_calls(trace: LocalTrace, place: Ints) -> Ints:
    """Return the call that waits: the collective one itself, or that which completed it; -1 if none did."""
    waits = place.astype(np.int64)
    begins, done = trace.collectives["call"], trace.collectives["done"]
    if len(begins):
        at = np.minimum(np.searchsorted(begins, place), len(begins) - 1)
        waits = np.where(begins[at] == place, done[at], waits)
    return waits


def _own_rank(analysis: Analysis, calls: Table) -> Ints:
    """Return the rank of each call's location in the scope of the call."""
    found = np.full(len(calls["scope"]), -2, dtype=np.int64)
    for number, scope in enumerate(analysis.trace.definitions.scopes):
        mine = np.flatnonzero(calls["scope"] == number)
        if len(mine):
            order = np.argsort(scope.members, kind="stable")
            place = np.searchsorted(scope.members[order], calls["location"][mine])
            found[mine] = order[np.minimum(place, len(order) - 1)]
    return found


def _told(analysis: Analysis, calls: Table) -> "_Arrivals":
    """Return when who came to the instances that this process keeps, of which all processes tell it."""
    member = np.where(calls["kind"] == _SCAN, calls["rank"], calls["location"])
    before = analysis.surroundings.before(calls["location"], calls["enter"])
    columns = (calls["instance"], member, calls["enter"], calls["location"], before, calls["peer"] == calls["rank"])
    keeper = calls["instance"] % analysis.ranks.size
    came = [each.ask(*columns) for each in rounds(analysis.ranks, keeper, analysis.options.chunk)]
    return _Arrivals(np.concatenate([np.empty((0, len(columns)), dtype=np.int64), *came]))


def _ask(analysis: Analysis, calls: Table, arrivals: "_Arrivals") -> None:
    """Fetch what each call waited for, and add the wait."""
    trace, kind = analysis.trace, calls["kind"]
    is_root = calls["peer"] == calls["rank"]
    waiting = ((kind != _ROOT) | ~is_root) & ((kind != _FIRST) | is_root)
    row, whom = _awaited(trace, calls, np.flatnonzero((calls["waits"] >= 0) & waiting))
    longest = [Longest(metric, trace) for metric, _ in _KINDS]
    for each in rounds(analysis.ranks, calls["instance"][row] % analysis.ranks.size, analysis.options.chunk):
        mine = row[each.sent]
        what = np.maximum(kind[mine] - _ROOT + 1, 0)
        asked = np.ascontiguousarray(each.send(calls["instance"][mine], what, whom[each.sent]).T)
        found = each.answer(*arrivals.of(*asked))
        for number, one in enumerate(longest):
            kept = np.flatnonzero((kind[mine] == number) & (found[:, 1] >= 0))
            one.offer(calls["waits"][mine[kept]], *found[kept].T)
    for one in longest:
        one.add_to(analysis.waits)


def _awaited(trace: LocalTrace, calls: Table, waiting: NDArray[np.intp]) -> tuple[Ints, Ints]:
    """Return a row for each call that waits, or for each of its neighbours, and the member that it asks for."""
    near = waiting[calls["kind"][waiting] == _NEIGHBOUR]
    pairs = zip(calls["location"][near].tolist(), calls["peer"][near].tolist(), strict=True)
    groups = [trace.groups[at - trace.first].get(group, ()) for at, group in pairs]
    n_asked = np.ones(len(calls["kind"]), dtype=np.int64)
    n_asked[near] = [len(group) for group in groups]
    row = np.repeat(waiting, n_asked[waiting])
    whom = calls["rank"][row]
    whom[calls["kind"][row] == _NEIGHBOUR] = [member for group in groups for member in group]
    return row, whom


class _Arrivals:
    """When each member came to each instance that this process keeps.

    `rows` of shape (n, 6): instance, member, time, location, path before, whether it is the root.
    """

    def __init__(self, rows: Ints) -> None:
        self._rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        instance, member, time, location, _, at_root = self._rows.T
        self._width = int(member.max(initial=0)) + 1
        self._keys = instance * self._width + member
        self._known = instance[group_starts(instance)]
        every = np.arange(len(rows))
        self._of_all = [
            self._earliest(every, -time),
            self._earliest(every[at_root != 0], time),
            self._earliest(every[at_root == 0], time),
        ]
        by_time = np.lexsort((-location, time))
        score = np.empty(len(rows), dtype=np.int64)
        score[by_time] = every
        shift = np.searchsorted(self._known, instance) * len(rows)
        self._last_so_far = by_time[np.maximum.accumulate(score + shift) - shift]

    def _earliest(self, chosen: Ints, time: Ints) -> Ints:
        """Return the place of the row with the least time of each instance, -1 where none is chosen."""
        instance, location = self._rows[:, 0], self._rows[:, 3]
        order = chosen[np.lexsort((location[chosen], time[chosen], instance[chosen]))]
        firsts = order[group_starts(instance[order])]
        found = np.full(len(self._known), -1, dtype=np.int64)
        found[np.searchsorted(self._known, instance[firsts])] = firsts
        return found

    def of(self, instance: Ints, what: Ints, member: Ints) -> tuple[Ints, Ints, Ints]:
        """Return when who came, -1 if nobody did, and what it did before.

        `what`: 0 the last of all, 1 the root, 2 the first of the others, 3 the last one up to a member, 4 a member.
        """
        if len(self._rows) == 0:
            return instance, np.full_like(instance, -1), instance
        at = np.searchsorted(self._known, instance)
        asked = instance * self._width + member
        place = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        own = np.where((self._keys[place] == asked) & (member < self._width), place, -1)
        so_far = np.where(own >= 0, self._last_so_far[own], -1)
        place = np.choose(what, [*(one[at] for one in self._of_all), so_far, own])
        time, location, before = self._rows[place, 2:5].T
        return time, np.where(place >= 0, location, -1), before
