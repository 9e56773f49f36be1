"""How far one sample is shifted against another: the Hodges-Lehmann estimate with its exact interval."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.stats.null import rank_sum_tail, signed_rank_tail
from scalkit.stats.samples import Floats, Integers, by_counts, fraction, same_rows, samples
from scalkit.stats.signed_rank import differences

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
