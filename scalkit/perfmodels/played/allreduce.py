"""Reductions to one process and to all."""

from scalkit.perfmodels.played.broadcast import broadcast_linear
from scalkit.perfmodels.played.steps import (
    ITEM,
    SEGMENT,
    Process,
    Program,
    Receive,
    Table,
    Wait,
    blocks_of,
    chain,
    down,
    exchange,
    far_first,
    folded,
    in_order,
    in_order_binary,
    k_ary_levels,
    many,
    power_below,
    real,
    receive,
    send,
    up,
)


def halving(me: int, P: int, S: int, *, ends: str, folds: str) -> Process:
    """Rabenseifner's: the vector is halved at every exchange, then collected by all, or along a tree by the root.

    Open MPI folds processes beyond a power of two by halves, MPICH with the whole vector.
    """
    power, rest, new = folded(me, P)
    n = S // ITEM
    odd = 1 if folds == "whole" and ends == "all" else 0
    stays = True
    if me < 2 * rest and folds == "halves":
        other = me ^ 1
        low, high = n // 2, n - n // 2
        yield from exchange(other, ITEM * (low if me % 2 else high), other)
        if me % 2:
            yield from send(other, ITEM * high)
            stays = False
        else:
            yield from receive(other)
    elif me < 2 * rest:
        stays = me % 2 == odd
        yield from receive(me ^ 1) if stays else send(me ^ 1, S)
    if stays:
        counts = blocks_of(n, power) if folds == "whole" else []
        sent, got, size, low, high = [], [], n, 0, power
        steps = [1 << k for k in range(power.bit_length() - 1)]
        for mask in steps:
            other = new ^ mask
            if folds == "halves":
                is_first = real(new, rest, odd) < real(other, rest, odd)
                mine = size // 2 if is_first else size - size // 2
                theirs, size = size - mine, mine
            else:
                middle = (low + high) // 2
                first, second = sum(counts[low:middle]), sum(counts[middle:high])
                mine, theirs = (first, second) if new < other else (second, first)
                low, high = (low, middle) if new < other else (middle, high)
            yield from exchange(real(other, rest, odd), ITEM * theirs, real(other, rest, odd))
            sent.append(theirs)
            got.append(mine)
        for mask, theirs, mine in zip(reversed(steps), reversed(sent), reversed(got), strict=True):
            other = real(new ^ mask, rest, odd)
            if ends == "all":
                yield from exchange(other, ITEM * mine, other)
            elif new & mask:
                yield from send(other, ITEM * mine)
                break
            else:
                yield from receive(other)
                del theirs
    if ends == "all" and me < 2 * rest:
        yield from send(me ^ 1, S) if stays else receive(me ^ 1)


def rabenseifner(short: Program, ends: str, folds: str) -> Program:
    """Rabenseifner's algorithm; vectors of fewer items than processes go another way."""

    def program(me: int, P: int, S: int) -> Process:
        yield from short(me, P, S) if power_below(P) > S // ITEM else halving(me, P, S, ends=ends, folds=folds)

    return program


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


TO_ONE: Table = {
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


def allreduce_linear(me: int, P: int, S: int) -> Process:
    yield from reduce_linear(me, P, S)
    yield from broadcast_linear(me, P, S)


def allreduce_two_trees(me: int, P: int, S: int) -> Process:
    yield from up(in_order)(me, P, S)
    yield from down(far_first)(me, P, S)


def allreduce_doubling(me: int, P: int, S: int) -> Process:
    power, rest, new = folded(me, P)
    if me < 2 * rest:
        yield from receive(me - 1) if me % 2 else send(me + 1, S)
    if me >= 2 * rest or me % 2:
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
