"""Rank tests of many samples at once, of Wilcoxon: sums of ranks and signed ranks; exact for small samples, also with ties."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.stats.samples import Alternative, Floats, Integers, both_sides, by_counts

_EXACT_BELOW = 50
"""Values a side, or pairs, as in R; beyond, the normal approximation is used."""

_EXACT_TIED_UP_TO = 40
"""Values of both sides together where ranks are tied: each pattern of ties has a distribution of its own to count."""


def least_rank_sum_p(n: int, m: int) -> float:
    """Return the smallest one-sided p-value that a rank sum of `n` and `m` values can have: 1 / C(n+m, n).

    >>> round(least_rank_sum_p(6, 6), 5), round(least_rank_sum_p(7, 7), 5)
    (0.00108, 0.00029)
    """
    return 1 / math.comb(n + m, n)


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
def subset_tails(scores: tuple[int, ...], n: int) -> tuple[Floats, Floats]:
    """Return P(sum >= s) and P(sum <= s) for s = 0, 1, ...: the sum of `n` of the scores, each choice equally likely.

    `scores`: ranks, or twice the ranks where ties share one; not negative.
    `n`: how many are chosen, from 0 to all.

    Source: B. Streitberg, J. Röhmel: *Exact distributions for permutation and rank tests*, 1986: the shift algorithm.
    """
    largest = sum(sorted(scores)[len(scores) - n :])
    ways = np.zeros((n + 1, largest + 1))
    ways[0, 0] = 1
    for score in scores:
        ways[1:, score:] += ways[:-1, : largest + 1 - score].copy()
    return _tails(ways[n])


@lru_cache(maxsize=4096)
def signed_tails(scores: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return P(sum >= s) and P(sum <= s) for s = 0, 1, ...: each score is in the sum with probability 1/2."""
    ways = np.zeros(sum(scores) + 1)
    ways[0] = 1
    for score in scores:
        ways[score:] += ways[: len(ways) - score].copy()
    return _tails(ways)


def _tails(ways: Floats) -> tuple[Floats, Floats]:
    above, below = np.cumsum(ways[::-1])[::-1] / ways.sum(), np.cumsum(ways) / ways.sum()
    above.flags.writeable = below.flags.writeable = False
    return above, below


def rank_sum(left: ArrayLike, right: ArrayLike, alternative: Alternative = "greater") -> Floats:
    """Return p-values of whether `left` is shifted to the right of `right`, for each pair of rows.

    The test is exact below 50 values on each side, as in R; with ties up to 40 values in all, given the ties (as in R 4.6).
    Beyond, it is the normal approximation with corrections for continuity and ties.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): in any unit; NaN where a value is missing.
    `alternative`: of left against right.
    Returns (shape (samples,)): NaN where a side has no value.
    Raises DataError if a value is infinite, or the sides have different numbers of samples.

    Source: F. Wilcoxon: *Individual Comparisons by Ranking Methods*, 1945; H. B. Mann, D. R. Whitney, 1947.
    `scipy.stats.mannwhitneyu` has the same answers, except that its exact method ignores ties.
    """
    a, b = both_sides(left, right)
    p = np.full(len(a), np.nan)
    for rows, (x, y) in by_counts(a, b):
        if x.shape[1] and y.shape[1]:
            p[rows] = _of_sums(x, y, alternative)
    return p


def _of_sums(x: Floats, y: Floats, alternative: Alternative) -> Floats:
    from scipy.stats import mannwhitneyu, rankdata

    n, m = x.shape[1], y.shape[1]
    both = np.concatenate((x, y), axis=1)
    scores = np.rint(2 * rankdata(both, axis=1)).astype(np.int64)
    is_tied = (np.diff(np.sort(both, axis=1)) == 0).any(axis=1)
    is_exact = (max(n, m) < _EXACT_BELOW) & (~is_tied | (n + m <= _EXACT_TIED_UP_TO))
    p = np.ones(len(x))
    p[is_exact] = _counted(scores[is_exact], scores[is_exact, :n].sum(axis=1), lambda kind: subset_tails(kind, n), alternative)
    rest = ~is_exact & (both.min(axis=1) < both.max(axis=1))
    if rest.any():
        p[rest] = mannwhitneyu(x[rest], y[rest], alternative=alternative, method="asymptotic", axis=1).pvalue
    return p


def signed_rank(left: ArrayLike, right: ArrayLike, alternative: Alternative = "greater") -> Floats:
    """Return p-values of whether pairs differ: `left` above `right`, for each pair of rows.

    Pairs without a difference are dropped, as R does. Up to 50 pairs p is exact, given the ties; beyond, it is the normal
    approximation with corrections for continuity and ties.

    `left`, `right` (shape (samples, n) or (n,)): NaN where a value is missing: that pair is left out.
    Returns (shape (samples,)): NaN where there is no pair.
    Raises DataError if the sides do not have as many values, or one is infinite.

    Source: F. Wilcoxon: *Individual Comparisons by Ranking Methods*, 1945. `scipy.stats.wilcoxon` has the same answers,
    except that its exact method ignores ties.
    """
    a, b = both_sides(left, right, paired=True)
    d = a - b
    p = np.where(np.isnan(d).all(axis=1), np.nan, 1.0)
    for rows, (x,) in by_counts(np.where(d == 0, np.nan, d)):
        if x.shape[1]:
            p[rows] = _of_signs(x, alternative)
    return p


def _of_signs(x: Floats, alternative: Alternative) -> Floats:
    from scipy.stats import rankdata, wilcoxon

    if x.shape[1] > _EXACT_BELOW:
        approximate: Floats = wilcoxon(x, alternative=alternative, method="asymptotic", correction=True, axis=1).pvalue
        return approximate
    scores = np.rint(2 * rankdata(np.abs(x), axis=1)).astype(np.int64)
    return _counted(scores, np.where(x > 0, scores, 0).sum(axis=1), signed_tails, alternative)


def _counted(
    scores: Integers, sums: Integers, tails: Callable[[tuple[int, ...]], tuple[Floats, Floats]], alternative: Alternative
) -> Floats:
    """Return exact p-values of sums of scores; rows with the same ties share a distribution."""
    p = np.empty(len(scores))
    kinds, which = np.unique(np.sort(scores, axis=1), axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = which.ravel() == number
        above, below = (tail[sums[rows]] for tail in tails(tuple(kind.tolist())))
        p[rows] = above if alternative == "greater" else np.minimum(1.0, 2 * np.minimum(above, below))
    return p


def adjusted_p(p: ArrayLike) -> Floats:
    """Return p-values adjusted for their number: to call those up to q significant makes a share of q false, on average.

    `p` (shape (tests,)): of independent or positively dependent tests. NaN is no test: it stays NaN and is not counted.

    Source: Y. Benjamini, Y. Hochberg: *Controlling the False Discovery Rate*, 1995; `scipy.stats.false_discovery_control`.
    """
    from scipy.stats import false_discovery_control

    adjusted: Floats = np.array(p, dtype=np.float64)
    tested = ~np.isnan(adjusted)
    if tested.any():
        adjusted[tested] = false_discovery_control(adjusted[tested])
    return adjusted
