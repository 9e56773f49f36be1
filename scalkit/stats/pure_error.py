"""The noise of the values of a series, from the spread between repetitions or runs."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.measure.reduce import Values
from scalkit.support.arrays import Floats

PRIOR_NOISE = 0.03
"""Relative standard deviation of one repetition that is assumed with the weight of `PRIOR_FREEDOM` degrees of freedom."""
PRIOR_FREEDOM = 2
_LEAST = 1e-9  # what rounding leaves of values that repeat
_FACTORS = {"mean": 1.0, "median": math.sqrt(math.pi / 2), "q1": 1.3626, "cut_mean": 1.0932}
_FACTORS |= {"cut_mean_1": 1.0559, "cut_mean_4": 1.0559, "cut_mean_12": 1.1676, "cut_mean_34": 1.1676}
_OF_MINIMUM = 0.65
_BETWEEN = ((0.0, 0.4), (0.005, 0.1), (0.01, 0.1), (0.02, 0.1), (0.04, 0.1), (0.08, 0.1), (0.16, 0.1))
"""Relative standard deviations between settings, and their masses."""
_MOST_FREEDOM = 1e6  # Student and normal are the same from there on


@dataclass(frozen=True)
class Noise:
    """How far a value may be off.

    `error`: relative standard error of one value of the series, after the statistic over its repetitions.
    `freedom`: degrees of freedom behind it.
    `is_all`: whether values scatter by this error alone. If not, every setting may be off by up to 16 % more, in a way
    that its repetitions share: another placement, another state of the machine.
    """

    error: float
    freedom: float
    is_all: bool = True

    def misfit(self, rss: ArrayLike, n: int) -> Floats:
        """Return -2 log likelihood of squared relative residuals `rss` over `n` settings, but for a constant.

        The likelihood is Student's, because the error itself is estimated; where it is not all, that of a mixture of Student's
        with an additional scatter between settings from 0 to 16 %.
        """
        residuals = np.asarray(rss, dtype=np.float64)
        variance, freedom, level = _components(self, n)
        with np.errstate(over="ignore"):
            logs = level - (freedom + n) / 2 * np.log1p(residuals[..., None] / variance / freedom)
        return np.asarray(-2 * np.logaddexp.reduce(logs, axis=-1))


@lru_cache(maxsize=64)
def _components(noise: Noise, n: int) -> tuple[Floats, Floats, Floats]:
    """Return variance, degrees of freedom and logarithm of the constant of each Student's likelihood in the mixture."""
    error = noise.error**2
    variance = error + np.array([tau for tau, _ in _BETWEEN] if not noise.is_all else [0.0]) ** 2
    freedom = np.minimum(noise.freedom * (variance / error) ** 2, _MOST_FREEDOM)
    level = np.array([_level(f, n) for f in freedom.tolist()]) - _level(noise.freedom, n) - n / 2 * np.log(variance / error)
    return variance, freedom, level + (np.log([mass for _, mass in _BETWEEN]) if not noise.is_all else 0.0)


def _level(freedom: float, n: int) -> float:
    """Return the logarithm of the constant of Student's likelihood of `n` values, but for powers of pi."""
    return math.lgamma((freedom + n) / 2) - math.lgamma(freedom / 2) - n / 2 * math.log(freedom)


def noise_of(series: Values, statistic: str = "q1") -> Noise:
    """Return the noise of the values of a series, see `pure_error`."""
    return pure_error(series.replicates, statistic, exact=series.exact, resolution=series.resolution)


def standard_error(series: Values, statistic: str = "q1") -> float:
    """Return the relative standard error of a value; 0 for times of a virtual clock, and where no value is positive."""
    return 0.0 if series.virtual or not (series.replicates > 0).any() else noise_of(series, statistic).error


def pure_error(values: ArrayLike, statistic: str = "q1", *, exact: bool = False, resolution: float = 0.0) -> Noise:
    """Return the noise of a series; a prior speaks where there are no repetitions and fades where there are many.

    `values` of shape (points,): positive where finite; NaN where a value is missing.
    `statistic`: what makes one value of the repetitions of a setting.
    `exact`: whether the metric has no noise but its rounding; then nothing is assumed.
    `resolution` in the unit of `values`: step to which the values are rounded; for an exact metric without one it is 1.
    Raises DataError if the statistic is unknown or there is no value.

    Source: The asymptotic standard error of a quantile q is ``sqrt(q (1 - q) / n) / f``, f the density there: 1.253 and
    1.363 times that of a mean for the median and the first quartile of normal noise; that of a mean that leaves out
    quarters follows from the values with what is cut moved to the quartiles (Tukey and McLaughlin 1963).
    """
    if statistic not in (*_FACTORS, "min"):
        raise DataError(f"the statistic {statistic!r} is unknown; choose one of {', '.join(_FACTORS)}, min.")
    table = np.asarray(values, dtype=np.float64)
    table = table.reshape(len(table), -1)
    there = np.isfinite(table) & (table > 0)
    count = there.sum(axis=1)
    if not count.any():
        raise DataError("there is no positive value to estimate the noise from.")
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(there, np.log(np.where(there, table, 1.0)), 0.0)
    mean = logs.sum(axis=1) / np.maximum(count, 1)
    squares = float((np.where(there, logs - mean[:, np.newaxis], 0.0) ** 2).sum())
    freedom = int(np.maximum(count - 1, 0).sum()) + PRIOR_FREEDOM
    assumed = 0.0 if exact else PRIOR_FREEDOM * PRIOR_NOISE**2
    sigma = math.sqrt((squares + assumed) / freedom)
    n_repetitions = float(len(count[count > 0]) / (1.0 / count[count > 0]).sum())
    factor = _FACTORS[statistic] / math.sqrt(n_repetitions) if statistic != "min" and n_repetitions > 1 else 1.0
    if statistic == "min" and n_repetitions > 1:
        factor = _OF_MINIMUM
    step = resolution or (1.0 if exact else 0.0)
    rounding = step / math.sqrt(12) / float(np.median(table[there]))
    return Noise(max(_LEAST, math.hypot(sigma * factor, rounding)), float(freedom))
