"""Barriers."""

from scalkit.perfmodels.played.allreduce import allreduce_doubling, reduce_in_turn_tree
from scalkit.perfmodels.played.broadcast import broadcast_halves_down
from scalkit.perfmodels.played.steps import Process, Send, Table, Wait, exchange, many, power_below, receive, send


def barrier_linear(me: int, P: int, S: int) -> Process:
    if me:
        yield from send(0, 0)
        yield from receive(0)
    else:
        yield from many([], list(range(1, P)))
        yield from many([(one, 0) for one in range(1, P)], [])


def barrier_doubling(me: int, P: int, S: int) -> Process:
    power = power_below(P)
    if me >= power:
        yield from send(me - power, 0)
        yield from receive(me - power)
        return
    if me < P - power:
        yield from receive(me + power)
    mask = 1
    while mask < power:
        yield from exchange(me ^ mask, 0, me ^ mask)
        mask *= 2
    if me < P - power:
        number = yield Send(me + power, 0, "synchronous")
        yield Wait((number,))


def barrier_dissemination(me: int, P: int, S: int) -> Process:
    distance = 1
    while distance < P:
        yield from exchange((me + distance) % P, 0, (me - distance) % P)
        distance *= 2


def barrier_tree(me: int, P: int, S: int) -> Process:
    yield from reduce_in_turn_tree(me, P, 0)
    yield from broadcast_halves_down(me, P, 0)


def barrier_double_ring(me: int, P: int, S: int) -> Process:
    """Two rounds on a ring; the second message to the next process is synchronous."""
    right, left = (me + 1) % P, (me - 1) % P
    for how in ("", "synchronous"):
        if me:
            yield from receive(left)
        number = yield Send(right, 0, how)
        yield Wait((number,))
        if not me:
            yield from receive(left)


SCHEDULES: Table = {
    ("Open MPI", "linear"): barrier_linear,
    ("Open MPI", "(double ring)"): barrier_double_ring,
    ("Open MPI", "recursive-doubling"): barrier_doubling,
    ("Open MPI", "dissemination"): barrier_dissemination,
    ("Open MPI", "tree"): barrier_tree,
    ("MPICH", "dissemination"): barrier_dissemination,
    # of the first processes every second one stays out
    ("MPICH", "recursive-doubling"): lambda me, P, S: allreduce_doubling(me, P, 0),
}
