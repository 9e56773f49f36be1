"""How far samples lie apart, with intervals: the Hodges-Lehmann estimate; and medians without outliers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.stats.rank_tests import signed_tails, subset_tails
from scalkit.stats.samples import Floats, Integers, both_sides, by_counts, samples

_EXACT_UP_TO = 50
_MOST_DIFFERENCES = 1 << 22


@dataclass(frozen=True, eq=False)
class Shift:
    """Estimates and their intervals, arrays of shape (samples,).

    `estimate`, `low`, `high`: in the unit of the values, or ratios. An interval is unbounded where so few values cannot give
    the confidence; all are NaN where a side has no value.
    """

    estimate: Floats
    low: Floats
    high: Floats


def hodges_lehmann(left: ArrayLike, right: ArrayLike, confidence: float = 0.95, *, paired: bool = False) -> Shift:
    """Return by how much `left` lies above `right`: the median of all differences, with an exact interval.

    The interval holds every shift that the two-sided rank test, of sums or of signed ranks, does not refuse. Beyond 50 values
    a side, the normal approximation of its bounds is used.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): NaN where a value is missing.
    `confidence`: probability that the interval covers the true shift; each bound alone fails with half of the rest.
    `paired`: whether left and right are pairs: then the averages of any two of the pairs' differences take part.
    Raises DataError if a value is infinite, or the sides do not fit each other.

    Source: J. L. Hodges, E. L. Lehmann: *Estimates of Location Based on Rank Tests*, 1963; R's
    ``wilcox.test(conf.int=TRUE)``.
    """
    a, b = both_sides(left, right, paired=paired)
    sides = (a - b,) if paired else (a, b)
    found = np.full((3, len(a)), np.nan)
    for rows, values in by_counts(*sides):
        if all(side.shape[1] for side in values):
            for part in _parts(len(rows), values, paired):
                found[:, rows[part]] = _estimated([side[part] for side in values], 1 - confidence, paired)
    return Shift(*found)


def hodges_lehmann_ratio(left: ArrayLike, right: ArrayLike, confidence: float = 0.95, *, paired: bool = False) -> Shift:
    """Return how many times larger `left` is than `right`: `hodges_lehmann` of their logarithms, as ratios.

    Raises DataError as `hodges_lehmann`, and if a value is not positive.
    """
    sides = both_sides(left, right, paired=paired)
    for name, values in zip(("left", "right"), sides, strict=True):
        if (values <= 0).any():
            raise DataError(f"{name} has the value {values[values <= 0][0]:g}; a ratio needs positive values.")
    shift = hodges_lehmann(np.log(sides[0]), np.log(sides[1]), confidence, paired=paired)
    return Shift(np.exp(shift.estimate), np.exp(shift.low), np.exp(shift.high))


def _parts(rows: int, values: tuple[Floats, ...], paired: bool) -> Iterator[slice]:
    n, m = values[0].shape[1], values[-1].shape[1]
    step = max(1, _MOST_DIFFERENCES // (n * (n + 1) // 2 if paired else n * m))
    return (slice(at, at + step) for at in range(0, rows, step))


def _estimated(values: list[Floats], alpha: float, paired: bool) -> tuple[Floats, Floats, Floats]:
    if paired:
        (d,) = values
        n = d.shape[1]
        first, second = np.triu_indices(n)
        shifts = np.sort((d[:, first] + d[:, second]) / 2, axis=1)
        variance = n * (n + 1) * (2 * n + 1) / 24
        outside = _outside(lambda: signed_tails(tuple(range(1, n + 1)))[0], shifts.shape[1], variance, n, alpha)
    else:
        x, y = values
        n, m = x.shape[1], y.shape[1]
        shifts = np.sort((x[:, :, None] - y[:, None, :]).reshape(len(x), n * m), axis=1)
        ranks = tuple(range(1, n + m + 1))
        outside = _outside(
            lambda: subset_tails(ranks, n)[0][n * (n + 1) // 2 :], n * m, n * m * (n + m + 1) / 12, max(n, m), alpha
        )
    size = shifts.shape[1]
    estimate = (shifts[:, (size - 1) // 2] + shifts[:, size // 2]) / 2
    if not outside:
        return estimate, np.full(len(shifts), -np.inf), np.full(len(shifts), np.inf)
    return estimate, shifts[:, outside - 1], shifts[:, size - outside]


def _outside(tail: Callable[[], Floats], size: int, variance: float, n: int, alpha: float) -> int:
    """Return the place, from 1, of the shift that bounds the interval on either side; 0 if none may."""
    if n > _EXACT_UP_TO:
        from scipy.special import ndtri

        return max(0, int(np.floor(size / 2 + ndtri(alpha / 2) * np.sqrt(variance))))
    at_least: Integers = np.flatnonzero(tail() <= alpha / 2 * (1 + 1e-12))
    return size + 1 - int(at_least[0]) if len(at_least) else 0


def fenced_medians(values: ArrayLike) -> Floats:
    """Return the median of each sample without its outliers: beyond q1 - 1.5 (q3 - q1) or q3 + 1.5 (q3 - q1).

    `values` (shape (samples, n) or (n,)): NaN where a value is missing.
    Returns (shape (samples,)): quartiles interpolate linearly, as numpy's and R's do by default; NaN for a sample without
    values.
    Raises DataError if a value is infinite.

    Source: J. W. Tukey: *Exploratory Data Analysis*, 1977.
    """
    every = samples(values)
    medians = np.full(len(every), np.nan)
    for rows, (ordered,) in by_counts(every):
        if not ordered.shape[1]:
            continue
        q1, q3 = np.quantile(ordered, [0.25, 0.75], axis=1)
        reach = 1.5 * (q3 - q1)
        is_inside = (ordered >= (q1 - reach)[:, None]) & (ordered <= (q3 + reach)[:, None])
        first, kept, row = is_inside.argmax(axis=1), is_inside.sum(axis=1), np.arange(len(rows))
        medians[rows] = (ordered[row, first + (kept - 1) // 2] + ordered[row, first + kept // 2]) / 2
    return medians
