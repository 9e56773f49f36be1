"""Predictions from averaged laws, whatever number of parameters they are over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalkit.judge.fit.regression.mixture import Mixture
from scalkit.support.arrays import Flags, Floats, Ints

POINTS_AT_ONCE = 64
HEAVY = 0.998
"""The most probable hypotheses take part in predictions, until they are so probable together."""

LEAST = 0.02
"""Share of the measured values below which no law lies that grows in the end."""

_LEAST_FALLING = 1e-9
"""The same of values that fall as a power."""

_AHEAD = 16.0
"""Predictions were tried up to so many times the largest point."""

_TINY = 1e-15


@dataclass(frozen=True, eq=False)
class Laws:
    """What hypotheses say of the values at m points, in units of `unit`.

    Attributes
    ----------
    weights : array of shape (h,)
        Probabilities; they sum to 1.
    mean : array of shape (h, s)
        Means of the shares of the terms. The last share is positive, which they take into account.
    root : array of shape (h, s, s)
        Upper triangular; their covariance is ``root @ root.T`` if signs are disregarded.
    factors : array of shape (h, s, m)
        Values of the terms for a share of 1.
    z, hazard : arrays of shape (h,)
        The last share, its sign disregarded, in its standard deviations, and the hazard of a
        normal distribution there.
    falls : array of shape (h,)
        Whether values vanish in the end.
    floor : array of shape (m,)
        No law that does not fall lies below.
    drift : array of shape (h, m)
        Variance of the drift beyond the measured points.
    error : array of shape (h,)
        Standard deviation of the independent error.
    key, lead : arrays of shape (h,)
        Hypotheses of equal key predict nearly the same; `lead` is passed on to the mixture.
    standard_error : float
        That of a measured value, relative.
    unit : float
    """

    weights: Floats
    mean: Floats
    root: Floats
    factors: Floats
    z: Floats
    hazard: Floats
    falls: Flags
    floor: Floats
    drift: Floats
    error: Floats
    key: Ints
    lead: Ints
    standard_error: float
    unit: float

    def mixture(self) -> Mixture:
        """Return the distribution of new values.

        Each hypothesis contributes the spread of its shares, the independent error, and the drift
        beyond the largest point.
        """
        across = np.swapaxes(self.root, 1, 2) @ self.factors
        value = (self.mean[:, :, None] * self.factors).sum(axis=1)
        variance = (across**2).sum(axis=1)
        # The last share is positive, which shifts the mean (done) and makes it more certain.
        slope, z, hazard = across[:, -1], self.z[:, None], self.hazard[:, None]
        variance = np.maximum(variance - slope**2 * hazard * (z + hazard), 0.0)
        # What becomes negative is no law. Falling values vanish in the end.
        falls = self.falls[:, None]
        weights = self.weights[:, None] * np.where(falls, value > 0, value > self.floor)
        weights = np.where(weights.sum(axis=0) > 0, weights, self.weights[:, None])
        value = np.maximum(value, np.where(falls, _LEAST_FALLING, np.maximum(self.floor, _TINY)))
        own = np.log1p(variance / value**2)  # log-normal with the same moments
        own = own + self.standard_error**2
        width = np.sqrt(own + self.drift + self.error[:, None] ** 2)
        centre = np.log(value) - 0.5 * own + np.log(self.unit)
        return Mixture(weights / weights.sum(axis=0), centre, width, self.lead).merged(self.key)


class Predictions:
    """Predictions and intervals from a mixture of laws."""

    def mixture(self, at: Floats) -> Mixture:
        """Return the distribution of new values at points of shape (m,) or (m, parameters)."""
        raise NotImplementedError

    def _ahead(self, at: Floats) -> Floats:
        """Return how many times the largest measured point each point is; shape (m,)."""
        raise NotImplementedError

    def quantiles(self, at: Floats, probabilities: Sequence[float]) -> Floats:
        """Return quantiles of new values at points, shape (probabilities, m)."""
        parts = [self.mixture(part).quantiles(probabilities) for part in _parts(at)]
        return np.exp(np.concatenate(parts, axis=1))

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m,) with the least expected relative error.

        That is E |prediction / value - 1|, minimal at the median where each value counts by its
        reciprocal, so that steep terms have to be probable to matter. Farther away than `_AHEAD`
        times the largest point the reciprocals count no more than there: else a constant that is
        hardly probable would win in the end.
        """
        power = np.log(_AHEAD) / np.log(np.maximum(self._ahead(at), _AHEAD))
        found = []
        for part, share in zip(_parts(at), _parts(power), strict=True):
            found.append(self.mixture(part).tilted(share).quantiles((0.5,))[0])
        return np.asarray(np.exp(np.concatenate(found)))


def _parts(at: Floats) -> list[Floats]:
    """Return points in parts whose arrays stay small."""
    return np.split(at, range(POINTS_AT_ONCE, len(at), POINTS_AT_ONCE))
