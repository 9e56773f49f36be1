"""Waits in collective calls: where all meet, for a late root, of an early root, for lower ranks, for neighbours."""

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import group_starts, pack, positions_within
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
_NONE = 1 << 62


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
    instance = (np.cumsum(longest) - longest)[calls["scope"]] + calls["ordinal"]
    last, root, first = (_Earliest(int(longest.sum()), analysis) for _ in range(3))
    _tell(analysis, calls, instance, last, root, first)
    _ask(analysis, calls, instance, last, root, first)
    _ask_some(analysis, calls, instance)


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


class _Earliest:
    """For each instance that this process keeps, the smallest time that was told, and who told it."""

    def __init__(self, n_instances: int, analysis: Analysis) -> None:
        self._size = analysis.ranks.size
        n = -(-(n_instances - analysis.ranks.rank) // self._size) if n_instances > analysis.ranks.rank else 0
        self.time = np.full(n, _NONE, dtype=np.int64)
        self.location = np.full(n, _NONE, dtype=np.int64)
        self.before = np.zeros(n, dtype=np.int64)

    def tell(self, instance: Ints, time: Ints, location: Ints, before: Ints) -> None:
        order = np.lexsort((location, time, instance))
        at = instance[order] // self._size
        firsts = group_starts(at)
        at, order = at[firsts], order[firsts]
        better = (time[order] < self.time[at]) | ((time[order] == self.time[at]) & (location[order] < self.location[at]))
        at, order = at[better], order[better]
        self.time[at], self.location[at], self.before[at] = time[order], location[order], before[order]

    def of(self, instance: Ints) -> tuple[Ints, Ints, Ints]:
        at = instance // self._size
        return self.time[at], self.location[at], self.before[at]


def _tell(analysis: Analysis, calls: Table, instance: Ints, last: _Earliest, root: _Earliest, first: _Earliest) -> None:
    rank = _own_rank(analysis, calls)
    is_root = (calls["peer"] == rank).astype(np.int64)
    before = analysis.surroundings.before(calls["location"], calls["enter"])
    columns = (instance, calls["enter"], calls["location"], before, is_root)
    for each in rounds(analysis.ranks, instance % analysis.ranks.size, analysis.options.chunk):
        which, enter, location, path, at_root = np.ascontiguousarray(each.ask(*columns).T)
        last.tell(which, -enter, location, path)
        for keeper, chosen in ((root, at_root != 0), (first, at_root == 0)):
            keeper.tell(which[chosen], enter[chosen], location[chosen], path[chosen])


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


def _ask(analysis: Analysis, calls: Table, instance: Ints, last: _Earliest, root: _Earliest, first: _Earliest) -> None:
    """Fetch what each call waited for, and add the wait."""
    is_root = calls["peer"] == _own_rank(analysis, calls)
    kind = calls["kind"]
    waits_for = np.maximum(kind - _ROOT + 1, 0)
    waiting = (kind < _ROOT) | ((kind == _ROOT) & ~is_root) | ((kind == _FIRST) & is_root)
    concerned = np.flatnonzero((calls["waits"] >= 0) & waiting)
    longest = [Longest(metric, analysis.trace) for metric, _ in _KINDS[:_SCAN]]
    for each in rounds(analysis.ranks, instance[concerned] % analysis.ranks.size, analysis.options.chunk):
        which, what = np.ascontiguousarray(each.ask(instance[concerned], waits_for[concerned]).T)
        answers = [keeper.of(which) for keeper in (last, root, first)]
        time, cause, before = (np.choose(what, [answer[k] for answer in answers]) for k in range(3))
        time = np.where(what == 0, -time, time)
        found = each.answer(time, cause, before)
        mine = concerned[each.sent]
        _offer(calls["waits"][mine], kind[mine], found, longest)
    for one in longest:
        one.add_to(analysis.waits)


def _offer(call: Ints, kind: Ints, found: Ints, longest: list[Longest]) -> None:
    time, cause, before = found.T
    for number, one in enumerate(longest):
        chosen = np.flatnonzero((kind == number) & (np.abs(time) < _NONE))
        one.offer(call[chosen], time[chosen], cause[chosen], before[chosen])


def _ask_some(analysis: Analysis, calls: Table, instance: Ints) -> None:
    """Add the waits in calls that wait for some of the others only: of lower rank, or neighbours."""
    trace, size, chunk = analysis.trace, analysis.ranks.size, analysis.options.chunk
    kind = calls["kind"]
    rank = _own_rank(analysis, calls)
    at = np.where(kind == _SCAN, rank, calls["location"].astype(np.int64))
    some = np.flatnonzero(kind >= _SCAN)
    if analysis.ranks.most(np.array([len(some)]))[0] == 0:
        return
    before = analysis.surroundings.before(calls["location"][some], calls["enter"][some])
    columns = (instance[some], at[some], calls["enter"][some], calls["location"][some], before)
    came = [each.ask(*columns) for each in rounds(analysis.ranks, instance[some] % size, chunk)]
    arrivals = _Arrivals(np.concatenate([np.empty((0, 5), dtype=np.int64), *came]))
    waiting = some[calls["waits"][some] >= 0]
    sources = [
        trace.groups[at - trace.first].get(group, ()) if number == _NEIGHBOUR else (own,)
        for at, group, number, own in zip(
            *(values[waiting].tolist() for values in (calls["location"], calls["peer"], kind, rank)), strict=True
        )
    ]
    row = np.repeat(waiting, [len(one) for one in sources])
    whom = np.array([one for members in sources for one in members], dtype=np.int64)
    longest = {number: Longest(_KINDS[number][0], trace) for number in (_SCAN, _NEIGHBOUR)}
    for each in rounds(analysis.ranks, instance[row] % size, chunk):
        mine = row[each.sent]
        which, place, is_scan = np.ascontiguousarray(each.send(instance[mine], whom[each.sent], kind[mine] == _SCAN).T)
        found = each.answer(*arrivals.of(which, place, is_scan != 0))
        for number, one in longest.items():
            kept = np.flatnonzero((kind[mine] == number) & (found[:, 1] >= 0))
            one.offer(calls["waits"][mine[kept]], *found[kept].T)
    for one in longest.values():
        one.add_to(analysis.waits)


class _Arrivals:
    """When each member came to each instance that this process keeps; `rows`: instance, member, time, location, path before."""

    def __init__(self, rows: Ints) -> None:
        self._rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        instance, _, time, location, _ = self._rows.T
        score = np.empty(len(rows), dtype=np.int64)
        score[np.lexsort((-location, time))] = np.arange(len(rows))
        group = np.cumsum(np.append(0, instance[1:] != instance[:-1])) if len(rows) else instance
        place = np.empty(len(rows), dtype=np.int64)
        place[score] = np.arange(len(rows))
        self._last = place[(np.maximum.accumulate(score + group * len(rows))) - group * len(rows)]

    def of(self, instance: Ints, member: Ints, is_scan: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        """Return when a member came, in a scan the last one up to it; its location, -1 if there is none; what it did before."""
        known, asked = pack([self._rows[:, 0], self._rows[:, 1]], [instance, member])
        at = np.searchsorted(known, asked)
        found = np.minimum(at, len(known) - 1)
        exists = known[found] == asked if len(known) else np.zeros(len(asked), dtype=bool)
        if len(known) == 0:
            return asked, np.full_like(asked, -1), asked
        found = np.where(is_scan, self._last[found], found)
        time, location, before = self._rows[found, 2:].T
        return time, np.where(exists, location, -1), before
