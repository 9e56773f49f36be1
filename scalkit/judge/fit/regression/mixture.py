"""Mixtures of normal distributions of logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from scalkit.support.arrays import Floats, Ints

_ITERATIONS = 40
_CONVERGED = 2e-3
"""Last step in widths of the narrowest component: its share then moves by a thousandth."""
_LEAST_WIDTH = 1e-12
_SMALLEST = 1e-300
_ROOT = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of normal distributions of the logarithm of a value at each of m points.

    Attributes
    ----------
    weights : array of shape (h, m)
        They sum to 1 over the components.
    centre, width : arrays of shape (h, m)
        Means and standard deviations of natural logarithms.
    lead : array of shape (h,)
        Place of the leading growth of each component, or of one of its hypotheses; empty if it does
        not matter.
    """

    weights: Floats
    centre: Floats
    width: Floats
    lead: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def merged(self, key: Ints) -> Mixture:
        """Return one component with the same moments for all of equal key; `lead` is that of one of them."""
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        w = self.weights[order]
        weight = np.add.reduceat(w, starts)
        shift = self.centre[order[0]]  # near all centres, so that squares keep their digits
        centre, divisor = self.centre[order] - shift, np.maximum(weight, _SMALLEST)
        mean = np.add.reduceat(w * centre, starts) / divisor
        square = np.add.reduceat(w * (centre**2 + self.width[order] ** 2), starts)
        variance = np.maximum(square / divisor - mean**2, _LEAST_WIDTH**2)
        return Mixture(weight, mean + shift, np.sqrt(variance), self.lead[order[starts]])

    def tilted(self, power: Floats) -> Mixture:
        """Return the distribution in which each value counts by a power of its reciprocal.

        Parameters
        ----------
        power : array of shape (m,)
        """
        shift = power * self.width**2
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) - power * self.centre + 0.5 * power * shift
        weights = np.exp(logs - logs.max(axis=0))
        return Mixture(weights / weights.sum(axis=0), self.centre - shift, self.width)

    def quantiles(self, probabilities: Sequence[float]) -> Floats:
        """Return quantiles of the logarithm, shape (probabilities, m).

        Newton's method inside of a bracket, which halves where a step would leave it.
        """
        wanted = np.asarray(probabilities, dtype=float)
        weights, centre, width = self.weights, self.centre, self.width
        low = np.tile((centre - 6 * width).min(axis=0), (len(wanted), 1))
        high = np.tile((centre + 6 * width).max(axis=0), (len(wanted), 1))
        at = np.clip(_start(weights, centre, width, wanted), low, high)
        narrow = _CONVERGED * width.min(axis=0)
        for _ in range(_ITERATIONS):
            z = (at - centre[:, None]) / width[:, None]  # (h, q, m)
            gap = (weights[:, None] * ndtr(z)).sum(axis=0) - wanted[:, None]
            slope = (weights[:, None] / width[:, None] * np.exp(-0.5 * z**2)).sum(axis=0) / _ROOT
            low, high = np.where(gap < 0, at, low), np.where(gap < 0, high, at)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                new = at - gap / slope
            new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
            moved, at = np.abs(new - at), new
            if (moved < narrow).all():
                break
        return np.asarray(at)


def _start(weights: Floats, centre: Floats, width: Floats, wanted: Floats) -> Floats:
    """Return a first guess of the quantiles: that of the centres, moved by half a width."""
    order = np.argsort(centre, axis=0)
    below = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    place = np.minimum((below < wanted[:, None, None]).sum(axis=1), len(below) - 1)  # (q, m)
    rows, columns = order[place, np.arange(centre.shape[1])], np.arange(centre.shape[1])
    return np.asarray(centre[rows, columns] + 0.5 * width[rows, columns] * ndtri(wanted)[:, None])
