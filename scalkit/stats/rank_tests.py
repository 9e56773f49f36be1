"""Rank tests of many samples at once, of Wilcoxon: sums of ranks and signed ranks; exact for small samples, also with ties."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.stats.samples import Alternative, Flags, Floats, Integers, alternative_of, by_counts, same_rows, samples


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


METHODS = ("auto", "exact", "asymptotic")
_EXACT_BELOW = 50
_EXACT_TIED_UP_TO = 40


@dataclass(frozen=True, eq=False)
class RankTest:
    """Tests of many samples; every attribute is an array of shape (samples,).

    `statistic`: of the rank sum: pairs in which left is larger, a tie counts half. Of the signed rank: sum of the ranks of
    the positive differences.
    `p`: NaN where a side has no value.
    `is_exact`: whether p comes from the distribution of the statistic, given the ties, and not from its normal
    approximation.
    `n_left`, `n_right`: values used.
    """

    statistic: Floats
    p: Floats
    is_exact: Flags
    n_left: Integers
    n_right: Integers

    def __len__(self) -> int:
        return len(self.p)

    @property
    def effect(self) -> Floats:
        """How probable it is that left is larger than right, a tie counts half: A12, from 0 to 1; of the rank sum only."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.statistic / (self.n_left * self.n_right)


def rank_sum(left: ArrayLike, right: ArrayLike, alternative: Alternative = "greater", method: str = "auto") -> RankTest:
    """Return the test of whether `left` is shifted to the right of `right`, for each pair of rows.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): in any unit; NaN where a value is missing.
    `alternative`: of left against right.
    `method`: ``auto`` is exact below 50 values on each side, as in R; with ties up to 40 values in all, given the ties (as
    in R 4.6). ``asymptotic`` is the normal approximation with corrections for continuity and ties.
    Raises DataError if a value is infinite, or the sides have different numbers of samples.
    Raises UsageError if a word is unknown.

    Source: F. Wilcoxon: *Individual Comparisons by Ranking Methods*, 1945; H. B. Mann, D. R. Whitney, 1947.
    `scipy.stats.mannwhitneyu` has the same answers, except that its exact method ignores ties.
    """
    alternative = alternative_of(alternative)
    if method not in METHODS:
        raise UsageError(f"the method {method!r} is unknown; choose from {', '.join(METHODS)}.")
    a, b = same_rows(samples(left, "left"), samples(right, "right"))
    statistic, p = np.full(len(a), np.nan), np.full(len(a), np.nan)
    is_exact = np.zeros(len(a), dtype=bool)
    n_left, n_right = np.zeros(len(a), dtype=np.int64), np.zeros(len(a), dtype=np.int64)
    for rows, (x, y) in by_counts(a, b):
        n_left[rows], n_right[rows] = x.shape[1], y.shape[1]
        if x.shape[1] and y.shape[1]:
            statistic[rows], p[rows], is_exact[rows] = _tested(x, y, alternative, method)
    return RankTest(statistic, p, is_exact, n_left, n_right)


def _tested(x: Floats, y: Floats, alternative: Alternative, method: str) -> tuple[Floats, Floats, Flags]:
    from scipy.stats import rankdata

    n, m = x.shape[1], y.shape[1]
    doubled = np.rint(2 * rankdata(np.concatenate((x, y), axis=1), axis=1)).astype(np.int64)
    sums = doubled[:, :n].sum(axis=1)
    u = (sums - n * (n + 1)) / 2
    scores = np.sort(doubled, axis=1)
    is_tied = (scores[:, 1:] == scores[:, :-1]).any(axis=1)
    is_small = max(n, m) < _EXACT_BELOW
    is_exact = np.where(is_tied, is_small and n + m <= _EXACT_TIED_UP_TO, is_small) | (method == "exact")
    is_exact &= method != "asymptotic"
    p = np.empty(len(x))
    rows = np.flatnonzero(is_exact & ~is_tied)
    if len(rows):
        tail, at = rank_sum_tail(n, m), u[rows].astype(np.int64)
        p[rows] = one_or_two_sided(tail[at], tail[n * m - at], alternative)
    rows = np.flatnonzero(is_exact & is_tied)
    p[rows] = _conditional(scores[rows], sums[rows], n, alternative)
    rows = np.flatnonzero(~is_exact)
    p[rows] = _approximate(x[rows], y[rows], alternative)
    return u, p, is_exact


