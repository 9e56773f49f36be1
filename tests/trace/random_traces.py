"""Random traces: plain Python objects, written with TraceBuilder, and read by the oracle as they are."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from scalkit.trace import TraceBuilder

EXCLUSIVE = 1 << 30
WAITING = ("MPI_Win_fence", "MPI_Win_create", "MPI_Win_free", "MPI_Init", "MPI_Finalize")
COLLECTIVES = (*("MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Exscan"), *WAITING)
ALL = (*COLLECTIVES, "MPI_Neighbor_alltoall")


@dataclass
class Call:
    """A call of a location; `transfers` are (operation, peer, tag), `ends` the calls whose transfers it completes."""

    location: int
    name: str
    enter: int
    leave: int
    scope: int = -1
    peer: int = -1
    transfers: list[tuple[str, int, int]] = field(default_factory=list)
    is_blocking: bool = False
    ends: list[Call] = field(default_factory=list)
    group: tuple[int, ...] = ()
    under: Call | None = None


class Maker:
    """Makes the calls of one location one after the other; times may be equal, and calls may contain others."""

    def __init__(self, rng: random.Random, location: int, locations: int) -> None:
        self.rng, self.location, self.locations = rng, location, locations
        self.time = rng.randrange(30)
        self.calls: list[Call] = []
        self.posted: list[Call] = []
        self.unfenced: list[Call] = []
        self.outer: Call | None = None

    def call(self, name: str, scope: int = -1, peer: int = -1, **more: object) -> Call:
        enter = self.time + self.rng.choice([0, 0, 1, 3, 9, 25])
        leave = enter + self.rng.choice([0, 1, 2, 7, 20, 40])
        if self.outer is not None:
            enter, leave = min(enter, self.outer.leave), min(leave, self.outer.leave)
        self.time = leave
        made = Call(self.location, name, enter, leave, scope, peer, under=self.outer, **more)  # type: ignore[arg-type]
        self.calls.append(made)
        return made

    def other(self) -> int:
        return self.rng.randrange(self.locations)

    def step(self) -> None:
        """Do something that needs nobody else in the same order."""
        rng = self.rng
        what = rng.randrange(11)
        if what == 0 and self.outer is None:
            outer = self.call("ARMCI_Get", transfers=[("get", self.other(), 0)], is_blocking=True)
            self.outer, self.time = outer, outer.enter
            for _ in range(rng.randrange(3)):
                self.step()
            self.outer, self.time = None, outer.leave
        elif what <= 2:
            name, operation = rng.choice([("MPI_Put", "put"), ("MPI_Get_c", "get"), ("MPI_Accumulate", "accumulate")])
            self.call(name, 1, transfers=[(operation, self.other(), 0)])
        elif what == 3:
            self.posted.append(self.call("MPI_Rget", 1, transfers=[("get", self.other(), 0)]))
        elif what == 4 and self.posted:
            ends = rng.sample(self.posted, rng.randrange(1, len(self.posted) + 1))
            self.posted = [one for one in self.posted if all(one is not other for other in ends)]
            self.call("MPI_Waitall", ends=ends)
        elif what == 5:
            self.call(rng.choice(["MPI_Win_flush", "MPI_Win_flush_local"]), 1, self.other())
        elif what == 6:
            self.call(rng.choice(["MPI_Win_flush_all", "MPI_Win_unlock_all"]), 1)
        elif what == 7:
            target = self.other()
            self.call("MPI_Win_lock", 1, target + rng.choice([0, EXCLUSIVE]))
            self.call("MPI_Win_unlock", 1, target)
        elif what == 8:
            name, operation = rng.choice([("ARMCI_Put", "put"), ("ARMCI_Acc", "accumulate")])
            self.unfenced.append(self.call(name, 0, transfers=[(operation, self.other(), 0)], is_blocking=True))
        elif what == 9 and self.unfenced:
            self.call("ARMCI_AllFence", 0, ends=self.unfenced)
            self.unfenced = []
        else:
            self.call(rng.choice(["MPI_Comm_rank", "MPI_Iprobe", "work", "MPI_Win_lock_all"]), 1)

    def message(self, operation: str, partner: int, tag: int) -> None:
        """Send or receive, at once or later."""
        blocking = self.rng.random() < 0.5
        name = {"send": ("MPI_Isend", "MPI_Send"), "receive": ("MPI_Irecv", "MPI_Recv")}[operation][blocking]
        made = self.call(name, 0, transfers=[(operation, partner, tag)], is_blocking=blocking)
        if not blocking:
            self.posted.append(made)


def begun(name: str) -> str:
    """Return the function that begins a collective operation and does not wait."""
    return f"MPI_I{name[4:].lower()}"


def random_calls(seed: int, locations: int, steps: int, collectives: tuple[str, ...] = ALL) -> list[list[Call]]:
    """Return the calls of every location in the order in which they begin."""
    rng = random.Random(seed)
    makers = [Maker(rng, location, locations) for location in range(locations)]
    for _ in range(steps):
        what = rng.randrange(6)
        if what == 0:
            name, root = rng.choice(collectives), rng.randrange(locations)
            waits = name in WAITING or rng.random() < 0.6
            for one in makers:
                peer = root if name in ("MPI_Bcast", "MPI_Reduce") else -1
                made = one.call(name if waits else begun(name), 1 if "Win" in name else 0, peer)
                if name == "MPI_Neighbor_alltoall":
                    made.group = tuple(rng.randrange(locations) for _ in range(rng.randrange(4)))
                one.posted += [] if waits else [made]
        elif what == 1:
            source, target = rng.randrange(locations), rng.randrange(locations)
            tag = rng.randrange(2)
            makers[source].message("send", target, tag)
            if rng.random() < 0.9:
                makers[target].message("receive", source, tag)
        elif what == 2 and locations > 2:
            epoch(makers, rng)
        for one in makers:
            one.step()
    return [one.calls for one in makers]


def epoch(makers: list[Maker], rng: random.Random) -> None:
    """One origin starts to several targets, which post for it."""
    origin, *targets = rng.sample(range(len(makers)), rng.randrange(2, len(makers) + 1))
    for target in targets:
        makers[target].call("MPI_Win_post", 1, group=(origin,))
    makers[origin].call("MPI_Win_start", 1, group=tuple(targets))
    makers[origin].call("MPI_Win_complete", 1)
    for target in targets:
        makers[target].call("MPI_Win_wait", 1)


Region = tuple[int, int, str]


def random_regions(seed: int, calls: list[list[Call]]) -> list[list[Region]]:
    """Return begin, end and name of regions of each location, around some of its calls; none lies in another."""
    rng = random.Random(seed)
    found: list[list[Region]] = []
    for made in calls:
        outer, at, mine = [call for call in made if call.under is None], 0, []
        while at < len(outer):
            n = rng.randrange(1, 4)
            inside = outer[at : at + n]
            if rng.random() < 0.5:
                mine.append((inside[0].enter, inside[-1].leave, rng.choice(["solve", "io"])))
            at += n
        found.append([one for one in mine if one[1] > one[0]])
    return found


def build(calls: list[list[Call]], scale: int = 1, shift: int = 0, regions: list[list[Region]] | None = None) -> TraceBuilder:
    """Return the trace of these calls, in regions of the user."""
    trace = TraceBuilder(len(calls), simulated=True)
    for location, made in enumerate(calls):
        number: dict[int, int] = {}
        around = list(regions[location]) if regions else []
        inside: Region | None = None
        for one in made:
            if inside and one.under is None and one.enter >= inside[1]:
                trace.leave(location, inside[2], inside[1])
                inside = None
            if around and inside is None and one.under is None and one.enter >= around[0][0] and one.leave > around[0][0]:
                inside = around.pop(0)
                trace.enter(location, inside[2], inside[0])
            peer = trace.group(location, one.group) if one.group else one.peer
            under = None if one.under is None else number[id(one.under)]
            enter, leave = one.enter * scale + shift, one.leave * scale + shift
            number[id(one)] = trace.call(location, one.name, enter, leave, scope=one.scope, peer=peer, under=under)
            for operation, partner, tag in one.transfers:
                trace.transfer(location, operation, number[id(one)], partner, tag=tag, blocking=one.is_blocking)
            for ended in one.ends:
                trace.complete(location, number[id(one)], number[id(ended)])
        if inside:
            trace.leave(location, inside[2], inside[1])
    return trace
