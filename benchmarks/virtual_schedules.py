"""What MPICH 5.0 and Open MPI 5.0 send in each algorithm, as processes for benchmarks/virtual_played.py.

Written from what the algorithms are known to do, and from the libraries' own sources: the order of messages, the sizes of blocks
that are not equal, what happens to processes beyond a power of two, and which algorithm takes over where one cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable

from virtual_played import Process, Receive, Send, Wait

__all__ = ["SCHEDULES"]

ITEM = 8
"""Bytes of what is reduced."""


def send(to: int, n: float) -> Process:
    number = yield Send(to, n)
    yield Wait((number,))


def receive(source: int) -> Process:
    number = yield Receive(source)
    yield Wait((number,))


def exchange(to: int, n: float, source: int) -> Process:
    """Send to one process while receiving from another."""
    one = yield Receive(source)
    other = yield Send(to, n)
    yield Wait((one, other))


def many(sends: list[tuple[int, float]], sources: list[int]) -> Process:
    numbers = []
    for source in sources:
        numbers.append((yield Receive(source)))
    for to, n in sends:
        numbers.append((yield Send(to, n)))
    yield Wait(tuple(numbers))


def power_below(P: int) -> int:
    return 1 << (P.bit_length() - 1)


# ---- trees ---------------------------------------------------------------------------------------------------------------

Tree = Callable[[int, int], tuple[int, list[int]]]


def chain(me: int, P: int) -> tuple[int, list[int]]:
    return me - 1, [me + 1] if me + 1 < P else []


def far_first(me: int, P: int) -> tuple[int, list[int]]:
    """Binomial: children at growing distance, of which the first has the largest subtree (rank 0 sends to 1, 2, 4)."""
    mask = 1 << me.bit_length()
    children = []
    while mask < P and me ^ mask < P:
        children.append(me ^ mask)
        mask *= 2
    return (me ^ (1 << (me.bit_length() - 1)) if me else 0), children


def in_order(me: int, P: int) -> tuple[int, list[int]]:
    """Binomial: subtrees of ranks that follow each other, the smallest first."""
    mask, children = 1, []
    while mask < P:
        if me & mask:
            return me ^ mask, children
        if me | mask < P:
            children.append(me | mask)
        mask *= 2
    return 0, children


def k_ary_levels(k: int) -> Tree:
    """Open MPI's: rank r of a level of n ranks has the children r + n, r + 2 n and so on."""

    def tree(me: int, P: int) -> tuple[int, list[int]]:
        first, width = 0, 1
        while first + width <= me:
            first, width = first + width, width * k
        children = [me + width * (i + 1) for i in range(k) if me + width * (i + 1) < P]
        parent = me
        while parent >= first and me:
            parent -= width // k
        return parent, children

    return tree


