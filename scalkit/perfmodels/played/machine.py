"""Plays the messages of processes on a LogGP machine, one after another, as the layer of virtual time lets them pass.

Open MPI sends large data not when it has read the answer that asks for them, but when its next look finds room in the network
card, which is given 4 MiB at most; the order in which it looks at connections is part of the play.
"""

import bisect
import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scalkit.perfmodels.played.steps import Compute, Process, Receive, Send, Wait, WaitAny


@dataclass(frozen=True)
class Machine:
    """LogGP in whole ps, and ps/B: it matters which of two messages is the first."""

    L: int
    o: int
    g: int
    G: float
    hop: int = 0
    tree: int = 0
    routers: int = 0
    hosts: int = 1

    @classmethod
    def of(cls, L: float, o: float, g: float, G: float, hop: float = 0.0, **switches: int) -> "Machine":
        """Return the machine with these numbers in s and s/B; `switches` as in `scalkit.bench.virtual.network`."""
        return cls(round(1e12 * L), round(1e12 * o), round(1e12 * g), round(1e12 * G, 9), round(1e12 * hop), **switches)

    def latency(self, one: int, other: int) -> int:
        """Return L and what the switches between two processes add, as the layer of virtual time does it."""
        hops = 0
        if self.tree:
            one, other = one // self.tree, other // self.tree
            while one != other:
                one, other, hops = one // self.tree, other // self.tree, hops + 2
        elif self.routers:
            (mine, a), (its, b) = divmod(one // self.hosts, self.routers), divmod(other // self.hosts, self.routers)
            gates = (its - (its > mine)) % self.routers, (mine - (mine > its)) % self.routers
            hops = int(a != b) if mine == its else 1 + (a != gates[0]) + (b != gates[1])
        return self.L + self.hop * hops

    def passing(self, n_bytes: int) -> int:
        """Return how long bytes take to pass, in ps, rounded as the layer of virtual time does it."""
        return math.floor(n_bytes * self.G + 0.5)


@dataclass(frozen=True)
class Wire:
    """What a library puts on the wire for a message, in bytes.

    `header`: of a message that is sent at once.
    `limit`: larger ones are sent another way.
    `request`, `answer`, `header_beyond`, `finished`: there: request, its answer, header of the data, and what follows
    them. No request: the data go at once, and the receiver answers.
    `first`, `agreed`, `fragment`: of data that are not contiguous: bytes that come with the request, the answer, and
    bytes of each fragment that follows.
    `looks_again`: whether it looks for messages until there are none, before the program goes on.
    """

    header: int
    limit: int
    request: int = 0
    answer: int = 0
    header_beyond: int = 0
    finished: int = 0
    first: int = 0
    agreed: int = 0
    fragment: int = 0
    looks_again: bool = False


WIRES = {"MPICH": Wire(32, 65536, 0, 16, 32), "Open MPI": Wire(22, 65522, 40, 64, 24, 32, 65456, 48, 131040, looks_again=True)}
"""By `Mpi.kind`; seen by writing down what the libraries write: MPICH 5.0.2 over libfabric, Open MPI 5.0.11's BTL tcp."""


_BACKLOG, _FEWEST_GAPS = 4 << 20, 256
"""Bytes, or gaps, that may wait for a network card, as in the layer."""

_NEXT_CALL = 10**12
"""When a process that is done calls the library again, in ps: after a second."""


class Passed(NamedTuple):
    """A message on the wire: when its sender began with it and when it arrived, in ps."""

    source: int
    to: int
    n_bytes: int
    sent: int
    arrival: int


@dataclass(frozen=True)
class Played:
    """When each process was done, in ns, how many messages it sent, receivers and bytes of its sends, and what passed."""

    done: tuple[float, ...]
    messages: tuple[int, ...]
    sends: tuple[tuple[tuple[int, int], ...], ...]
    wire: tuple[Passed, ...]

    @property
    def time(self) -> float:
        """When the last one was done."""
        return max(self.done)


@dataclass(order=True)
class _Message:
    arrival: int
    source: int
    count: int
    kind: str = field(compare=False)
    n_bytes: int = field(compare=False)
    number: int = field(compare=False)
    ready: float = field(compare=False, default=math.inf)


class _Held(NamedTuple):
    """What waits for the next look: a message, the request that is done when it has left, and that of the end behind it."""

    kind: str
    n_bytes: int
    number: int
    done: int = 0
    end: int = 0


@dataclass
class _Rank:
    process: Process
    clock: int = 0
    settled: int = 0
    card: int = 0
    received: float = -math.inf
    inbox: list[_Message] = field(default_factory=list)
    posted: dict[tuple[int, int], deque[int]] = field(default_factory=lambda: defaultdict(deque))
    unexpected: dict[tuple[int, int], deque[tuple[str, int]]] = field(default_factory=lambda: defaultdict(deque))
    open: set[int] = field(default_factory=set)
    waits: tuple[int, ...] = ()
    waits_for_any: bool = False
    answer: int | None = None
    batch: list[_Message | int] = field(default_factory=list)
    held: dict[int, deque[_Held]] = field(default_factory=dict)
    looks_again: bool = False
    sent: int = 0
    sends: list[tuple[int, int]] = field(default_factory=list)
    over: tuple[int, int] | None = None
    turn: int = 0

    @property
    def is_waiting(self) -> bool:
        left = [one in self.open for one in self.waits]
        return bool(left) and (all(left) if self.waits_for_any else any(left))

    def result(self) -> int:
        """Return what the process is told: the number of what it began, or that of the first that is done."""
        if self.waits and self.waits_for_any:
            return next(one for one in self.waits if one not in self.open)
        return self.answer or 0


class _Play:
    def __init__(self, processes: Sequence[Process], machine: Machine, wire: Wire):
        self.machine, self.wire = machine, wire
        self.ranks = [_Rank(one) for one in processes]
        self.sizes: dict[int, tuple[int, int, int]] = {}
        self.tags: dict[int, int] = {}
        self.count = 0
        self.agenda: list[tuple[float, int, int]] = []
        self.passed: list[Passed] = []

    # ---- messages

    def transmit(self, me: int, to: int, kind: str, n_bytes: int, number: int) -> None:
        rank, m, began = self.ranks[me], self.machine, self.ranks[me].clock
        rank.clock += m.o
        passed = max(rank.card, rank.clock) + m.passing(n_bytes)
        rank.card = passed + m.g
        rank.sent += 1
        self.count += 1
        arrival = passed + m.latency(me, to)
        self.passed.append(Passed(me, to, n_bytes, began, arrival))
        bisect.insort(self.ranks[to].inbox, _Message(arrival, me, self.count, kind, n_bytes, number))
        self.plan(to)

    def room_from(self, rank: _Rank) -> int:
        """Return when the network card takes more."""
        return rank.card - max(self.machine.passing(_BACKLOG), _FEWEST_GAPS * self.machine.g)

    def post(self, me: int, to: int, kind: str, n_bytes: int, number: int) -> None:
        """Send at once, unless something else for the same process waits already."""
        rank = self.ranks[me]
        if to not in rank.held and self.room_from(rank) <= rank.clock:
            self.transmit(me, to, kind, n_bytes, number)
        else:
            rank.held.setdefault(to, deque()).append(_Held(kind, n_bytes, number))

    def write(self, me: int, to: int) -> None:
        """Send what waits for a process."""
        rank = self.ranks[me]
        held = rank.held[to]
        while held and self.room_from(rank) <= rank.clock:
            one = held.popleft()
            self.transmit(me, to, one.kind, one.n_bytes, one.number)
            rank.open.discard(one.done)
            if one.end:
                held.append(_Held("finished", self.wire.finished, one.end))
        if not held:
            del rank.held[to]

    def begin(self, me: int, action: Send | Receive) -> int:
        rank = self.ranks[me]
        self.count += 1
        number = self.count
        if isinstance(action, Receive):
            rank.open.add(number)
            if rank.unexpected[action]:
                self.match(me, number, action.source, *rank.unexpected[action].popleft())
            else:
                rank.posted[action].append(number)
            return number
        to, n_bytes, how, tag = action
        if tag:
            self.tags[number] = tag
        rank.sends.append((to, n_bytes))
        wire = self.wire
        if (n_bytes <= wire.limit and how != "synchronous") or (how == "packed" and not wire.request):
            self.post(me, to, "eager", n_bytes + wire.header, number)
            return number
        rank.open.add(number)
        self.sizes[number] = (to, 0, n_bytes)
        if wire.request and how:
            first = min(n_bytes, wire.first)
            self.sizes[number] = (to, 0, n_bytes - first)
            self.post(me, to, "agree", wire.request + first, number)
        elif wire.request:
            self.post(me, to, "request", wire.request, number)
        else:
            self.post(me, to, "answered", n_bytes + wire.header_beyond, number)
        return number

    def match(self, me: int, number: int, source: int, kind: str, other: int) -> None:
        rank = self.ranks[me]
        rest = 0
        if kind in ("request", "agree"):
            rest = self.sizes[other][2]
            self.sizes[other] = (me, number, rest)
            is_answer = kind == "request"
            self.post(me, source, *(("answer", self.wire.answer) if is_answer else ("agreed", self.wire.agreed)), other)
        if kind in ("eager", "answered") or (kind == "agree" and rest == 0):
            rank.open.discard(number)

    def read(self, me: int, message: _Message) -> None:
        rank, wire, number = self.ranks[me], self.wire, message.number
        rank.inbox.remove(message)
        rank.clock += self.machine.o
        if message.kind == "answer" and wire.request:
            to, other, size = self.sizes[number]
            data = _Held("data", size + wire.header_beyond, 0, number, other)
            rank.held.setdefault(to, deque()).append(data)
        elif message.kind == "agreed":
            to, other, rest = self.sizes[number]
            if rest <= 0:
                rank.open.discard(number)
            while rest > 0:
                part = min(rest, wire.fragment)
                rest -= part
                piece = _Held("data" if rest else "finished", part + wire.request, other, 0 if rest else number)
                rank.held.setdefault(to, deque()).append(piece)
        elif message.kind in ("answer", "finished"):
            rank.open.discard(number)
        elif message.kind != "data":
            if message.kind == "answered":
                self.post(me, message.source, "answer", wire.answer, number)
            key = message.source, self.tags.get(number, 0)
            if rank.posted[key]:
                self.match(me, rank.posted[key].popleft(), message.source, message.kind, number)
            else:
                rank.unexpected[key].append((message.kind, number))

    # ---- time

    def when_ready(self, rank: _Rank, message: _Message) -> float:
        if message.ready < math.inf:
            return message.ready
        return max(message.arrival, rank.received + self.machine.g + self.machine.passing(message.n_bytes))

    def there(self, rank: _Rank) -> list[_Message | int]:
        """Return what one look finds: of each connection one message, and processes for which something can be sent."""
        found: dict[int, _Message] = {}
        for message in rank.inbox:
            if message.ready == math.inf and message.arrival <= rank.settled:
                message.ready = rank.received = self.when_ready(rank, message)
            if message.ready <= rank.clock:
                found.setdefault(message.source, message)
        writable = list(rank.held) if self.room_from(rank) <= rank.clock else []
        events: list[_Message | int] = []
        for source, message in found.items():
            events += [source, message] if source in writable else [message]
        return events + [to for to in writable if to not in found]

    def look(self, rank: _Rank) -> list[_Message | int]:
        """Return what there is; what came since the last look that found nothing counts only when there is nothing else."""
        found = self.there(rank)
        if not found and rank.clock > rank.settled:
            rank.settled = rank.clock
            found = self.there(rank)
        return found

    def plan(self, me: int) -> None:
        """Note when a process does its next step."""
        rank = self.ranks[me]
        if rank.over:
            return
        rank.turn += 1
        when: float = rank.clock
        if not rank.batch and not rank.looks_again and rank.is_waiting:
            comes = self.when_ready(rank, rank.inbox[0]) if rank.inbox else math.inf
            when = max(when, min(comes, self.room_from(rank) if rank.held else math.inf))
            if when == math.inf:
                return
        heapq.heappush(self.agenda, (when, me, rank.turn))

    def step(self, me: int, now: float) -> None:
        rank = self.ranks[me]
        if now > rank.clock:
            rank.clock = rank.settled = int(now)
        if rank.over:
            for to in list(rank.held):
                self.write(me, to)
            return
        if rank.batch:
            event = rank.batch.pop(0)
            if isinstance(event, _Message):
                self.read(me, event)
            elif event in rank.held:
                self.write(me, event)
        elif rank.looks_again or rank.is_waiting:
            rank.batch = self.look(rank)
            rank.looks_again = bool(rank.batch) and self.wire.looks_again
        else:
            self.go_on(me)
        self.plan(me)

    def go_on(self, me: int) -> None:
        """Let the program of a process go on, or note that it is over."""
        rank = self.ranks[me]
        try:
            action = next(rank.process) if rank.answer is None else rank.process.send(rank.result())
        except StopIteration:
            rank.over = rank.clock, rank.sent
            if rank.held:
                heapq.heappush(self.agenda, (_NEXT_CALL, me, rank.turn))
            return
        if isinstance(action, (Wait, WaitAny)):
            rank.waits, rank.waits_for_any = tuple(filter(None, action.numbers)), isinstance(action, WaitAny)
            rank.answer = 0
        elif isinstance(action, Compute):
            rank.clock += action.time
            rank.waits, rank.answer = (), 0
        else:
            rank.waits, rank.answer = (), self.begin(me, action)

    def run(self) -> Played:
        for me in range(len(self.ranks)):
            self.plan(me)
        while self.agenda:
            now, me, turn = heapq.heappop(self.agenda)
            if turn == self.ranks[me].turn:
                self.step(me, now)
        if stuck := [me for me, rank in enumerate(self.ranks) if not rank.over]:
            raise RuntimeError(f"processes {stuck} wait for ever; their schedules do not fit")
        clocks, sent = zip(*(one.over for one in self.ranks if one.over), strict=True)
        sends = tuple(tuple(one.sends) for one in self.ranks)
        return Played(tuple(clock / 1000 for clock in clocks), sent, sends, tuple(self.passed))


def play_all(processes: Sequence[Process], wire: Wire, machine: Machine) -> Played:
    """Return what becomes of these processes; RuntimeError if some wait for ever."""
    return _Play(processes, machine, wire).run()


def play(program: Callable[[int, int, int], Process], P: int, S: int, wire: Wire, machine: Machine) -> Played:
    """Return what becomes of ``program(rank, P, S)`` on `P` processes."""
    return play_all([program(me, P, S) for me in range(P)], wire, machine)
