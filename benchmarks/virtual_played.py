"""Plays the messages of processes on a LogGP machine, one after another, as the layer of virtual time lets them pass.

A process is a generator. It yields ``Send(to, bytes)`` and ``Receive(source)``, each of which gives it a number, and
``Wait(numbers)``, which lasts until all of these are done; reading happens while it waits. Messages from one process are
matched in the order in which they were sent.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["WIRES", "Machine", "Played", "Process", "Receive", "Send", "Wait", "Wire", "play"]


class Send(NamedTuple):
    """Begins to send; done when the buffer is free."""

    to: int
    n_bytes: float
    how: Literal["", "synchronous", "packed"] = ""


class Receive(NamedTuple):
    """Begins to receive."""

    source: int


class Wait(NamedTuple):
    """Lasts until all are done."""

    numbers: tuple[int, ...]


Process = Generator["Send | Receive | Wait", int, None]


@dataclass(frozen=True)
class Machine:
    """LogGP in ns and ns/B."""

    L: float = 2000.0
    o: float = 500.0
    g: float = 300.0
    G: float = 0.1


@dataclass(frozen=True)
class Wire:
    """What a library puts on the wire for a message, in bytes.

    Attributes
    ----------
    header : int
        Of a message that is sent at once.
    limit : float
        Larger ones are sent another way.
    request, answer, header_beyond, finished : int
        There: request, its answer, header of the data, and what follows them. No request: the data go at once, and the receiver
        answers.
    first, agreed, fragment : int
        Of data that are not contiguous: bytes that come with the request, the answer, and bytes of each fragment that follows.
    looks_again : bool
        Whether it looks for messages until there are none, before the program goes on.
    """

    header: int
    limit: float
    request: int = 0
    answer: int = 0
    header_beyond: int = 0
    finished: int = 0
    first: int = 0
    agreed: int = 0
    fragment: int = 0
    looks_again: bool = False

    def time(self, n_bytes: float, machine: Machine) -> float:
        """Return the time of a message whose receiver waits for it, in ns."""
        hop = 2 * machine.o + machine.L
        if n_bytes <= self.limit:
            return hop + machine.G * (n_bytes + self.header)
        data = hop + machine.G * (n_bytes + self.header_beyond)
        if not self.request:
            return data + machine.o
        last = max(machine.o, machine.g + machine.G * (n_bytes + self.header_beyond)) - machine.G * (
            n_bytes + self.header_beyond
        )
        return 2 * hop + machine.G * (self.request + self.answer + self.finished) + data + last


WIRES = {
    "MPICH": Wire(32, 65536, 0, 16, 32),
    "Open MPI": Wire(22, 65522, 40, 64, 24, 32, 65456, 48, 131072, looks_again=True),
}
"""Seen by writing down what the libraries write: MPICH 5.0.2 over libfabric, Open MPI 5.0.11's BTL tcp."""


@dataclass(frozen=True)
class Played:
    """When each process was done, in ns, and how many messages it sent."""

    done: tuple[float, ...]
    messages: tuple[int, ...]

    @property
    def time(self) -> float:
        """When the last one was done."""
        return max(self.done)


@dataclass(order=True)
class _Message:
    arrival: float
    source: int
    count: int
    kind: str = field(compare=False)
    n_bytes: float = field(compare=False)
    number: int = field(compare=False)
    ready: float = field(compare=False, default=math.inf)


@dataclass
class _Rank:
    process: Process
    clock: float = 0.0
    card: float = 0.0
    received: float = -math.inf
    inbox: list[_Message] = field(default_factory=list)
    posted: dict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    unexpected: dict[int, deque[tuple[str, int]]] = field(default_factory=lambda: defaultdict(deque))
    open: set[int] = field(default_factory=set)
    waits: tuple[int, ...] = ()
    answer: int | None = None
    batch: list[_Message] = field(default_factory=list)
    put_off: list[tuple[int, str, float, int]] = field(default_factory=list)
    looks_again: bool = False
    sent: int = 0
    is_over: bool = False
    turn: int = 0

    @property
    def is_waiting(self) -> bool:
        return any(one in self.open for one in self.waits)


