"""Causes of waits by brute force: every nanosecond looked at, costs as fractions. It shares nothing with scalkit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from oracle import MEETINGS, SOME, Held, awaited, held_locks, progress, requests
from random_traces import EXCLUSIVE, Call, begun

Path = tuple[str, ...]
METRICS = MEETINGS | SOME


@dataclass(frozen=True)
class Edge:
    """Somebody waited for somebody; `scope` is that of an operation in which all meet, or -1."""

    waiter: int
    cause: int
    begin: int
    until: int
    scope: int = -1


def longest(offers: Sequence[tuple[Call, int, int, int]]) -> list[Edge]:
    """Return the longest wait of each call, of equal ones that with the smallest cause."""
    best: dict[int, Edge] = {}
    for call, cause, until, scope in offers:
        one = Edge(call.location, cause, call.enter, min(until, call.leave), scope)
        known = best.get(id(call))
        if one.until > one.begin and (known is None or (-one.until, cause) < (-known.until, known.cause)):
            best[id(call)] = one
    return list(best.values())


def completing(everything: list[list[Call]], call: Call) -> Call | None:
    if call.is_blocking:
        return call
    return next((one for one in everything[call.location] if any(end is call for end in one.ends)), None)


def of_messages(everything: list[list[Call]]) -> list[Edge]:
    queues: dict[tuple[str, int, int, int], list[Call]] = defaultdict(list)
    for location, calls in enumerate(everything):
        for call in calls:
            for operation, peer, tag in call.transfers:
                if operation in ("send", "receive"):
                    pair = (location, peer) if operation == "send" else (peer, location)
                    queues[operation, *pair, tag].append(call)
    sender, receiver = [], []
    for (operation, source, target, tag), sends in list(queues.items()):
        if operation == "send":
            for send, receive in zip(sends, queues.get(("receive", source, target, tag), []), strict=False):
                if (done := completing(everything, receive)) is not None:
                    sender.append((done, source, send.enter, -1))
                if (done := completing(everything, send)) is not None and receive.enter <= done.leave:
                    receiver.append((done, target, receive.enter, -1))
    return longest(sender) + longest(receiver)


def of_collectives(everything: list[list[Call]]) -> list[Edge]:
    names = {name: name for name in (*MEETINGS, "MPI_Bcast", "MPI_Reduce", *SOME)}
    names |= {begun(name): name for name in names}
    offers: dict[str, list[tuple[Call, int, int, int]]] = defaultdict(list)
    for together in zip(*([call for call in calls if call.name in names] for calls in everything), strict=True):
        name, root = names[together[0].name], together[0].peer
        others = [one for one in together if one.location != root]
        for begin in together:
            call = begin if begin.name == name else completing(everything, begin)
            if call is None:
                continue
            if name in MEETINGS:
                cause = min(together, key=lambda one: (-one.enter, one.location))
            elif name == "MPI_Bcast" and begin.location != root:
                cause = together[root]
            elif name == "MPI_Reduce" and begin.location == root and others:
                cause = min(others, key=lambda one: (one.enter, one.location))
            elif name == "MPI_Neighbor_alltoall":  # each neighbour is waited for by itself
                those = [one for one in together if awaited(name, begin, one)]
                offers[METRICS[name]] += [(call, one.location, one.enter, -1) for one in those]
                continue
            elif name in SOME and (those := [one for one in together if awaited(name, begin, one)]):
                cause = min(those, key=lambda one: (-one.enter, one.location))
            else:
                continue
            offers[METRICS.get(name, name)].append((call, cause.location, cause.enter, call.scope if name in MEETINGS else -1))
    return [edge for found in offers.values() for edge in longest(found)]


def earlier_locks(held: list[Held], number: int) -> list[Call]:
    """Return the unlocks that a lock had to wait for: of locks of the same target that ended before, in this order."""

    def order(k: int) -> tuple[int, int, bool, int]:
        return held[k][3].leave, held[k][3].location, held[k][2].name == "MPI_Win_lock_all", k

    target, exclusive, _, _ = held[number]
    those = [k for k, (other, hard, _, _) in enumerate(held) if other == target and (hard or exclusive)]
    return [held[k][3] for k in those if order(k) < order(number)]


def of_windows(everything: list[list[Call]]) -> list[Edge]:
    locks = []
    for k, (_, _, lock, unlock) in enumerate(held := held_locks(everything)):
        if ends := earlier_locks(held, k):
            last = min(ends, key=lambda one: (-one.enter, one.location))
            locks += [(call, last.location, last.enter, -1) for call in (lock, unlock)]
    found = longest(locks)
    starts, posts = (
        [(call, member) for calls in everything for call in calls if call.name == name for member in call.group]
        for name in ("MPI_Win_start", "MPI_Win_post")
    )
    late, early = [], []
    for start, target in starts:
        nth = [one for one, member in starts if one.location == start.location and member == target].index(start)
        post = [one for one, member in posts if one.location == target and member == start.location][nth]
        complete, wait = after(everything, start, "MPI_Win_complete"), after(everything, post, "MPI_Win_wait")
        late += [(call, target, post.enter, -1) for call in (start, complete)]
        early.append((wait, start.location, complete.enter, -1))
    return found + longest(late) + longest(early)


def after(everything: list[list[Call]], call: Call, name: str) -> Call:
    calls = everything[call.location]
    place = next(k for k, one in enumerate(calls) if one is call)
    return next(one for one in calls[place:] if one.name == name)


def of_targets(call: Call, since: dict[int, int], a: int, spans: list[list[tuple[int, int]]]) -> list[Edge]:
    """Return the times from a on in which none of the first progresses lasts, each with the target that ended it."""
    firsts = []
    for target in sorted(since):
        ended = [span for span in spans[target] if span[1] >= since[target]]
        if ended and ended[0][0] <= call.leave:
            firsts.append((*ended[0], target))
    found, free = [], a
    for start, end, target in sorted(firsts):
        if start > free:
            found.append(Edge(call.location, target, free, start))
        free = max(free, end)
    return found


def of_progress(everything: list[list[Call]]) -> list[Edge]:
    spans = [progress(calls, ()) for calls in everything]
    until: dict[tuple[int, int], int] = {}
    for k, (target, _, lock, unlock) in enumerate(held := held_locks(everything)):
        for call in (lock, unlock):
            times = [end.enter for end in earlier_locks(held, k)]
            until[id(call), target] = max([until.get((id(call), target), 0), *times])
    found = []
    for location, calls in enumerate(everything):
        asked = requests(calls)
        for call, posted in asked:
            since = {target: min(time, call.enter) for target, time in posted.items()}
            found += of_targets(call, since, call.enter, spans)
        busy = {id(call) for call, _ in asked}
        for call in calls:
            targets = {call.peer % EXCLUSIVE} if call.name in ("MPI_Win_lock", "MPI_Win_unlock") else set()
            if call.name in ("MPI_Win_lock_all", "MPI_Win_unlock_all"):
                targets = set(range(len(everything)))
            targets -= {location}
            if targets and id(call) not in busy:
                since = {q: min(max(call.enter, until.get((id(call), q), 0)), call.leave) for q in targets}
                found += of_targets(call, since, max(since.values()), spans)
    return found


def edges(everything: list[list[Call]]) -> list[Edge]:
    """Return the waits that count, those of each location without overlap: that which ends last goes first."""
    found = of_messages(everything) + of_collectives(everything) + of_windows(everything) + of_progress(everything)
    found = [one for one in found if one.waiter != one.cause]
    kept: list[Edge] = []
    for one in sorted(found, key=lambda e: (-e.until, e.begin, e.cause, -e.scope)):
        if all(one.until <= other.begin for other in kept if other.waiter == one.waiter):
            kept.append(one)
    return sorted(kept, key=lambda e: (e.until, e.waiter))


class Causes:
    """What `regions` says is around calls: for each location begin, end and name."""

    def __init__(self, everything: list[list[Call]], regions: list[list[tuple[int, int, str]]]) -> None:
        self.calls, self.regions, self.edges = everything, regions, edges(everything)
        self.begin = min(call.enter for calls in everything for call in calls)
        self.ends = [max(call.leave for call in calls) for calls in everything]
        self.where = cache(self.where)  # type: ignore[method-assign]
        self.met = cache(self.met)  # type: ignore[method-assign]

    def where(self, location: int, time: int) -> Path:
        """Return what a location is in during the ns after a time."""
        inside = [call for call in self.calls[location] if call.enter <= time < call.leave]
        prefix = tuple(name for low, high, name in self.regions[location] if low <= time < high)
        if not inside:
            return prefix
        names = []
        call: Call | None = inside[-1]
        while call is not None:
            names.append(call.name)
            call = call.under
        around = tuple(n for low, high, n in self.regions[location] if low <= inside[0].enter and inside[0].leave <= high)
        return (*around, *reversed(names))

    def waiting(self, location: int, time: int) -> bool:
        return any(e.waiter == location and e.begin <= time < e.until for e in self.edges)

    def critical_path(self) -> Counter[tuple[Path, int]]:
        location, time = self.ends.index(max(self.ends)), max(self.ends)
        found: Counter[tuple[Path, int]] = Counter()
        limit = time + 1
        while True:
            earlier = [e for e in self.edges if e.waiter == location and e.until < limit]
            until = earlier[-1].until if earlier else self.begin
            found.update((self.where(location, t), location) for t in range(until, time))
            if not earlier:
                return found
            location, time, limit = earlier[-1].cause, until, until

    def met(self, edge: Edge) -> int:
        pair = {edge.waiter, edge.cause}
        times = [e.until for e in self.edges if e.until < edge.until and (e.scope >= 0 or {e.waiter, e.cause} == pair)]
        return min(max(times, default=self.begin), edge.begin)

    def delay_costs(self) -> dict[tuple[Path, int], Fraction]:
        costs: dict[Edge, Fraction] = {}
        found: dict[tuple[Path, int], Fraction] = defaultdict(Fraction)
        rate: dict[Edge, Fraction] = {}
        for edge in reversed(self.edges):
            since = self.met(edge)
            led_to = [e for e in costs if e.cause == edge.waiter and self.met(e) < edge.until < e.until]
            costs[edge] = (edge.until - edge.begin) * (1 + sum(rate[e] for e in led_to))
            excess: Counter[Path] = Counter()
            for t in range(since, edge.until):
                if not self.waiting(edge.cause, t):
                    excess[self.where(edge.cause, t)] += 1
            for t in range(since, edge.begin):
                if not self.waiting(edge.waiter, t):
                    excess[self.where(edge.waiter, t)] -= 1
            delays = +excess
            waits = [e for e in self.edges if e.waiter == edge.cause and since < e.until < edge.until]
            if not delays and not waits:
                delays[self.where(edge.cause, edge.until - 1)] = 1
            rate[edge] = costs[edge] / (sum(delays.values()) + sum(e.until - e.begin for e in waits))
            for path, time in delays.items():
                found[path, edge.cause] += rate[edge] * time
        return found

    def gain(self, path: Path, location: int) -> Fraction:
        """Return by how much the run is shorter if a location is a tenth faster in a path."""

        @cache
        def spent(until: int) -> int:
            times = range(self.begin, until)
            return sum(self.where(location, t) == path and not self.waiting(location, t) for t in times)

        @cache
        def earlier(who: int, time: int, strictly: bool) -> Fraction:
            ended = [e for e in self.edges if e.waiter == who and (e.until < time or (e.until == time and not strictly))]
            if not ended:
                return Fraction(spent(time), 10) if who == location else Fraction(0)
            last = ended[-1]
            here = [e for e in self.edges if e.scope >= 0 and (e.until, e.cause, e.scope) == (last.until, last.cause, last.scope)]
            ready = [last.until - earlier(last.cause, last.until, True)]
            ready += [e.begin - earlier(e.waiter, e.begin, False) for e in (here or [last])]
            more = Fraction(spent(time) - spent(last.until), 10) if who == location else 0
            return last.until - max(ready) + more

        return max(self.ends) - max(end - earlier(who, end, False) for who, end in enumerate(self.ends))
