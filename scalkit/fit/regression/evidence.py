"""Evidence of all hypotheses of a design, and those of each series that are not negligible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from scalkit.arrays import Flags, Floats, Ints
from scalkit.fit.regression.design import Design
from scalkit.fit.regression.factor import Factor, Whitened
from scalkit.fit.regression.priors import NEGATIVE

NEGLIGIBLE = 10.0
"""Hypotheses that are so many nats behind the best one are left out: together they changed the
probability of a growth by at most 0.005 in 350 series."""

_EXPLAINED, _EXPLAINS_NOTHING = 0.2, 1e6
"""A law reaches so much of the values at all points but one, as steps by more than a factor of 5
are no steps of one law; else its evidence falls by so many nats."""

_LOG_2 = float(np.log(2.0))
_LOG_ROOT = float(0.5 * np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Kept:
    """The hypotheses of one series that are not negligible.

    Attributes
    ----------
    cell, complication, lead : arrays of shape (h,)
    weights : array of shape (h,)
        Their probabilities.
    mean : array of shape (h, 3)
        Means of the shares of constant, complication and leading term, which is positive.
    root : array of shape (h, 3, 3)
        Upper triangular; their covariance is ``root @ root.T`` if signs are disregarded.
    z, hazard : arrays of shape (h,)
        Leading share, its sign disregarded, in its standard deviations, and the hazard of a normal
        distribution there, by which its being positive shifts the means; 0 for a constant.
    """

    cell: Ints
    complication: Ints
    lead: Ints
    weights: Floats
    mean: Floats
    root: Floats
    z: Floats
    hazard: Floats

    def __getitem__(self, places: Ints | Flags) -> Kept:
        """Return some of the hypotheses, in the order of `places`."""
        return Kept(
            self.cell[places],
            self.complication[places],
            self.lead[places],
            self.weights[places],
            self.mean[places],
            self.root[places],
            self.z[places],
            self.hazard[places],
        )


def hypotheses_of(design: Design, y: Floats, scale: Floats, standard_error: Floats) -> list[Kept]:
    """Return the hypotheses of each series that are not negligible.

    Parameters
    ----------
    y, scale, standard_error : arrays of shape (series, points)
        Values, what their errors are relative to, and their relative standard errors.
    """
    white = Whitened(design, y, scale, standard_error)
    factors, target = Factor.of(design, white), y / scale
    return [_kept(design, factors.one(k), white.share[k], target[k]) for k in range(len(y))]


def _kept(design: Design, factor: Factor, share: Floats, target: Floats) -> Kept:
    """Return the hypotheses of one series that are not negligible.

    `share` is the largest value over the scales of the values, `target` the values over these.
    """
    kept, is_law = _near(design, factor, share, target, NEGLIGIBLE)
    if not is_law:  # no candidate comes near the values; then the laws among all of them compete
        kept, _ = _near(design, factor, share, target, np.inf)
    return kept


def _near(design: Design, factor: Factor, share: Floats, target: Floats, negligible: float) -> tuple[Kept, bool]:
    """Return the hypotheses that are at most so many nats behind, and whether one of them is a law."""
    # The best that a leading term can reach; determinant and sign are computed where it matters.
    bound = factor.log_evidence[..., None] + design.log_prior + _LOG_2
    bound += 0.5 * np.maximum(factor.z3, 0.0) ** 2
    # One hypothesis computed exactly gives a floor that the best one cannot miss.
    best = np.unravel_index(int(np.argmax(bound)), bound.shape)
    floor = float(_exact(bound[best], factor.r33[best], factor.z3[best])) - negligible
    place = np.nonzero(bound > floor)
    cell, extra, lead = place
    logs = _exact(bound[place], factor.r33[place], factor.z3[place])
    is_near = logs > logs.max() - negligible - _LOG_2
    logs, cell, extra, lead = (each[is_near] for each in (logs, cell, extra, lead))
    mean, root = factor.shares(cell, extra, lead)
    logs = logs + _log_of_signs(design, extra, lead, mean, root)
    # The leading share is positive, which shifts the means of all three.
    z = mean[:, 2] / root[:, 2, 2]
    varies = lead != design.constant
    hazard = np.where(varies, np.exp(-0.5 * z**2 - _LOG_ROOT - log_ndtr(z)), 0.0)
    mean = mean + root[:, :, 2] * hazard[:, None]
    is_shift = _is_shift(design, share, target, extra, lead, mean)
    logs = logs - _EXPLAINS_NOTHING * is_shift
    every = Kept(cell, extra, lead, np.exp(logs - logsumexp(logs)), mean, root, z, hazard)
    kept = every[logs > logs.max() - NEGLIGIBLE]
    kept.weights[:] /= kept.weights.sum()
    return kept, not is_shift.all()


def _exact(bound: Floats, r33: Floats, z: Floats) -> Floats:
    """Return the log evidence of hypotheses from its bound.

    The leading share must be positive: twice the prior density, and the posterior probability of
    being so.
    """
    sign = log_ndtr(z) + np.where(z < 0, 0.5 * z**2, 0.0)
    return np.asarray(bound - np.log(r33) + sign)


def _log_of_signs(design: Design, extra: Ints, lead: Ints, mean: Floats, root: Floats) -> Floats:
    """Return the log prior of the signs: negative constants and lower terms are rarer."""
    positive = ndtr(mean[:, :2] / np.sqrt((root[:, :2] ** 2).sum(axis=2)))
    factor = 2 * (NEGATIVE + (1 - 2 * NEGATIVE) * positive)
    # A logarithm beside a constant can only be subtracted: added, it would be the leading term.
    factor[:, 1] = np.where(lead == design.constant, 2 * (1 - positive[:, 1]), factor[:, 1])
    is_lower = (extra > 0) & (extra < design.first_event)
    with np.errstate(divide="ignore"):
        logs = np.log(factor)
    return np.asarray(logs[:, 0] + np.where(is_lower, logs[:, 1], 0.0))


def _is_shift(design: Design, share: Floats, target: Floats, extra: Ints, lead: Ints, mean: Floats) -> Flags:
    """Return flags of hypotheses that leave most of the values at more than one point to errors.

    Errors add to relative values, so one common shift could stand for all values but the largest.
    """
    nothing = np.zeros((len(share), 1 + design.events.shape[1]))
    lower = np.hstack([nothing[:, :1], design.lower_columns * share[:, None], nothing[:, 1:]])
    law = mean[:, :1] * share + mean[:, 1:2] * lower[:, extra].T
    varies = (lead != design.constant)[:, None]
    law = law + mean[:, 2:] * varies * share * design.columns[:, lead].T
    return np.asarray((law < _EXPLAINED * target).sum(axis=1) > 1)
