"""How precisely each setting follows a model: all alike, the less the smaller it is, or all but one.

Real programs are not one term at every scale: start-up, caches and protocols rule the small ones, and neighbouring settings
are off in the same direction. So the misfit may drift: it is nothing at the largest setting and moves away from there, farther
the smaller the scale. And one value may be off by a factor, as where something else ran beside it. Both are hypotheses of their
own; the values say how probable they are."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.measure.quarter_means import quantile
from scalkit.validation.posterior.shapes import Family

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


DRIFT_MASS = 1.0
"""Of a misfit that drifts, relative to none or one that is alike everywhere; negligible where a term explains all values."""
DRIFTS = (10.0, 100.0, 1000.0)
"""Variances of the drift at the smallest setting, relative to that of the noise."""
DRIFTS_ON = 10.0
"""How much more a drifting misfit counts ahead of the settings than among them: what small scales tell does not reach that far.
Chosen on half of the series of ``benchmarks/real_series.py``."""
AHEAD = 8.0
"""How much larger the variance of the drift is in an interval beyond the settings than as far among them: nobody has seen what
comes there. With 1, intervals of 90 % held 65 to 90 % of values off the ruler (``benchmarks/truths.py``)."""
_BENDS = 2.0
"""Power of the distance by which the variance of the drift grows; with 1 the large scales drift as much as the small ones."""
_FARTHEST = 4.0
"""Largest variance of a drift, of the natural logarithm: a smallest scale that is off by a factor of e^2. Beyond it any growth
would do."""
OFF_MASS = 0.02
"""Of each setting's value that is off by a factor: rare, yet found at once where one stands out; not fitted to data."""
_WIDTH = 2.0
"""Of the natural logarithm of that factor, from 1/e to e, all equally probable."""
OFF_DENSITY = -math.log(_WIDTH)
_KEPT = 4096


@dataclass(frozen=True)
class Profile:
    """Relative precision of the settings.

    `weights`: 1, or 0 for one that follows something else.
    `drift`: variance by which each has moved away from the model since the largest setting, relative to that of the noise;
    what lies farther out has moved as far, and on. Empty where nothing drifts.
    """

    weights: tuple[float, ...]
    drift: tuple[float, ...] = ()

    def __hash__(self) -> int:
        return self._hash  # profiles are keys of what is looked up for each family

    @cached_property
    def _hash(self) -> int:
        return hash((self.weights, self.drift))

    def __reduce__(self) -> "tuple[type[Profile], tuple[tuple[float, ...], tuple[float, ...]]]":
        return type(self), (self.weights, self.drift)

    @cached_property
    def precision(self) -> Floats:
        """Inverse of the covariance of the settings' residuals, relative to the variance of the noise, of shape (n, n)."""
        if not self.drift:
            return np.diag(self.weights)
        moved = np.array(self.drift)
        return np.asarray(np.linalg.inv(np.eye(len(moved)) + np.minimum(moved[:, None], moved[None, :])))

    @cached_property
    def level(self) -> Floats:
        """What each residual counts in the level of all, of shape (n,)."""
        return np.asarray(self.precision.sum(axis=0))

    @cached_property
    def centring(self) -> Floats:
        """The matrix C of ``z' C z``, the weighted squares of residuals around their weighted mean, of shape (n, n)."""
        return np.asarray(self.precision - np.outer(self.level, self.level) / self.level.sum())

    def allows(self, variances: Floats) -> Flags:
        """Return under which variances of the noise the drift stays within what scales of one program differ by."""
        return variances * (self.drift[0] if self.drift else 0.0) <= _FARTHEST

    def moved(self, away: Floats) -> Floats:
        """Return the variance of the drift, relative to that of the noise, `away` from the largest setting; 1 is their range."""
        return self.drift[0] * np.abs(away) ** _BENDS if self.drift else np.zeros(len(away))

    @property
    def off(self) -> int | None:
        """Place of the setting that follows something else."""
        return self.weights.index(0.0) if 0.0 in self.weights else None

    @cached_property
    def count(self) -> int:
        """Number of settings that follow the model."""
        return sum(weight > 0 for weight in self.weights)

    @cached_property
    def log_constant(self) -> float:
        """Logarithm of what the likelihood has beside the variance, relative to settings that are alike."""
        there = np.array(self.weights) > 0
        determinant = float(np.linalg.slogdet(self.precision[np.ix_(there, there)])[1])
        found = 0.5 * (determinant - math.log(self.level.sum() / len(there)))
        return float(found + (~there).sum() * (math.log(math.sqrt(2 * math.pi)) + OFF_DENSITY))


@lru_cache(maxsize=64)
def even(n: int) -> Profile:
    """Return the profile of settings that are alike."""
    return Profile((1.0,) * n)


@lru_cache(maxsize=128)
def drifting(settings: tuple[float, ...], most: float) -> Profile:
    """Return the profile of a misfit that grows away from the largest setting, to a variance `most` times that of the noise."""
    x = np.log(np.array(settings))
    moved = most * ((x[-1] - x) / (x[-1] - x[0])) ** _BENDS
    return Profile((1.0,) * len(x), tuple(moved.tolist()))


@lru_cache(maxsize=256)
def without(n: int, place: int) -> Profile:
    """Return the profile where one setting follows something else."""
    return Profile(tuple(float(i != place) for i in range(n)))


@dataclass(frozen=True, eq=False)
class Batch:
    """Families whose likelihoods with one profile are computed together, H hypotheses.

    `products` of shape (n + 2, H): what gives squared residuals in a product with series: ``C s``, a one, and ``s' C s``.
    `weights` of shape (H,): prior of each within its family.
    `starts`: where each family begins.
    """

    profile: Profile
    products: Floats
    weights: np.ndarray[Any, np.dtype[np.float32]]
    starts: Ints

    def means(self, likely: np.ndarray[Any, np.dtype[np.float32]]) -> Floats:
        """Return the mean of likelihoods of shape (series, H) over each family, of shape (series, families); writes into them."""
        if len(self.starts) == 1:
            return np.asarray(np.einsum("sh,h->s", likely, self.weights)[:, None], dtype=np.float64)
        likely *= self.weights
        return np.asarray(np.add.reduceat(likely, self.starts, axis=1), dtype=np.float64)


@lru_cache(maxsize=_KEPT)
def batch(families: tuple[Family, ...], profile: Profile) -> Batch:
    """Return families as a batch; the same object for the same arguments, while it is among the last ones."""
    s = np.concatenate([family.shapes for family in families])
    found = s @ profile.centring
    starts = np.cumsum([0, *(len(family.shares) for family in families[:-1])])
    weights = np.concatenate([family.weights for family in families]).astype(np.float32)
    products = np.empty((s.shape[1] + 2, len(s)))  # in this order, as BLAS takes half the time for it
    products[:-2], products[-2], products[-1] = found.T, 1.0, (found * s).sum(axis=1)
    return Batch(profile, products, weights, starts)