class _Play:
    def __init__(self, processes: Sequence[Process], machine: Machine, wire: Wire):
        self.machine, self.wire = machine, wire
        self.ranks = [_Rank(one) for one in processes]
        self.sizes: dict[int, tuple[int, int, float]] = {}
        self.count = 0
        self.agenda: list[tuple[float, int, int]] = []

    # ---- messages

    def transmit(self, me: int, to: int, kind: str, n_bytes: float, number: int) -> None:
        rank, m = self.ranks[me], self.machine
        rank.clock += m.o
        passed = max(rank.card, rank.clock) + m.G * n_bytes
        rank.card = passed + m.g
        rank.sent += 1
        self.count += 1
        bisect.insort(self.ranks[to].inbox, _Message(passed + m.L, me, self.count, kind, n_bytes, number))
        self.plan(to)

    def begin(self, me: int, action: Send | Receive) -> int:
        rank = self.ranks[me]
        self.count += 1
        number = self.count
        if isinstance(action, Receive):
            rank.open.add(number)
            if rank.unexpected[action.source]:
                self.match(me, number, action.source, *rank.unexpected[action.source].popleft())
                self.respond(me)
            else:
                rank.posted[action.source].append(number)
            return number
        to, n_bytes, how = action
        wire = self.wire
        if (n_bytes <= wire.limit and how != "synchronous") or (how == "packed" and not wire.request):
            self.transmit(me, to, "eager", n_bytes + wire.header, number)
            return number
        rank.open.add(number)
        self.sizes[number] = (to, 0, n_bytes)
        if wire.request and how:
            first = min(n_bytes, wire.first)
            self.sizes[number] = (to, 0, n_bytes - first)
            self.transmit(me, to, "agree", wire.request + first, number)
        elif wire.request:
            self.transmit(me, to, "request", wire.request, number)
        else:
            self.transmit(me, to, "answered", n_bytes + wire.header_beyond, number)
        return number

    def match(self, me: int, number: int, source: int, kind: str, other: int) -> None:
        rank = self.ranks[me]
        if kind in ("request", "agree"):
            rest = self.sizes[other][2]
            self.sizes[other] = (me, number, rest)
            if kind == "request":
                rank.put_off.append((source, "answer", self.wire.answer, other))
            else:
                rank.put_off.append((source, "agreed", self.wire.agreed, other))
        if kind == "eager" or kind == "answered" or (kind == "agree" and rest == 0):
            rank.open.discard(number)

    def read(self, me: int, message: _Message) -> None:
        rank, wire, number = self.ranks[me], self.wire, message.number
        rank.inbox.remove(message)
        rank.clock += self.machine.o
        if message.kind == "answer" and wire.request:
            to, other, size = self.sizes[number]
            rank.put_off += [(to, "data", size + wire.header_beyond, 0), (to, "finished", wire.finished, other)]
            rank.open.discard(number)
        elif message.kind == "agreed":
            to, other, rest = self.sizes[number]
            while rest > 0:
                part = min(rest, wire.fragment)
                rest -= part
                rank.put_off.append((to, "data" if rest else "finished", part + wire.request, other))
            rank.open.discard(number)
        elif message.kind in ("answer", "finished"):
            rank.open.discard(number)
        elif message.kind != "data":
            if message.kind == "answered":
                rank.put_off.append((message.source, "answer", wire.answer, number))
            if rank.posted[message.source]:
                self.match(me, rank.posted[message.source].popleft(), message.source, message.kind, number)
            else:
                rank.unexpected[message.source].append((message.kind, number))

    def respond(self, me: int) -> None:
        """Send what the messages that were read call for."""
        rank = self.ranks[me]
        for one in rank.put_off:
            self.transmit(me, *one)
        rank.put_off.clear()

    # ---- time

    def when_ready(self, rank: _Rank, message: _Message) -> float:
        if message.ready < math.inf:
            return message.ready
        return max(message.arrival, rank.received + self.machine.g + self.machine.G * message.n_bytes)

    def there(self, rank: _Rank) -> list[_Message]:
        """Return the messages that one look finds: of each connection one."""
        found: dict[int, _Message] = {}
        for message in rank.inbox:
            if message.ready == math.inf and message.arrival <= rank.clock:
                message.ready = rank.received = self.when_ready(rank, message)
            if message.ready <= rank.clock:
                found.setdefault(message.source, message)
        return list(found.values())

    def plan(self, me: int) -> None:
        """Note when a process does its next step."""
        rank = self.ranks[me]
        if rank.is_over:
            return
        rank.turn += 1
        when = rank.clock
        if not rank.batch and not rank.looks_again and rank.is_waiting:
            if not rank.inbox:
                return
            when = max(when, self.when_ready(rank, rank.inbox[0]))
        heapq.heappush(self.agenda, (when, me, rank.turn))

    def step(self, me: int, now: float) -> None:
        rank = self.ranks[me]
        rank.clock = max(rank.clock, now)
        if rank.batch:
            self.read(me, rank.batch.pop(0))
            if not rank.batch:
                self.respond(me)
        elif rank.looks_again or rank.is_waiting:
            rank.batch = self.there(rank)
            rank.looks_again = bool(rank.batch) and self.wire.looks_again
        else:
            try:
                action = next(rank.process) if rank.answer is None else rank.process.send(rank.answer)
            except StopIteration:
                rank.is_over = True
                return
            if isinstance(action, Wait):
                rank.waits, rank.answer = action.numbers, 0
            else:
                rank.waits, rank.answer = (), self.begin(me, action)
        self.plan(me)

    def run(self) -> Played:
        for me in range(len(self.ranks)):
            self.plan(me)
        while self.agenda:
            now, me, turn = heapq.heappop(self.agenda)
            if turn == self.ranks[me].turn and not self.ranks[me].is_over:
                self.step(me, now)
        if stuck := [me for me, rank in enumerate(self.ranks) if not rank.is_over]:
            raise RuntimeError(f"processes {stuck} wait for ever; their schedules do not fit")
        return Played(tuple(one.clock for one in self.ranks), tuple(one.sent for one in self.ranks))


def play(
    program: Callable[[int, int, int], Process], P: int, S: int, wire: Wire, machine: Machine | None = None
) -> Played:
    """Return what becomes of ``program(rank, P, S)`` on `P` processes."""
    return _Play([program(me, P, S) for me in range(P)], machine or Machine(), wire).run()
