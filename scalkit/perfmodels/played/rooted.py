"""Gather and scatter."""

from functools import partial

from scalkit.perfmodels.played.broadcast import broadcast_linear
from scalkit.perfmodels.played.steps import SEGMENT, Process, Receive, Send, Table, Wait, in_order, receive, send


def gather_in_turn(me: int, P: int, S: int) -> Process:
    if me:
        yield from send(0, S)
    else:
        for one in range(1, P):
            yield from receive(one)


def gather_binomial(me: int, P: int, S: int, packs: bool = False) -> Process:
    """MPICH's `packs`: those with children send their own block and the others from two places."""
    parent, children = in_order(me, P)
    for child in children:
        yield from receive(child)
    if me:
        total = 1 + sum(min(child - me, P - child) for child in children)
        number = yield Send(parent, total * S, "packed" if packs and children else "")
        yield Wait((number,))


def scatter_linear(me: int, P: int, S: int) -> Process:
    if me:
        yield from receive(0)
    else:
        for one in range(1, P):
            yield from send(one, S)


def scatter_binomial(me: int, P: int, S: int) -> Process:
    parent, children = in_order(me, P)
    if me:
        yield from receive(parent)
    for child in reversed(children):
        yield from send(child, min(child - me, P - child) * S)


def gather_in_two_parts(me: int, P: int, S: int) -> Process:
    """Open MPI's: the root asks one after another for its first part; the second parts come meanwhile."""
    first = min(SEGMENT, S)
    if me:
        yield from receive(0)
        yield from send(0, first)
        yield from send(0, S - first)
        return
    seconds = []
    for one in range(1, P):
        number = yield Receive(one)
        yield from send(one, 0)
        seconds.append((yield Receive(one)))
        yield Wait((number,))
    yield Wait(tuple(seconds))


GATHER: Table = {
    ("Open MPI", "in-turn"): gather_in_turn,
    ("Open MPI", "binomial"): gather_binomial,
    ("Open MPI", "(linear, in two parts)"): gather_in_two_parts,
    ("MPICH", "binomial"): partial(gather_binomial, packs=True),
}
SCATTER: Table = {
    ("Open MPI", "in-turn"): scatter_linear,
    ("Open MPI", "linear"): broadcast_linear,
    ("Open MPI", "binomial"): scatter_binomial,
    ("MPICH", "binomial"): scatter_binomial,
}
