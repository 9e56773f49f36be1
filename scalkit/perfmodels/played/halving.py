"""Halving of a vector between pairs: Rabenseifner, to all or to the root."""

from scalkit.perfmodels.played.actions import Process
from scalkit.perfmodels.played.steps import ITEM, Program, blocks_of, exchange, power_below, real, receive, send


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


def rabenseifner(short: Program, ends: str, folds: str) -> Program:
    """Rabenseifner's algorithm; vectors of fewer items than processes go another way."""

    def program(me: int, P: int, S: int) -> Process:
        yield from short(me, P, S) if power_below(P) > S // ITEM else halving(me, P, S, ends=ends, folds=folds)

    return program
