"""Null distributions of the rank tests, exact also with ties: sums of the ranks that a side may get by chance."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from scalkit.errors import UsageError
from scalkit.stats.samples import Floats


def least_rank_sum_p(n: int, m: int) -> float:
    """Return the smallest one-sided p-value that a rank sum of `n` and `m` values can have: 1 / C(n+m, n).

    >>> round(least_rank_sum_p(6, 6), 5), round(least_rank_sum_p(7, 7), 5)
    (0.00108, 0.00029)
    """
    return 1 / math.comb(n + m, n)


def can_differ(n: int, m: int, level: float = 0.05) -> bool:
    """Return whether a two-sided rank sum test of `n` and `m` values can find any difference at a level.

    >>> can_differ(3, 3), can_differ(4, 4)
    (False, True)
    """
    return 2 * least_rank_sum_p(n, m) <= level


def least_signed_rank_p(n: int) -> float:
    """Return the smallest one-sided p-value that `n` pairs can have: 2^-n."""
    return 2.0**-n


def runs_needed(p: float, least: Callable[[int], float]) -> int:
    """Return the smallest number n for which ``least(n)`` is at most `p`. Raises UsageError if there is none up to 10,000."""
    for n in range(1, 10_001):
        if least(n) <= p:
            return n
    raise UsageError(f"no number of runs up to 10000 reaches p = {p!r}; choose a larger one.")


@lru_cache(maxsize=4096)
def subset_tail(scores: tuple[int, ...], n: int) -> Floats:
    """Return P(sum >= s) for s = 0, 1, ..., where the sum is that of `n` of the scores, each choice equally likely.

    `scores`: ranks, or twice the ranks where ties share one; not negative.
    `n`: how many are chosen, from 0 to all.

    Source: B. Streitberg, J. Röhmel: *Exact distributions for permutation and rank tests*, 1986: the shift algorithm.
    """
    largest = sum(sorted(scores)[len(scores) - n :])
    ways = np.zeros((n + 1, largest + 1))
    ways[0, 0] = 1
    for score in scores:
        ways[1:, score:] += ways[:-1, : largest + 1 - score].copy()
    return _tail(ways[n])


@lru_cache(maxsize=4096)
def signed_tail(scores: tuple[int, ...]) -> Floats:
    """Return P(sum >= s) for s = 0, 1, ..., where each score is in the sum with probability 1/2."""
    ways = np.zeros(sum(scores) + 1)
    ways[0] = 1
    for score in scores:
        ways[score:] += ways[: len(ways) - score].copy()
    return _tail(ways)


def rank_sum_tail(n: int, m: int) -> Floats:
    """Return P(U >= u) for u = 0, ..., n*m, without ties."""
    tail = subset_tail(tuple(range(1, n + m + 1)), n)
    return tail[n * (n + 1) // 2 :]


def signed_rank_tail(n: int) -> Floats:
    """Return P(V >= v) for v = 0, ..., n(n+1)/2, without ties."""
    return signed_tail(tuple(range(1, n + 1)))


def _tail(ways: Floats) -> Floats:
    tail: Floats = np.cumsum(ways[::-1])[::-1] / ways.sum()
    tail.flags.writeable = False
    return tail
