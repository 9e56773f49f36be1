"""How far samples lie apart, with intervals: the Hodges-Lehmann estimate, and medians without outliers by a bootstrap."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.stats.rank_tests import differences, rank_sum_tail, signed_rank_tail
from scalkit.stats.samples import Floats, Integers, by_counts, fraction, same_rows, samples

_EXACT_UP_TO = 50
_MOST_DIFFERENCES = 1 << 22


@dataclass(frozen=True, eq=False)
class Shift:
    """Estimates and their intervals, arrays of shape (samples,).

    `estimate`, `low`, `high`: in the unit of the values, or ratios. An interval is unbounded where so few values cannot give
    the confidence; all are NaN where a side has no value.
    `confidence`: probability that the interval covers the true shift; each bound alone fails with half of the rest.
    """

    estimate: Floats
    low: Floats
    high: Floats
    confidence: float


def hodges_lehmann(left: ArrayLike, right: ArrayLike, confidence: float = 0.95, *, paired: bool = False) -> Shift:
    """Return by how much `left` lies above `right`: the median of all differences, with an exact interval.

    The interval holds every shift that the two-sided rank test, of sums or of signed ranks, does not refuse. Beyond 50 values
    a side, the normal approximation of its bounds is used.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): NaN where a value is missing.
    `confidence`: between 0 and 1.
    `paired`: whether left and right are pairs: then the averages of any two of the pairs' differences take part.
    Raises DataError if a value is infinite, or the sides do not fit each other.
    Raises UsageError if the confidence is not between 0 and 1.

    Source: J. L. Hodges, E. L. Lehmann: *Estimates of Location Based on Rank Tests*, 1963; R's
    ``wilcox.test(conf.int=TRUE)``.
    """
    alpha = 1 - fraction(confidence, "confidence")
    if paired:
        sides: tuple[Floats, ...] = (differences(left, right),)
    else:
        sides = same_rows(samples(left, "left"), samples(right, "right"))
    found = np.full((3, len(sides[0])), np.nan)
    for rows, values in by_counts(*sides):
        if all(side.shape[1] for side in values):
            for part in _parts(len(rows), values, paired):
                found[:, rows[part]] = _estimated([side[part] for side in values], alpha, paired)
    return Shift(found[0], found[1], found[2], float(confidence))


def hodges_lehmann_ratio(left: ArrayLike, right: ArrayLike, confidence: float = 0.95, *, paired: bool = False) -> Shift:
    """Return how many times larger `left` is than `right`: `hodges_lehmann` of their logarithms, as ratios.

    Raises DataError as `hodges_lehmann`, and if a value is not positive.
    """
    logs: list[Floats] = []
    for name, values in (("left", left), ("right", right)):
        array = samples(values, name)
        if (array <= 0).any():
            raise DataError(f"{name} has the value {array[array <= 0][0]:g}; a ratio needs positive values.")
        logs.append(np.log(array))
    shift = hodges_lehmann(logs[0], logs[1], confidence, paired=paired)
    return Shift(np.exp(shift.estimate), np.exp(shift.low), np.exp(shift.high), shift.confidence)


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
        outside = _outside(lambda: signed_rank_tail(n), shifts.shape[1], variance, n, alpha)
    else:
        x, y = values
        n, m = x.shape[1], y.shape[1]
        shifts = np.sort((x[:, :, None] - y[:, None, :]).reshape(len(x), n * m), axis=1)
        outside = _outside(lambda: rank_sum_tail(n, m), n * m, n * m * (n + m + 1) / 12, max(n, m), alpha)
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


def tukey_fence(values: ArrayLike, k: float = 1.5) -> tuple[Floats, Floats]:
    """Return the bounds beyond which a value is an outlier: q1 - k (q3 - q1) and q3 + k (q3 - q1).

    `values` (shape (samples, n) or (n,)): NaN where a value is missing.
    `k`: not negative.
    Returns (shape (samples,)): quartiles interpolate linearly, as numpy's and R's do by default; NaN for a sample without
    values.
    Raises DataError if a value is infinite.
    Raises UsageError if `k` is negative.

    Source: J. W. Tukey: *Exploratory Data Analysis*, 1977.
    """
    ordered, counts = _ordered(values)
    return _fence(ordered, counts, k)


def fenced_medians(values: ArrayLike, k: float = 1.5) -> tuple[Floats, Integers]:
    """Return the median of each sample without its outliers, and how many values it kept.

    Parameters and errors are those of `tukey_fence`.

    Returns (shape (samples,)): NaN for a sample without values.
    Returns: shape (samples,).
    """
    ordered, counts = _ordered(values)
    low, high = _fence(ordered, counts, k)
    below = np.count_nonzero(ordered < low[:, None], axis=1)
    kept = np.count_nonzero(ordered <= high[:, None], axis=1) - below  # NaN is on neither side
    return _between(ordered, below + (kept - 1) / 2, counts), kept.astype(np.int64)


def _ordered(values: ArrayLike) -> tuple[Floats, Integers]:
    ordered = np.sort(samples(values), axis=1)
    return ordered, np.count_nonzero(~np.isnan(ordered), axis=1).astype(np.int64)


def _fence(ordered: Floats, counts: Integers, k: float) -> tuple[Floats, Floats]:
    if not k >= 0:
        raise UsageError(f"the fence's factor is {k!r}; it must not be negative.")
    q1, q3 = (_between(ordered, q * (counts - 1), counts) for q in (0.25, 0.75))
    reach = k * (q3 - q1)
    return q1 - reach, q3 + reach


def _between(ordered: Floats, place: ArrayLike, counts: Integers) -> Floats:
    """Return values at fractional places of sorted rows, NaN where there are none."""
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan)
    place = np.clip(np.asarray(place, dtype=np.float64), 0, None)
    first = np.floor(place).astype(np.int64)
    second = np.minimum(first + 1, np.maximum(counts - 1, 0))
    rows = np.arange(len(ordered))
    start, end = ordered[rows, first], ordered[rows, second]
    # a value exactly on the fence must stay inside: no rounding between equal values
    found: Floats = start + (end - start) * (place - first)
    return found


_MOST_DRAWN = 1 << 22


def bootstrap_medians(
    left: ArrayLike,
    right: ArrayLike | None = None,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1999,
) -> Shift:
    """Return medians, or ratios of the medians of two sides, with percentile intervals.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): then the result is the ratio of the medians, left over right; both sides are drawn
    independently.
    `confidence`: between 0 and 1.
    Returns: NaN where a side has no value.
    Raises DataError if a value is infinite, or the sides have different numbers of samples.
    Raises UsageError if the confidence is not between 0 and 1.

    Source: B. Efron, R. J. Tibshirani: *An Introduction to the Bootstrap*, 1993. `hodges_lehmann_ratio` has shorter
    intervals from about ten values on.
    """
    ends = np.array([(1 - fraction(confidence, "confidence")) / 2])
    ends = np.append(ends, 1 - ends)
    a = samples(left, "left")
    sides = (a,) if right is None else same_rows(a, samples(right, "right"))
    found = np.full((3, len(sides[0])), np.nan)
    for rows, values in by_counts(*sides):
        if not all(side.shape[1] for side in values):
            continue
        draws = [rng.integers(side.shape[1], size=(n_resamples, side.shape[1])) for side in values]
        step = max(1, _MOST_DRAWN // max(draw.size for draw in draws))
        for at in range(0, len(rows), step):
            part = rows[at : at + step]
            parts = [side[at : at + step] for side in values]
            found[0, part] = _ratio([np.median(side, axis=1) for side in parts])
            drawn = _ratio([np.median(side[:, draw], axis=2) for side, draw in zip(parts, draws, strict=True)])
            found[1:, part] = np.quantile(drawn, ends, axis=1)
    return Shift(found[0], found[1], found[2], float(confidence))


def _ratio(medians: list[Floats]) -> Floats:
    return medians[0] if len(medians) == 1 else medians[0] / medians[1]
