"""Barriers."""

from scalkit.perfmodels.played.allreduce import allreduce_doubling
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
    depth = 1 << (P - 1).bit_length()
    for jump in (1 << k for k in range(depth.bit_length() - 1)):
        partner = me ^ jump
        if not partner & (jump - 1) and partner < P:
            yield from receive(partner) if partner > me else send(partner, 0)
    for jump in (1 << k for k in reversed(range(depth.bit_length() - 1))):
        partner = me ^ jump
        if not partner & (jump - 1) and partner < P:
            yield from send(partner, 0) if partner > me else receive(partner)


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
