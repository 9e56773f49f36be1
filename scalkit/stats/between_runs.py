"""The ratio of two things that were measured in several runs: one comparison, for all that compare runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.stats.rank_tests import least_rank_sum_p, least_signed_rank_p, rank_sum, signed_rank
from scalkit.stats.samples import Flags, Floats, Integers, both_sides
from scalkit.stats.shift import hodges_lehmann_ratio

CONFIDENCE = 0.99
"""By default. Of 100 equal pairs, one counts as different: many ratios are looked at together, so that 0.95 is too little."""

PAIRED_FROM = 8
"""So many runs that both sides share are compared in pairs: fewer pairs cannot reach the usual confidence."""

FEW = 6
"""With fewer runs a side, it is said of how many runs a probability is."""


@dataclass(frozen=True, eq=False)
class RunRatios:
    """Ratios of two sides; every array has the shape (samples,).

    `ratio`, `low`, `high`: how many times larger left is than right, with its interval; unbounded where so few runs cannot give
    the confidence, and NaN where a side has no value.
    `p`: of the two-sided test. NaN where so few runs cannot differ at the confidence.
    `n_left`, `n_right`: runs that have a value.
    `is_paired`: whether the runs of both sides are the same, and their pairs were compared.
    """

    ratio: Floats
    low: Floats
    high: Floats
    p: Floats
    n_left: Integers
    n_right: Integers
    is_paired: Flags

    @property
    def probability(self) -> Floats:
        """The probability that left and right differ as the ratio says: 1 less the p-value, at least 0.5; NaN where p is."""
        probability: Floats = np.maximum(1 - self.p, 0.5)  # it is a guess at worst
        return probability


def require_confidence(confidence: float) -> float:
    """Return a confidence. Raises UsageError if it is no number from 0.5 to below 1."""
    if not 0.5 <= confidence < 1:
        raise UsageError(f"the confidence is {confidence!r}; a number from 0.5 to below 1 is needed.")
    return float(confidence)


def run_ratios(left: ArrayLike, right: ArrayLike, confidence: float = CONFIDENCE) -> RunRatios:
    """Return the ratio of `left` to `right`, and its certainty, with the runs as the sample.

    The ratio is the median of all ratios of a run to a run, its interval holds every ratio that the two-sided test does not
    refuse. The test is exact: that of the rank sums; that of the signed ranks where both sides were measured in the same runs,
    at least `PAIRED_FROM` of them. Then what a run changes on both sides does not count.

    `left`, `right` of shape (samples, runs): positive, in any unit. A column is a run; NaN where it has no value.
    `confidence`: of the intervals, from 0.5 to below 1.
    Raises DataError if a value is infinite or not positive, or the sides have different numbers of samples or runs.
    Raises UsageError if the confidence is another number.

    Source: J. L. Hodges, E. L. Lehmann: *Estimates of Location Based on Rank Tests*, 1963; F. Wilcoxon: *Individual
    Comparisons by Ranking Methods*, 1945.
    """
    level = 1 - require_confidence(confidence)
    a, b = both_sides(left, right)
    there = ~np.isnan(a), ~np.isnan(b)
    n_left, n_right = (np.count_nonzero(side, axis=1) for side in there)
    is_paired = np.zeros(len(a), dtype=bool)
    if a.shape[1] == b.shape[1]:
        is_paired = (there[0] == there[1]).all(axis=1) & (n_left >= PAIRED_FROM)
    found = np.full((4, len(a)), np.nan)
    for paired in (False, True):
        rows = np.flatnonzero(is_paired == paired)
        if len(rows):
            shift = hodges_lehmann_ratio(a[rows], b[rows], confidence, paired=paired)
            p = (signed_rank if paired else rank_sum)(np.log(a[rows]), np.log(b[rows]), "two-sided")
            found[:, rows] = shift.estimate, shift.low, shift.high, p
    can = [
        2 * (least_signed_rank_p(n) if paired else least_rank_sum_p(n, m)) <= level if n and m else False
        for n, m, paired in zip(n_left.tolist(), n_right.tolist(), is_paired.tolist(), strict=True)
    ]
    p = np.where(can, found[3], np.nan)
    return RunRatios(found[0], found[1], found[2], p, n_left, n_right, is_paired)
