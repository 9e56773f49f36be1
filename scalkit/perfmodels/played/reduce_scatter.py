"""Reduce-scatter with equal blocks."""

from collections.abc import Callable

from scalkit.perfmodels.played.alltoall import alltoall_pairwise
from scalkit.perfmodels.played.rooted import scatter_binomial
from scalkit.perfmodels.played.steps import (
    Process,
    Program,
    Receive,
    Send,
    Table,
    Wait,
    exchange,
    folded,
    in_order,
    real,
    receive,
    send,
    up,
    without_partner,
)


def scatter_halving(me: int, P: int, S: int) -> Process:
    """Recursive halving of all that is reduced; processes beyond a power of two leave theirs to a neighbour."""
    power, rest, new = folded(me, P)
    if me < 2 * rest and me % 2 == 0:
        yield from send(me + 1, P * S)
        yield from receive(me + 1)
        return
    if me < 2 * rest:
        yield from receive(me - 1)
    counts = [2 if k < rest else 1 for k in range(power)]
    low, high, mask = 0, power, power // 2
    while mask:
        middle = low + mask
        first, second = S * sum(counts[low:middle]), S * sum(counts[middle:high])
        other = real(new ^ mask, rest, 1)
        yield from exchange(other, first if new & mask else second, other)
        low, high = (middle, high) if new & mask else (low, middle)
        mask //= 2
    if me < 2 * rest:
        yield from send(me - 1, S)


def reduce_then_scatter(me: int, P: int, S: int) -> Process:
    """Open MPI's, with the reduce and the scatter that are named."""
    yield from up(in_order)(me, P, P * S)
    yield from scatter_binomial(me, P, S)


def doubling(is_apart: Callable[[int, int], bool]) -> Program:
    """All exchange what the other half still needs; a process without a partner gets the result along a tree.

    What is needed lies below and above a subtree; `is_apart` says of the two sizes whether the library packs the data.
    """

    def needed(to: int, root: int, mask: int, P: int, S: int) -> Send:
        below, above = root, max(0, P - root - mask)
        return Send(to, (below + above) * S, "packed" if is_apart(below, above) else "")

    def program(me: int, P: int, S: int) -> Process:
        mask = 1
        while mask < P:
            other, mine = me ^ mask, me & -mask
            theirs = other & -mask
            if other < P:
                one = yield Receive(other)
                two = yield needed(other, mine, mask, P, S)
                yield Wait((one, two))
            for partner, is_giver in without_partner(me, P, mask):
                if is_giver:
                    number = yield needed(partner, theirs, mask, P, S)
                    yield Wait((number,))
                else:
                    yield from receive(partner)
            mask *= 2

    return program


def scatter_butterfly(me: int, P: int, S: int) -> Process:
    """Pairs at doubling distance halve what is left, so that results lie at mirrored ranks."""
    power, rest, new = folded(me, P)
    bits = power.bit_length() - 1

    def mirrored(new: int) -> int:
        return int(f"{new:0{bits}b}"[::-1], 2) if bits else new

    if me < 2 * rest and me % 2 == 0:
        yield from send(me + 1, P * S)
        yield from receive(real(mirrored((me + 1) // 2), rest, 1))
        return
    if me < 2 * rest:
        yield from receive(me - 1)
    counts = [2 if k < rest else 1 for k in range(power)]
    begin, blocks, mask = 0, power, 1
    while mask < power:
        blocks //= 2
        lower, upper = begin, begin + blocks
        goes, begin = (lower, upper) if new & mask else (upper, lower)
        other = real(new ^ mask, rest, 1)
        yield from exchange(other, S * sum(counts[goes : goes + blocks]), other)
        mask *= 2
    if rest == 0:
        return
    other = real(mirrored(new), rest, 1)
    if mirrored(new) < rest:
        yield from send(other - 1, S)
    if other != me:
        yield from exchange(other, S, other)


SCHEDULES: Table = {
    ("Open MPI", "(reduce, scatter)"): reduce_then_scatter,
    ("Open MPI", "(recursive doubling)"): doubling(lambda below, above: below > 0 and above > 0),
    ("Open MPI", "recursive-halving"): scatter_halving,
    ("Open MPI", "(butterfly)"): scatter_butterfly,
    ("MPICH", "recursive-halving"): scatter_halving,
    ("MPICH", "pairwise"): alltoall_pairwise,
    ("MPICH", "(recursive doubling)"): doubling(lambda below, above: above > 0),
}
