"""Allgather and all-to-all."""

from functools import partial

from scalkit.perfmodels.played.broadcast import broadcast_linear
from scalkit.perfmodels.played.rooted import gather_in_turn
from scalkit.perfmodels.played.steps import Process, Program, Receive, Send, Table, Wait, WaitAny, exchange, many


def allgather_linear(me: int, P: int, S: int) -> Process:
    yield from gather_in_turn(me, P, S)
    yield from broadcast_linear(me, P, P * S)


def allgather_ring(me: int, P: int, S: int) -> Process:
    for _ in range(P - 1):
        yield from exchange((me + 1) % P, S, (me - 1) % P)


def allgather_doubling(me: int, P: int, S: int) -> Process:
    if P & (P - 1):
        yield from allgather_bruck(me, P, S)
        return
    mask = 1
    while mask < P:
        yield from exchange(me ^ mask, mask * S, me ^ mask)
        mask *= 2


def mpich_allgather_doubling(me: int, P: int, S: int) -> Process:
    large = P & (P - 1) and P * S >= 81920
    yield from allgather_ring(me, P, S) if large else allgather_doubling(me, P, S)


def allgather_bruck(me: int, P: int, S: int) -> Process:
    distance = 1
    while distance < P:
        yield from exchange((me - distance) % P, min(distance, P - distance) * S, (me + distance) % P)
        distance *= 2


def allgather_neighbour(me: int, P: int, S: int) -> Process:
    if P % 2:
        yield from allgather_ring(me, P, S)
        return
    step = 1 if me % 2 == 0 else -1
    partners = ((me + step) % P, (me - step) % P)
    yield from exchange(partners[0], S, partners[0])
    for i in range(1, P // 2):
        yield from exchange(partners[i % 2], 2 * S, partners[i % 2])


def allgather_sparbit(me: int, P: int, S: int) -> Process:
    """Open MPI's: distances are halved; in each round all blocks go to one process, each in a message of its own."""
    distance, blocks = 1 << (P - 1).bit_length() >> 1, 1
    lowest = P & -P
    may_skip = (~(P // lowest) | 1) * lowest
    while distance:
        skips = (distance & may_skip) == distance
        numbers = []
        for _ in range(blocks - skips):
            numbers.append((yield Send((me + distance) % P, S)))
            numbers.append((yield Receive((me - distance) % P)))
        yield Wait(tuple(numbers))
        blocks = 2 * blocks - skips
        distance //= 2


ALLGATHER: Table = {
    ("Open MPI", "(linear)"): allgather_linear,
    ("Open MPI", "bruck"): allgather_bruck,
    ("Open MPI", "recursive-doubling"): allgather_doubling,
    ("Open MPI", "ring"): allgather_ring,
    ("Open MPI", "(neighbour)"): allgather_neighbour,
    ("Open MPI", "(sparbit)"): allgather_sparbit,
    ("MPICH", "bruck"): allgather_bruck,
    ("MPICH", "recursive-doubling"): mpich_allgather_doubling,
    ("MPICH", "ring"): allgather_ring,
}


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
