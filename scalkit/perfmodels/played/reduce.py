"""Reductions to one process."""

from scalkit.perfmodels.played.actions import Process
from scalkit.perfmodels.played.halving import rabenseifner
from scalkit.perfmodels.played.steps import SEGMENT, Table, receive, send
from scalkit.perfmodels.played.trees import chain, in_order, in_order_binary, k_ary_levels, up


def reduce_linear(me: int, P: int, S: int) -> Process:
    if me:
        yield from send(0, S)
    else:
        for one in range(P - 1, 0, -1):
            yield from receive(one)


def reduce_in_turn_tree(me: int, P: int, S: int) -> Process:
    """MPICH's binomial tree, nearest child first."""
    mask = 1
    while mask < P:
        if me & mask:
            yield from send(me - mask, S)
            return
        if me + mask < P:
            yield from receive(me + mask)
        mask *= 2


def reduce_in_order_binary(me: int, P: int, S: int) -> Process:
    """To the last process, which sends the result to the first."""
    yield from up(in_order_binary, root=-1)(me, P, S)
    if me == P - 1:
        yield from send(0, S)
    elif me == 0:
        yield from receive(P - 1)


SCHEDULES: Table = {
    ("Open MPI", "linear"): reduce_linear,
    ("Open MPI", "chain"): up(chain),
    ("Open MPI", "pipeline"): up(chain, SEGMENT),
    ("Open MPI", "(binary)"): up(k_ary_levels(2)),
    ("Open MPI", "binomial"): up(in_order),
    ("Open MPI", "(in-order binary)"): reduce_in_order_binary,
    ("Open MPI", "rabenseifner"): rabenseifner(reduce_linear, "root", "halves"),
    ("MPICH", "binomial"): reduce_in_turn_tree,
    ("MPICH", "rabenseifner"): rabenseifner(reduce_in_turn_tree, "root", "whole"),
}
