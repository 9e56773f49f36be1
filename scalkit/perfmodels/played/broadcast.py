"""Broadcasts."""

from scalkit.perfmodels.played.steps import (
    SEGMENT,
    Process,
    Program,
    Receive,
    Table,
    Wait,
    chain,
    down,
    exchange,
    far_first,
    k_ary,
    k_ary_levels,
    k_nomial,
    many,
    receive,
    send,
    without_partner,
)


def broadcast_linear(me: int, P: int, S: int) -> Process:
    yield from many([(one, S) for one in range(1, P)], []) if me == 0 else receive(0)


def broadcast_halves_down(me: int, P: int, S: int) -> Process:
    """MPICH's binomial tree: rank 0 sends to P/2 first, one after another."""
    mask = 1
    while mask < P and not me & mask:
        mask *= 2
    if me:
        yield from receive(me - mask)
    while mask > 1:
        mask //= 2
        if me + mask < P:
            yield from send(me + mask, S)


def split_binary(me: int, P: int, S: int) -> Process:
    """Open MPI's: one half of the message along each side of a binary tree, then both sides exchange."""
    parent, children = k_ary_levels(2)(me, P)
    halves = (S - S // 2, S // 2)

    def side(one: int) -> int:
        while k_ary_levels(2)(one, P)[0]:
            one = k_ary_levels(2)(one, P)[0]
        return (one + 1) % 2

    if me == 0:
        for i, child in enumerate(children):
            yield from send(child, halves[i])
        if P % 2 == 0:
            yield from send(P - 1, halves[1])
        return
    mine = side(me)
    number = yield Receive(parent)
    yield Wait((number,))
    for child in children:
        yield from send(child, halves[mine])
    if P % 2 == 0 and me == P - 1:
        yield from receive(0)
        return
    pair = me + 1 if mine == 0 else me - 1
    yield from exchange(pair, halves[mine], pair)


def scattered(me: int, P: int, S: int) -> Process:
    """Scatter the message along a binomial tree; gives nothing to those for whom nothing is left."""
    block = -(-S // P)
    mask, have = 1, S if me == 0 else 0
    while mask < P:
        if me & mask:
            have = max(0, min(S - me * block, mask * block))
            if have > 0:
                yield from receive(me - mask)
            break
        mask *= 2
    mask //= 2
    while mask > 0:
        if me + mask < P:
            size = have - block * mask
            if size > 0:
                yield from send(me + mask, size)
                have -= size
        mask //= 2


def broadcast_scatter_ring(me: int, P: int, S: int) -> Process:
    yield from scattered(me, P, S)
    block = -(-S // P)
    have = me
    for _ in range(P - 1):
        yield from exchange((me + 1) % P, max(0, min(block, S - have * block)), (me - 1) % P)
        have = (have - 1) % P


def broadcast_scatter_doubling(me: int, P: int, S: int) -> Process:
    """With any number of processes: a process without a partner gets its data along a tree."""
    yield from scattered(me, P, S)
    block, got, mask = -(-S // P), 0, 1

    def held(root: int, n: int) -> int:
        """What `n` processes from `root` on have together."""
        return max(0, min(S, (root + n) * block) - root * block)

    while mask < P:
        other = me ^ mask
        theirs, mine = other & -mask, me & -mask
        if other < P:
            yield from exchange(other, held(mine, mask), other)
            got = held(theirs, mask)
        for partner, is_giver in without_partner(me, P, mask):
            if is_giver:
                yield from send(partner, got)
            else:
                yield from receive(partner)
                got = held(theirs, mask)
        mask *= 2


def unless_small(program: Program) -> Program:
    """Open MPI's broadcasts: linear where there are more processes than bytes."""
    return lambda me, P, S: broadcast_linear(me, P, S) if S < P else program(me, P, S)


SCHEDULES: Table = {
    ("Open MPI", "linear"): broadcast_linear,
    ("Open MPI", "chain"): down(chain),
    ("Open MPI", "pipeline"): down(chain, SEGMENT),
    ("Open MPI", "(split binary)"): split_binary,
    ("Open MPI", "(binary)"): down(k_ary_levels(2)),
    ("Open MPI", "binomial"): down(far_first),
    ("Open MPI", "(4-nomial)"): down(k_nomial(4)),
    ("Open MPI", "scatter-doubling"): unless_small(broadcast_scatter_doubling),
    ("Open MPI", "scatter-ring"): unless_small(broadcast_scatter_ring),
    ("MPICH", "binomial"): broadcast_halves_down,
    ("MPICH", "scatter-doubling"): broadcast_scatter_doubling,
    ("MPICH", "scatter-ring"): broadcast_scatter_ring,
    ("MPICH", "(tree)"): down(k_ary(2)),
    ("MPICH", "(pipelined tree)"): down(k_ary(2), SEGMENT),
}