def _conditional(scores: Integers, sums: Integers, n: int, alternative: Alternative) -> Floats:
    """Return exact p-values where ranks are tied; rows with the same ties share a distribution."""
    p = np.empty(len(scores))
    if not len(scores):
        return p
    kinds, which = np.unique(scores, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = which.ravel() == number
        tail = np.append(subset_tail(tuple(kind.tolist()), n), 0.0)
        p[rows] = one_or_two_sided(tail[sums[rows]], 1 - tail[sums[rows] + 1], alternative)
    return p


def one_or_two_sided(greater: Floats, less: Floats, alternative: Alternative) -> Floats:
    """Return the p-value that is asked for, given both one-sided ones."""
    if alternative == "two-sided":
        both: Floats = np.minimum(1.0, 2 * np.minimum(greater, less))
        return both
    one_sided: Floats = greater if alternative == "greater" else np.maximum(less, 0.0)
    return one_sided


def _approximate(x: Floats, y: Floats, alternative: Alternative) -> Floats:
    if not len(x):
        return np.empty(0)
    from scipy.stats import mannwhitneyu

    with np.errstate(invalid="ignore", divide="ignore"):
        p: Floats = mannwhitneyu(x, y, alternative=alternative, method="asymptotic", axis=1).pvalue
    all_equal = np.minimum(x[:, 0], y[:, 0]) == np.maximum(x[:, -1], y[:, -1])
    p[all_equal] = 1.0
    return p


ADJUSTMENTS = ("bh", "by", "none")


def adjusted_p(p: ArrayLike, method: str = "bh") -> Floats:
    """Return p-values adjusted for their number: to call those up to q significant makes a share of q false, on average.

    `p` (shape (tests,)): NaN is no test: it stays NaN and is not counted.
    `method`: Benjamini and Hochberg (independent or positively dependent tests), Benjamini and Yekutieli (any dependence),
    or none.
    Raises UsageError if the method is unknown.

    Source: Y. Benjamini, Y. Hochberg: *Controlling the False Discovery Rate*, 1995; `scipy.stats.false_discovery_control`.
    """
    if method not in ADJUSTMENTS:
        raise UsageError(f"the adjustment {method!r} is unknown; choose from {', '.join(ADJUSTMENTS)}.")
    adjusted: Floats = np.array(p, dtype=np.float64)
    tested = ~np.isnan(adjusted)
    if method != "none" and tested.any():
        from scipy.stats import false_discovery_control

        adjusted[tested] = false_discovery_control(adjusted[tested], method=method)
    return adjusted


_EXACT_UP_TO = 50


def differences(left: ArrayLike, right: ArrayLike) -> Floats:
    """Return ``left - right``, NaN where one of a pair is missing. Raises DataError if the sides do not have as many values."""
    a, b = same_rows(samples(left, "left"), samples(right, "right"))
    if a.shape != b.shape:
        raise DataError(f"left has {a.shape[1]} values a sample, right {b.shape[1]}; pairs need as many on both sides.")
    return a - b


def signed_rank(left: ArrayLike, right: ArrayLike | float = 0.0, alternative: Alternative = "greater") -> RankTest:
    """Return the test of whether pairs differ: `left` above `right`, for each pair of rows.

    Pairs without a difference are dropped, as R does. Up to 50 pairs p is exact, given the ties; beyond, it is the normal
    approximation with corrections for continuity and ties.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, n) or (n,)): NaN where a value is missing: that pair is left out.
    Raises DataError if the sides do not have as many values, or one is infinite.
    Raises UsageError if the alternative is unknown.

    Source: F. Wilcoxon: *Individual Comparisons by Ranking Methods*, 1945. `scipy.stats.wilcoxon` has the same answers,
    except that its exact method ignores ties.
    """
    alternative = alternative_of(alternative)
    shape = np.shape(left)
    d = differences(left, np.broadcast_to(right, shape) if np.ndim(right) == 0 else right)
    given = np.count_nonzero(~np.isnan(d), axis=1)
    d = np.where(d == 0, np.nan, d)
    statistic, p = np.full(len(d), np.nan), np.full(len(d), np.nan)
    is_exact = np.zeros(len(d), dtype=bool)
    used = np.zeros(len(d), dtype=np.int64)
    for rows, (x,) in by_counts(d):
        used[rows] = n = x.shape[1]
        is_exact[rows] = n <= _EXACT_UP_TO
        if n:
            statistic[rows], p[rows] = _pairs_tested(x, alternative)
        else:
            statistic[rows], p[rows] = 0.0, np.where(given[rows] > 0, 1.0, np.nan)
    return RankTest(statistic, p, is_exact, used, used)


def _pairs_tested(x: Floats, alternative: Alternative) -> tuple[Floats, Floats]:
    from scipy.stats import rankdata

    n = x.shape[1]
    scores = np.rint(2 * rankdata(np.abs(x), axis=1)).astype(np.int64)
    sums = np.where(x > 0, scores, 0).sum(axis=1)
    if n > _EXACT_UP_TO:
        return sums / 2, _normal_of_signs(scores, sums, n, alternative)
    p = np.empty(len(x))
    kinds, which = np.unique(np.sort(scores, axis=1), axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = which.ravel() == number
        tail = np.append(signed_tail(tuple(kind.tolist())), 0.0)
        p[rows] = one_or_two_sided(tail[sums[rows]], tail[scores[0].sum() - sums[rows]], alternative)
    return sums / 2, p


def _normal_of_signs(scores: Integers, sums: Integers, n: int, alternative: Alternative) -> Floats:
    """Return the normal approximation; the variance of a sum of signed ranks is the sum of their squares over four."""
    from scipy.special import ndtr

    deviation = np.sqrt((scores.astype(float) ** 2).sum(axis=1)) / 4
    above = sums / 2 - n * (n + 1) / 4
    return one_or_two_sided(ndtr(-(above - 0.5) / deviation), ndtr((above + 0.5) / deviation), alternative)
