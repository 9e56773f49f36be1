"""All-to-all."""

from functools import partial

from scalkit.perfmodels.played.actions import Process, Receive, Send, Wait, WaitAny
from scalkit.perfmodels.played.steps import Program, Table, exchange, many


def alltoall_linear(me: int, P: int, S: int) -> Process:
    yield from many([((me - k) % P, S) for k in range(1, P)], [(me + k) % P for k in range(1, P)])


def alltoall_blocks_of(throttle: int) -> Program:
    """MPICH's: so many messages at once, the one to oneself counted."""

    def program(me: int, P: int, S: int) -> Process:
        for first in range(0, P, throttle):
            block = [k for k in range(first, min(P, first + throttle)) if k]
            yield from many([((me - k) % P, S) for k in block], [(me + k) % P for k in block])

    return program


def alltoall_pairwise(me: int, P: int, S: int) -> Process:
    for k in range(1, P):
        yield from exchange((me + k) % P, S, (me - k) % P)


def alltoall_exclusive(me: int, P: int, S: int) -> Process:
    """MPICH's: partners by exclusive or, where there is a power of two of processes."""
    if P & (P - 1):
        yield from alltoall_pairwise(me, P, S)
        return
    for k in range(1, P):
        yield from exchange(me ^ k, S, me ^ k)


def alltoall_bruck(me: int, P: int, S: int, may_pack: bool = True) -> Process:
    distance = 1
    while distance < P:
        n = sum(1 for k in range(1, P) if k & distance)
        one = yield Receive((me - distance) % P)
        other = yield Send((me + distance) % P, n * S, "packed" if may_pack and 3 * distance < P else "")
        yield Wait((one, other))
        distance *= 2


def alltoall_some_at_once(limit: int) -> Program:
    """Open MPI's: so many receives and so many sends are begun; whichever is done is followed by the next one of its kind."""

    def program(me: int, P: int, S: int) -> Process:
        sources = [(me + k) % P for k in range(1, P)]
        targets = [(me - k) % P for k in range(1, P)]
        most = min(limit, P - 1)
        open_ones = []
        for _ in range(most):
            open_ones.append((yield Receive(sources.pop(0))))
        for _ in range(most):
            open_ones.append((yield Send(targets.pop(0), S)))
        if most == P - 1:
            yield Wait(tuple(open_ones))
            return
        for _ in range(2 * (P - 1)):
            done = yield WaitAny(tuple(open_ones))
            place = open_ones.index(done)
            open_ones[place] = 0
            if place < most and sources:
                open_ones[place] = yield Receive(sources.pop(0))
            elif place >= most and targets:
                open_ones[place] = yield Send(targets.pop(0), S)

    return program


SCHEDULES: Table = {
    ("Open MPI", "linear"): alltoall_linear,
    ("Open MPI", "pairwise"): alltoall_pairwise,
    ("Open MPI", "bruck"): alltoall_bruck,
    ("Open MPI", "(linear, 4 at once)"): alltoall_some_at_once(4),
    ("MPICH", "bruck"): partial(alltoall_bruck, may_pack=False),
    ("MPICH", "pairwise"): alltoall_exclusive,
    ("MPICH", "linear"): alltoall_blocks_of(32),
}
