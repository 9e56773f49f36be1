"""Waits in collective calls: at barriers, fences and all-to-all operations, for a late root, of an early root."""

import numpy as np

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import group_starts, positions_within
from scalkit.trace.local.left_out import CALLS, missing_before
from scalkit.trace.local.part import LocalTrace, Table
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.formulas import Longest
from scalkit.trace.waits.functions import BARRIER, FENCE, FIRST_TO_ALL, NXN, TO_ROOT, begun
from scalkit.trace.waits.progress_waits import Analysis

_KINDS = (
    ("wait_at_barrier", BARRIER),
    ("wait_at_nxn", NXN),
    ("wait_at_fence", FENCE),
    ("late_broadcast", FIRST_TO_ALL),
    ("early_reduce", TO_ROOT),
)
_NONE = 1 << 62


def waits_in_collectives(analysis: Analysis) -> None:
    """Add the waits in collective calls, and in those that complete what one began that does not wait.

    Calls belong together by their communicator, or window, and their place in the order of all such calls on it. At a
    barrier, a fence and an operation from all to all a process waits until the last one has entered; at a broadcast until
    the root has; the root of a reduction until the first other process has. Of several operations that one call completes
    the longest wait counts.
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


def _calls(analysis: Analysis) -> Table:
    """Return the collective calls in order of location, scope and number, with their ordinal and kind."""
    trace = analysis.trace
    kind_of_path = np.full(len(trace.definitions.paths), -1, dtype=np.int8)
    for number, (_, names) in enumerate(_KINDS):
        kind_of_path[trace.definitions.paths_in(names | begun(names))] = number
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
    waits_for = np.where(kind <= 2, 0, np.where(kind == 3, 1, 2))
    concerned = np.flatnonzero((calls["waits"] >= 0) & ((kind <= 2) | ((kind == 3) & ~is_root) | ((kind == 4) & is_root)))
    longest = [Longest(metric, analysis.trace) for metric, _ in _KINDS]
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
