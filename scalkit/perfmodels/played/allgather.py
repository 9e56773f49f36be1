"""Allgather."""

from scalkit.perfmodels.played.actions import Process, Receive, Send, Wait
from scalkit.perfmodels.played.broadcast import broadcast_linear
from scalkit.perfmodels.played.rooted import gather_in_turn
from scalkit.perfmodels.played.steps import Table, exchange


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


SCHEDULES: Table = {
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
