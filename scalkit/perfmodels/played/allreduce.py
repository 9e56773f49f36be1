"""Reductions to all processes."""

from scalkit.perfmodels.played.actions import Process, Receive, Wait
from scalkit.perfmodels.played.broadcast import broadcast_linear
from scalkit.perfmodels.played.halving import rabenseifner
from scalkit.perfmodels.played.reduce import reduce_linear
from scalkit.perfmodels.played.steps import ITEM, SEGMENT, Table, blocks_of, exchange, many, power_below, real, receive, send
from scalkit.perfmodels.played.trees import down, far_first, in_order, up


def allreduce_linear(me: int, P: int, S: int) -> Process:
    yield from reduce_linear(me, P, S)
    yield from broadcast_linear(me, P, S)


def allreduce_two_trees(me: int, P: int, S: int) -> Process:
    yield from up(in_order)(me, P, S)
    yield from down(far_first)(me, P, S)


def allreduce_doubling(me: int, P: int, S: int) -> Process:
    power = power_below(P)
    rest = P - power
    if me < 2 * rest:
        yield from receive(me - 1) if me % 2 else send(me + 1, S)
    if me >= 2 * rest or me % 2:
        new = me // 2 if me < 2 * rest else me - rest
        mask = 1
        while mask < power:
            other = real(new ^ mask, rest, 1)
            yield from exchange(other, S, other)
            mask *= 2
    if me < 2 * rest:
        yield from send(me - 1, S) if me % 2 else receive(me + 1)


def allreduce_ring(me: int, P: int, S: int) -> Process:
    """Open MPI's: a part is received while the one before is reduced."""
    yield from ring_of_segments(me, P, S, 1)


def allreduce_segmented_ring(me: int, P: int, S: int) -> Process:
    """Open MPI's: the same for each segment of the parts, and then all parts at once go round."""
    n, segment = S // ITEM, SEGMENT // ITEM
    phases, rest = divmod(n, P * segment)
    yield from ring_of_segments(me, P, S, max(1, phases + (phases > 0 and rest >= P and rest > P * segment // 2)))


def ring_of_segments(me: int, P: int, S: int, segments: int) -> Process:
    n = S // ITEM
    if n < P:
        yield from allreduce_doubling(me, P, S)
        return
    blocks = blocks_of(n, P)
    for segment in range(segments):
        size = [ITEM * blocks_of(one, segments)[segment] for one in blocks]
        coming = yield Receive((me - 1) % P)
        yield from send((me + 1) % P, size[me])
        for k in range(2, P):
            after = yield Receive((me - 1) % P)
            yield Wait((coming,))
            yield from send((me + 1) % P, size[(me - k + 1) % P])
            coming = after
        yield Wait((coming,))
    for k in range(P - 1):
        yield from exchange((me + 1) % P, ITEM * blocks[(me + 1 - k) % P], (me - 1) % P)


def mpich_allreduce_ring(me: int, P: int, S: int) -> Process:
    """MPICH's: all parts but the last ones are of one size; where a part is empty, the second half sends nothing."""
    n = S // ITEM
    part = -(-n // P)
    size = [ITEM * max(0, min(part, n - k * part)) for k in range(P)]
    for k in range(P - 1):
        yield from exchange((me + 1) % P, size[(me - 1 - k) % P], (me - 1) % P)
    for k in range(P - 1):
        mine, theirs = size[(me - k) % P], size[(me - k - 1) % P]
        sends = [((me + 1) % P, mine)] if mine else []
        yield from many(sends, [(me - 1) % P] if theirs else [])


SCHEDULES: Table = {
    ("Open MPI", "linear"): allreduce_linear,
    ("Open MPI", "reduce-broadcast"): allreduce_two_trees,
    ("Open MPI", "recursive-doubling"): allreduce_doubling,
    ("Open MPI", "ring"): allreduce_ring,
    ("Open MPI", "(segmented ring)"): allreduce_segmented_ring,
    ("Open MPI", "rabenseifner"): rabenseifner(allreduce_linear, "all", "halves"),
    ("MPICH", "recursive-doubling"): allreduce_doubling,
    ("MPICH", "rabenseifner"): rabenseifner(allreduce_doubling, "all", "whole"),
    ("MPICH", "ring"): mpich_allreduce_ring,
}
