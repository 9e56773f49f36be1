"""The Wilcoxon signed rank test of many samples of pairs at once."""

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.stats.null import signed_tail
from scalkit.stats.rank_sum import RankTest, one_or_two_sided
from scalkit.stats.samples import Alternative, Floats, Integers, alternative_of, by_counts, same_rows, samples

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
            statistic[rows], p[rows] = _tested(x, alternative)
        else:
            statistic[rows], p[rows] = 0.0, np.where(given[rows] > 0, 1.0, np.nan)
    return RankTest(statistic, p, is_exact, used, used)


def _tested(x: Floats, alternative: Alternative) -> tuple[Floats, Floats]:
    from scipy.stats import rankdata

    n = x.shape[1]
    scores = np.rint(2 * rankdata(np.abs(x), axis=1)).astype(np.int64)
    sums = np.where(x > 0, scores, 0).sum(axis=1)
    if n > _EXACT_UP_TO:
        return sums / 2, _approximate(scores, sums, n, alternative)
    p = np.empty(len(x))
    kinds, which = np.unique(np.sort(scores, axis=1), axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = which.ravel() == number
        tail = np.append(signed_tail(tuple(kind.tolist())), 0.0)
        p[rows] = one_or_two_sided(tail[sums[rows]], tail[scores[0].sum() - sums[rows]], alternative)
    return sums / 2, p


def _approximate(scores: Integers, sums: Integers, n: int, alternative: Alternative) -> Floats:
    """Return the normal approximation; the variance of a sum of signed ranks is the sum of their squares over four."""
    from scipy.special import ndtr

    deviation = np.sqrt((scores.astype(float) ** 2).sum(axis=1)) / 4
    above = sums / 2 - n * (n + 1) / 4
    return one_or_two_sided(ndtr(-(above - 0.5) / deviation), ndtr((above + 0.5) / deviation), alternative)
