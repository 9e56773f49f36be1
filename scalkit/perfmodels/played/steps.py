"""What schedules are made of: one message, an exchange, many at once, trees; and numbers of items and processes."""

from collections.abc import Callable, Generator, Iterator
from typing import Literal, NamedTuple

__all__ = ["Compute", "Process", "Receive", "Send", "Wait", "WaitAny"]


class Send(NamedTuple):
    """Begins to send; done when the buffer is free."""

    to: int
    n_bytes: int
    how: Literal["", "synchronous", "packed"] = ""
    tag: int = 0


class Receive(NamedTuple):
    """Begins to receive."""

    source: int
    tag: int = 0


class Wait(NamedTuple):
    """Lasts until all are done."""

    numbers: tuple[int, ...]


class WaitAny(NamedTuple):
    """Lasts until one is done; gives the first that is. A number of 0 is none."""

    numbers: tuple[int, ...]


class Compute(NamedTuple):
    """Lasts so many ps."""

    time: int


Process = Generator["Send | Receive | Wait | WaitAny | Compute", int, None]


Program = Callable[[int, int, int], Process]
"""What process `me` of `P` does with `S` bytes."""

Table = dict[tuple[str, str], Program]
"""The programs of an operation, by library and algorithm."""

ITEM = 8
"""Bytes of what is reduced."""

SEGMENT = 8192
"""Bytes of the parts of a pipeline."""


def send(to: int, n: int) -> Process:
    number = yield Send(to, n)
    yield Wait((number,))


def receive(source: int) -> Process:
    number = yield Receive(source)
    yield Wait((number,))


def exchange(to: int, n: int, source: int) -> Process:
    """Send to one process while receiving from another."""
    one = yield Receive(source)
    other = yield Send(to, n)
    yield Wait((one, other))


def many(sends: list[tuple[int, int]], sources: list[int]) -> Process:
    numbers = []
    for source in sources:
        numbers.append((yield Receive(source)))
    for to, n in sends:
        numbers.append((yield Send(to, n)))
    yield Wait(tuple(numbers))


def power_below(P: int) -> int:
    return 1 << (P.bit_length() - 1)


def blocks_of(n: int, parts: int) -> list[int]:
    return [n // parts + (k < n % parts) for k in range(parts)]


def real(new: int, rest: int, odd: int) -> int:
    return 2 * new + odd if new < rest else new + rest


def folded(me: int, P: int) -> tuple[int, int, int]:
    """Return the power of two up to P, how many processes are beyond, and the number of `me` after one of each pair left."""
    power = power_below(P)
    rest = P - power
    return power, rest, me // 2 if me < 2 * rest else me - rest


def without_partner(me: int, P: int, mask: int) -> Iterator[tuple[int, bool]]:
    """Yield from whom a process gets, or to whom it gives (True), what one without a partner in a round of doubling lacks."""
    mine, theirs = me & -mask, (me ^ mask) & -mask
    if theirs + mask <= P:
        return
    done, step = P - mine - mask, mask >> 1
    while step:
        partner, root = me ^ step, me & -(2 * step)
        if me < partner and me < root + done <= partner:
            yield partner, True
        elif partner < me and partner < root + done <= me:
            yield partner, False
        step >>= 1


Tree = Callable[[int, int], tuple[int, list[int]]]
"""The parent and the children of process `me` of `P`."""


def chain(me: int, P: int) -> tuple[int, list[int]]:
    return me - 1, [me + 1] if me + 1 < P else []


def far_first(me: int, P: int) -> tuple[int, list[int]]:
    """Binomial: children at growing distance, of which the first has the largest subtree (rank 0 sends to 1, 2, 4)."""
    mask = 1 << me.bit_length()
    children: list[int] = []
    while mask < P and me ^ mask < P:
        children.append(me ^ mask)
        mask *= 2
    return (me ^ (1 << (me.bit_length() - 1)) if me else 0), children


def in_order(me: int, P: int) -> tuple[int, list[int]]:
    """Binomial: subtrees of ranks that follow each other, the smallest first."""
    mask = 1
    children: list[int] = []
    while mask < P:
        if me & mask:
            return me ^ mask, children
        if me | mask < P:
            children.append(me | mask)
        mask *= 2
    return 0, children


def in_order_binary(me: int, P: int) -> tuple[int, list[int]]:
    """Open MPI's binary tree whose root is the last process: the upper half below its left child, the lower below its right."""
    low, high, parent = 0, P, P - 1
    while me != high - 1:
        middle, parent = low + (high - low) // 2, high - 1
        low, high = (low, middle) if me < middle else (middle, high - 1)
    middle = low + (high - low) // 2
    return parent, [me - 1] * (me > low) + [middle - 1] * (middle > low and me - 1 > low)


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


def parts_of(S: int, segment: int) -> list[int]:
    """Return the bytes of the segments of a message; it is whole if they have none, or it is no longer."""
    size = segment if segment and segment < S else S
    return [min(size, S - at) for at in range(0, S, size)]


def down(tree: Tree, segment: int = 0) -> Program:
    """Broadcast along a tree as Open MPI does it: a segment goes to all children before the next one is waited for."""

    def program(me: int, P: int, S: int) -> Process:
        parent, children = tree(me, P)
        parts = parts_of(S, segment)
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


def up(tree: Tree, segment: int = 0, root: int | None = None) -> Program:
    """Reduce along a tree as Open MPI does it: the next receive is posted before the last one is waited for."""

    def program(me: int, P: int, S: int) -> Process:
        parent, children = tree(me, P)
        parts = parts_of(S, segment)
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