def k_ary(k: int) -> Tree:
    """MPICH's: rank r has the children k r + 1 to k r + k."""
    return lambda me, P: ((me - 1) // k, [c for c in range(k * me + 1, k * me + k + 1) if c < P])


def k_nomial(k: int) -> Tree:
    def tree(me: int, P: int) -> tuple[int, list[int]]:
        mask, parent = 1, 0
        while mask < P:
            if me % (k * mask):
                parent = me // (mask * k) * (mask * k)
                break
            mask *= k
        mask //= k
        children = []
        while mask > 0:
            children += [me + mask * r for r in range(1, k) if me + mask * r < P]
            mask //= k
        return parent, children

    return tree


def down(tree: Tree, segment: int = 0) -> Callable[[int, int, int], Process]:
    """Broadcast along a tree as Open MPI does it: a segment goes to all children before the next one is waited for."""

    def program(me: int, P: int, S: int) -> Process:
        parent, children = tree(me, P)
        size = segment if segment and segment < S else S
        parts = [min(size, S - at) for at in range(0, S, size)]
        if me == 0:
            for part in parts:
                yield from many([(child, part) for child in children], [])
            return
        coming = yield Receive(parent)
        for k, part in enumerate(parts):
            after = (yield Receive(parent)) if k + 1 < len(parts) else 0
            yield Wait((coming,))
            if children:
                yield from many([(child, part) for child in children], [])
            coming = after

    return program


def up(tree: Tree, segment: int = 0, root: int | None = None) -> Callable[[int, int, int], Process]:
    """Reduce along a tree as Open MPI does it: the next receive is posted before the last one is waited for."""

    def program(me: int, P: int, S: int) -> Process:
        parent, children = tree(me, P)
        size = segment if segment and segment < S else S
        parts = [min(size, S - at) for at in range(0, S, size)]
        top = 0 if root is None else root % P
        if not children:
            for part in parts:
                yield from send(parent, part)
            return
        before = 0
        for k in range(len(parts) + 1):
            for i, child in enumerate(children):
                number = (yield Receive(child)) if k < len(parts) else 0
                if before:
                    yield Wait((before,))
                if i == 0 and k > 0:
                    if me != top:
                        yield from send(parent, parts[k - 1])
                    if k == len(parts):
                        break
                before = number

    return program


# ---- barriers ------------------------------------------------------------------------------------------------------------


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


def barrier_neighbours_first(me: int, P: int, S: int) -> Process:
    """MPICH's: of the first processes every second one stays out."""
    power = power_below(P)
    rest = P - power
    if me < 2 * rest and me % 2 == 0:
        yield from send(me + 1, 0)
        yield from receive(me + 1)
        return
    if me < 2 * rest:
        yield from receive(me - 1)
    new = me // 2 if me < 2 * rest else me - rest
    mask = 1
    while mask < power:
        other = new ^ mask
        other = 2 * other + 1 if other < rest else other + rest
        yield from exchange(other, 0, other)
        mask *= 2
    if me < 2 * rest:
        yield from send(me - 1, 0)


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


# ---- broadcast -----------------------------------------------------------------------------------------------------------


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
    """With any number of processes: who has no partner gets its data from others, along a tree."""
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
        if theirs + mask > P:
            done = P - mine - mask
            step = mask >> 1
            while step:
                partner, root = me ^ step, me & -(2 * step)
                if me < partner and me < root + done <= partner:
                    yield from send(partner, got)
                elif partner < me and partner < root + done <= me:
                    yield from receive(partner)
                    got = held(theirs, mask)
                step >>= 1
        mask *= 2


# ---- reduce and allreduce ------------------------------------------------------------------------------------------------


def unless_small(program: Callable[[int, int, int], Process]) -> Callable[[int, int, int], Process]:
    """Open MPI's broadcasts: linear where there are more processes than bytes."""
    return lambda me, P, S: broadcast_linear(me, P, S) if S < P else program(me, P, S)


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


def blocks_of(n: int, parts: int) -> list[int]:
    return [n // parts + (k < n % parts) for k in range(parts)]


def real(new: int, rest: int, odd: int) -> int:
    return 2 * new + odd if new < rest else new + rest


def halving(me: int, P: int, S: int, *, ends: str, folds: str) -> Process:
    """Rabenseifner's: the vector is halved at every exchange, then collected by all, or along a tree by the root.

    Open MPI folds processes beyond a power of two by halves, MPICH with the whole vector.
    """
    power = power_below(P)
    rest, n = P - power, S // ITEM
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
        new = me // 2 if me < 2 * rest else me - rest
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


def reduce_rabenseifner(me: int, P: int, S: int) -> Process:
    small = power_below(P) > S // ITEM
    yield from reduce_linear(me, P, S) if small else halving(me, P, S, ends="root", folds="halves")


def allreduce_rabenseifner(me: int, P: int, S: int) -> Process:
    small = power_below(P) > S // ITEM
    yield from allreduce_linear(me, P, S) if small else halving(me, P, S, ends="all", folds="halves")


def mpich_reduce_rabenseifner(me: int, P: int, S: int) -> Process:
    small = power_below(P) > S // ITEM
    yield from reduce_in_turn_tree(me, P, S) if small else halving(me, P, S, ends="root", folds="whole")


def mpich_allreduce_rabenseifner(me: int, P: int, S: int) -> Process:
    small = power_below(P) > S // ITEM
    yield from allreduce_doubling(me, P, S) if small else halving(me, P, S, ends="all", folds="whole")


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
    n = S // ITEM
    if n < P:
        yield from allreduce_doubling(me, P, S)
        return
    size = [ITEM * one for one in blocks_of(n, P)]
    coming = yield Receive((me - 1) % P)
    yield from send((me + 1) % P, size[me])
    for k in range(2, P):
        after = yield Receive((me - 1) % P)
        yield Wait((coming,))
        yield from send((me + 1) % P, size[(me - k + 1) % P])
        coming = after
    yield Wait((coming,))
    for k in range(P - 1):
        yield from exchange((me + 1) % P, size[(me + 1 - k) % P], (me - 1) % P)


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


# ---- allgather and all-to-all --------------------------------------------------------------------------------------------


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


def mpich_alltoall_bruck(me: int, P: int, S: int) -> Process:
    distance = 1
    while distance < P:
        n = sum(1 for k in range(1, P) if k & distance)
        yield from exchange((me + distance) % P, n * S, (me - distance) % P)
        distance *= 2


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


def alltoall_linear(me: int, P: int, S: int) -> Process:
    yield from many([((me - k) % P, S) for k in range(1, P)], [(me + k) % P for k in range(1, P)])


def alltoall_blocks_of(throttle: int) -> Callable[[int, int, int], Process]:
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
    for k in range(1, P):
        to, source = (me ^ k, me ^ k) if P & (P - 1) == 0 else ((me + k) % P, (me - k) % P)
        yield from exchange(to, S, source)


def alltoall_bruck(me: int, P: int, S: int) -> Process:
    distance = 1
    while distance < P:
        n = sum(1 for k in range(1, P) if k & distance)
        one = yield Receive((me - distance) % P)
        other = yield Send((me + distance) % P, n * S, "packed" if 3 * distance < P else "")
        yield Wait((one, other))
        distance *= 2


# ---- gather, scatter, reduce-scatter -------------------------------------------------------------------------------------


def gather_in_turn(me: int, P: int, S: int) -> Process:
    if me:
        yield from send(0, S)
    else:
        for one in range(1, P):
            yield from receive(one)


def gather_binomial(me: int, P: int, S: int) -> Process:
    parent, children = in_order(me, P)
    total = 1
    for child in children:
        yield from receive(child)
        total += min(child - me, P - child)
    if me:
        yield from send(parent, total * S)


def mpich_gather_binomial(me: int, P: int, S: int) -> Process:
    """Those with children send their own block and the others from two places."""
    parent, children = in_order(me, P)
    total = 1
    for child in children:
        yield from receive(child)
        total += min(child - me, P - child)
    if me:
        number = yield Send(parent, total * S, "packed" if children else "")
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


def scatter_halving(me: int, P: int, S: int) -> Process:
    """Recursive halving of all that is reduced; processes beyond a power of two leave theirs to a neighbour."""
    power = power_below(P)
    rest = P - power
    if me < 2 * rest and me % 2 == 0:
        yield from send(me + 1, P * S)
        yield from receive(me + 1)
        return
    if me < 2 * rest:
        yield from receive(me - 1)
    new = me // 2 if me < 2 * rest else me - rest
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


def scatter_pairwise(me: int, P: int, S: int) -> Process:
    for k in range(1, P):
        yield from exchange((me + k) % P, S, (me - k) % P)


Key = tuple[str, str, str]
SEGMENT = 8192
SCHEDULES: dict[Key, Callable[[int, int, int], Process]] = {
    ("Open MPI", "barrier", "linear"): barrier_linear,
    ("Open MPI", "barrier", "recursive-doubling"): barrier_doubling,
    ("Open MPI", "barrier", "dissemination"): barrier_dissemination,
    ("Open MPI", "barrier", "tree"): barrier_tree,
    ("Open MPI", "broadcast", "linear"): broadcast_linear,
    ("Open MPI", "broadcast", "chain"): down(chain),
    ("Open MPI", "broadcast", "pipeline"): down(chain, SEGMENT),
    ("Open MPI", "broadcast", "(split binary)"): split_binary,
    ("Open MPI", "broadcast", "(binary)"): down(k_ary_levels(2)),
    ("Open MPI", "broadcast", "binomial"): down(far_first),
    ("Open MPI", "broadcast", "(4-nomial)"): down(k_nomial(4)),
    ("Open MPI", "broadcast", "scatter-doubling"): unless_small(broadcast_scatter_doubling),
    ("Open MPI", "broadcast", "scatter-ring"): unless_small(broadcast_scatter_ring),
    ("Open MPI", "reduce", "linear"): reduce_linear,
    ("Open MPI", "reduce", "chain"): up(chain),
    ("Open MPI", "reduce", "pipeline"): up(chain, SEGMENT),
    ("Open MPI", "reduce", "(binary)"): up(k_ary_levels(2)),
    ("Open MPI", "reduce", "binomial"): up(in_order),
    ("Open MPI", "reduce", "rabenseifner"): reduce_rabenseifner,
    ("Open MPI", "allreduce", "linear"): allreduce_linear,
    ("Open MPI", "allreduce", "reduce-broadcast"): allreduce_two_trees,
    ("Open MPI", "allreduce", "recursive-doubling"): allreduce_doubling,
    ("Open MPI", "allreduce", "ring"): allreduce_ring,
    ("Open MPI", "allreduce", "rabenseifner"): allreduce_rabenseifner,
    ("Open MPI", "allgather", "(linear)"): allgather_linear,
    ("Open MPI", "allgather", "bruck"): allgather_bruck,
    ("Open MPI", "allgather", "recursive-doubling"): allgather_doubling,
    ("Open MPI", "allgather", "ring"): allgather_ring,
    ("Open MPI", "allgather", "(neighbour)"): allgather_neighbour,
    ("Open MPI", "alltoall", "linear"): alltoall_linear,
    ("Open MPI", "alltoall", "pairwise"): alltoall_pairwise,
    ("Open MPI", "alltoall", "bruck"): alltoall_bruck,
    ("Open MPI", "gather", "in-turn"): gather_in_turn,
    ("Open MPI", "gather", "binomial"): gather_binomial,
    ("Open MPI", "scatter", "in-turn"): scatter_linear,
    ("Open MPI", "scatter", "linear"): broadcast_linear,
    ("Open MPI", "scatter", "binomial"): scatter_binomial,
    ("Open MPI", "reduce-scatter", "recursive-halving"): scatter_halving,
    ("MPICH", "barrier", "dissemination"): barrier_dissemination,
    ("MPICH", "barrier", "recursive-doubling"): barrier_neighbours_first,
    ("MPICH", "broadcast", "binomial"): broadcast_halves_down,
    ("MPICH", "broadcast", "scatter-doubling"): broadcast_scatter_doubling,
    ("MPICH", "broadcast", "scatter-ring"): broadcast_scatter_ring,
    ("MPICH", "broadcast", "(tree)"): down(k_ary(2)),
    ("MPICH", "broadcast", "(pipelined tree)"): down(k_ary(2), SEGMENT),
    ("MPICH", "reduce", "binomial"): reduce_in_turn_tree,
    ("MPICH", "reduce", "rabenseifner"): mpich_reduce_rabenseifner,
    ("MPICH", "allreduce", "recursive-doubling"): allreduce_doubling,
    ("MPICH", "allreduce", "rabenseifner"): mpich_allreduce_rabenseifner,
    ("MPICH", "allreduce", "ring"): mpich_allreduce_ring,
    ("MPICH", "allgather", "bruck"): allgather_bruck,
    ("MPICH", "allgather", "recursive-doubling"): mpich_allgather_doubling,
    ("MPICH", "allgather", "ring"): allgather_ring,
    ("MPICH", "alltoall", "bruck"): mpich_alltoall_bruck,
    ("MPICH", "alltoall", "pairwise"): alltoall_exclusive,
    ("MPICH", "alltoall", "linear"): alltoall_blocks_of(32),
    ("MPICH", "gather", "binomial"): mpich_gather_binomial,
    ("MPICH", "scatter", "binomial"): scatter_binomial,
    ("MPICH", "reduce-scatter", "recursive-halving"): scatter_halving,
    ("MPICH", "reduce-scatter", "pairwise"): scatter_pairwise,
}
