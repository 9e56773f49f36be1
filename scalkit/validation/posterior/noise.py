"""The noise of a series: how far repeated measurements scatter, and how much settings may deviate from any model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.measure.quarter_means import quantile

TAUS = np.array([0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16])
_TAU_MASS = np.array([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.03, 2.0
_SEXTILES = np.array([-0.967422, 0.0, 0.967422])  # of the standard normal distribution: 1/6, 1/2, 5/6
_UNKNOWN = np.array([0.002, 0.01, 0.04])
_WINSOR = 2.0
_MAD = 1.4826


@dataclass(frozen=True, eq=False)
class Noise:
    """Variances of the settings' values and their masses, for each series.

    `variances` of shape (series, Q): of the logarithm of a setting's value.
    `masses` of shape (Q,): sum to 1.
    """

    variances: Floats
    masses: Floats


@dataclass(frozen=True, eq=False)
class Summary:
    """What the posterior needs of the measurements.

    `z` of shape (series, points): mean natural logarithm of the replicates, winsorised; NaN where there are none.
    """

    z: Floats
    noise: Noise


def widened(noise: Noise, squares: np.ndarray[Any, np.dtype[np.float32]], n: int) -> Noise:
    """Return noise that reaches what even the best hypothesis leaves over.

    `squares` of shape (series,): smallest sum of squared residuals of any hypothesis.
    `n`: number of settings.
    """
    factor = np.maximum(1.0, squares / (n - 1) / noise.variances.max(axis=1))
    return Noise(noise.variances * factor[:, None], noise.masses)


def summarise(values: Floats) -> Summary:
    """Return location and noise of replicates.

    Logarithms beyond two pooled standard deviations (by the median absolute deviation) from the median of their setting
    are set to that bound. The variance within settings has a prior of 3 % with two degrees of freedom, the variance between
    settings a prior on seven values from 0 to 16 %. Without any repetition the former is one of three values up to 4 %.

    `values` of shape (series, points, replicates): positive; NaN where a replicate is missing.
    """
    logs = np.log(values)
    there = np.isfinite(logs)
    count = there.sum(axis=2)
    logs = _winsorised(logs, there, count)
    with np.errstate(invalid="ignore"):
        z = np.where(count > 0, np.where(there, logs, 0.0).sum(axis=2) / np.maximum(count, 1), np.nan)
    within = np.where(there, logs - z[:, :, None], 0.0)
    freedom = np.maximum(count - 1, 0).sum(axis=1) + _PRIOR_FREEDOM
    spread = (within**2).sum(axis=(1, 2)) + _PRIOR_FREEDOM * _PRIOR_SIGMA**2
    replicates = 1 / np.mean(1 / np.maximum(count, 1), axis=1, where=count > 0)
    sigma2 = spread[:, None] / _chi_square(freedom[:, None], _SEXTILES[None, :]) / replicates[:, None]
    sigma2 = np.where((freedom > _PRIOR_FREEDOM)[:, None], sigma2, _UNKNOWN[None, :] ** 2)
    variances = (TAUS[None, :, None] ** 2 + sigma2[:, None, :]).reshape(len(values), -1)
    return Summary(z, Noise(variances, np.repeat(_TAU_MASS / len(_SEXTILES), len(_SEXTILES))))


def _chi_square(freedom: Floats, normal: Floats) -> Floats:
    """Return quantiles of chi-square from those of the normal distribution (Wilson and Hilferty 1931)."""
    part = 2 / (9 * freedom)
    return np.asarray(freedom * (1 - part + normal * np.sqrt(part)) ** 3)


def _winsorised(logs: Floats, there: Flags, count: Any) -> Floats:
    """Return the logarithms with those far from the median of their setting drawn in."""
    if logs.shape[2] < 3:
        return logs
    filled = np.where(there, logs, np.inf)
    filled.sort(axis=2)
    enough = (count >= 3)[:, :, None] & there
    with np.errstate(invalid="ignore"):
        median = quantile(filled, count, 0.5)[:, :, None]
        away = np.where(enough, np.abs(logs - median), np.inf).reshape(len(logs), -1)
        away.sort(axis=1)
        pooled = quantile(away, enough.sum(axis=(1, 2)), 0.5)
    # the median of absolute deviations from a median of few values is too small by about sqrt(1 - 1/count)
    shrink = np.sqrt(1 - 1 / np.maximum(count.max(axis=1), 2))
    bound = (_WINSOR * _MAD * pooled / shrink)[:, None, None]
    bound = np.where(np.isfinite(bound), bound, np.inf)
    return np.where(there, np.clip(logs, median - bound, median + bound), np.nan)
