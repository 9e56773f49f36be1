"""The Wilcoxon rank sum test of many pairs of samples at once: exact for small samples, with ties or without."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.stats.null import rank_sum_tail, subset_tail
from scalkit.stats.samples import Alternative, Flags, Floats, Integers, alternative_of, by_counts, same_rows, samples

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
