"""Evidence of all hypotheses of a design, by least squares for all at once, and those of each series that matter."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import log_ndtr, ndtr

from scalkit.judge.fit.regression.design import Design
from scalkit.judge.fit.regression.priors import NEGATIVE
from scalkit.support.arrays import Flags, Floats, Ints

NEGLIGIBLE = 10.0
"""Hypotheses that are so many nats behind the best one are left out: together they changed the
probability of a growth by at most 0.005 in 350 series."""

_EXPLAINED, _EXPLAINS_NOTHING = 0.2, 1e6
"""A law reaches so much of the values at all points but one, as steps by more than a factor of 5
are no steps of one law; else its evidence falls by so many nats."""

_LOG_2 = float(np.log(2.0))
_LOG_ROOT = float(0.5 * np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Observed:
    """The values of several series.

    Attributes
    ----------
    y : array of shape (series, points)
    scale : array of shape (series, points)
        What errors are relative to.
    standard_error : array of shape (series, points)
        Relative standard errors.
    reach : array of shape (series, points)
        How many times as far as usual a point may be off.
    """

    y: Floats
    scale: Floats
    standard_error: Floats
    reach: Floats

    def part(self, rows: slice) -> Observed:
        """Return some of the series."""
        return Observed(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def share(self) -> Floats:
        """Largest value of each series over the scales of its values."""
        largest = self.y.max(axis=1, keepdims=True)
        return np.where(largest > 0, largest, 1.0) / self.scale

    @property
    def target(self) -> Floats:
        """Values over what errors are relative to."""
        return self.y / self.scale


@dataclass(frozen=True, eq=False)
class Factor:
    """The triangular factor of constant, complication and leading column, and of the target.

    All shares have a standard normal prior, so each column has one more row for its own share. The
    columns are made orthogonal one after another. Residuals are carried along, because exact
    values would cancel in products of the columns.

    Axes are series (absent for one series), cells, complications (the first one is none, a column
    of zeros) and growths (the constant has a column of zeros, too).

    Attributes
    ----------
    r11, r12, r13, r22, r23 : arrays
        Elements of the factor.
    r33_squared : array of shape (cells, complications, growths)
        Square of the last element of the factor.
    z1, z2 : arrays
        Components of the target along constant and complication.
    across : array of shape (cells, complications, growths)
        Product of the target with the part of the leading column that the two others leave over.
    log_evidence : array of shape (cells, complications)
        Logarithm of the evidence without a leading term.
    """

    r11: Floats
    r12: Floats
    r13: Floats
    r22: Floats
    r23: Floats
    r33_squared: Floats
    z1: Floats
    z2: Floats
    across: Floats
    log_evidence: Floats

    @classmethod
    def of(cls, design: Design, observed: Observed) -> Factor:
        """Return the factors of several series."""
        variance = observed.standard_error[:, None] ** 2 + design.error[:, None] ** 2
        covariance = design.drift[:, None, None] ** 2 * design.brownian
        covariance = covariance + variance[..., None] * np.eye(len(design.x))
        cholesky = np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(cholesky)  # what puts relative values in units of their errors
        share = observed.share[:, :, None]
        columns = inverse @ (share * design.columns)[:, None]
        lower = inverse @ (share * design.lower_columns)[:, None]
        reaches = np.where(design.is_point_off, observed.reach[:, :, None], 1.0)
        events = inverse @ (reaches * design.events)[:, None]
        target = (inverse @ observed.target[:, None, :, None])[..., 0]
        log_density = -np.log(np.diagonal(cholesky, axis1=-2, axis2=-1)).sum(axis=-1)
        column = columns[..., design.constant]
        first = np.concatenate([column, np.ones((*column.shape[:2], 1))], axis=-1)
        r11 = np.sqrt((first**2).sum(axis=-1))
        first = first / r11[..., None]

        def apart(vectors: Floats) -> tuple[Floats, Floats]:
            """Return vectors (series, cells, points, m) along the constant, and the rest as rows."""
            padded = np.concatenate([vectors, 0 * vectors[..., :1, :]], axis=-2)
            rows = np.swapaxes(padded, -1, -2)
            along = rows @ first[..., None]
            return along[..., 0], np.asarray(rows - along * first[..., None, :])

        leading = columns.copy()
        leading[..., design.constant] = 0.0
        r13, leading = apart(leading)
        z1, residual = apart(target[..., None])
        none = np.zeros((*column.shape, 1))
        r12, added = apart(np.concatenate([none, lower, events], axis=-1))
        r22 = np.sqrt((added**2).sum(axis=-1) + 1)
        added = added / r22[..., None]
        z2 = (added @ np.swapaxes(residual, -1, -2))[..., 0]
        rest = residual - z2[..., None] * added
        squares = (rest**2).sum(axis=-1) + (z2 / r22) ** 2
        constant = (log_density + design.log_cell - np.log(r11))[..., None]
        log_evidence = constant - np.log(r22) - 0.5 * squares
        left_over = np.swapaxes(leading, -1, -2)
        r23 = added @ left_over
        r33_squared = np.square(r23)
        np.subtract(1 + (leading**2).sum(axis=-1)[:, :, None], r33_squared, out=r33_squared)
        np.maximum(r33_squared, 1.0, out=r33_squared)
        across = rest @ left_over
        return cls(r11, r12, r13, r22, r23, r33_squared, z1[..., 0], z2, across, log_evidence)

    def one(self, k: int) -> Factor:
        """Return the factors of one of several series."""
        return Factor(*(getattr(self, field.name)[k] for field in fields(self)))

    def bound(self, log_prior: Floats) -> Floats:
        """Return an upper bound of the log evidence, without determinant and sign of the leading share.

        Parameters
        ----------
        log_prior : array of shape (complications, growths)

        Returns
        -------
        array of shape (cells, complications, growths)
        """
        gain = np.maximum(self.across, 0.0)
        np.square(gain, out=gain)
        gain /= self.r33_squared
        gain *= 0.5
        gain += self.log_evidence[..., None]
        gain += log_prior
        return gain

    def shares(self, cell: Ints, extra: Ints, lead: Ints, z: Floats) -> tuple[Floats, Floats]:
        """Return the means of the three shares, and the root of their covariance.

        Parameters
        ----------
        cell, extra, lead : arrays of shape (h,)
            Places of noise cell, complication and growth of each hypothesis.
        z : array of shape (h,)
            Leading share in its standard deviations.

        Returns
        -------
        arrays of shape (h, 3) and (h, 3, 3)
            The root is upper triangular; the covariance is ``root @ root.T``.
        """
        n_complications, n_growths = self.r23.shape[-2:]
        row = cell * n_complications + extra
        place = row * n_growths + lead
        a, b = self.r11.take(cell), self.r12.take(row)
        c = self.r13.take(cell * n_growths + lead)
        d, e = self.r22.take(row), self.r23.take(place)
        third_deviation = 1 / np.sqrt(self.r33_squared.take(place))
        third = z * third_deviation
        second = (self.z2.take(row) - e * third) / d
        first = (self.z1.take(cell) - b * second - c * third) / a
        root = np.zeros((len(cell), 3, 3))
        root[:, 0, 0], root[:, 1, 1], root[:, 2, 2] = 1 / a, 1 / d, third_deviation
        root[:, 0, 1], root[:, 1, 2] = -b / (a * d), -e / d * third_deviation
        root[:, 0, 2] = (b * e / d - c) / a * third_deviation
        return np.stack([first, second, third], axis=1), root


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

    def take(self, places: Ints) -> Kept:
        """Return some of the hypotheses, in the order of `places`."""
        return Kept(*(getattr(self, field.name).take(places, axis=0) for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """All hypotheses about one series.

    Attributes
    ----------
    design : Design
    factor : Factor
    share : array of shape (points,)
        Largest value over the scale of each value.
    target : array of shape (points,)
        Values over their scales.
    """

    design: Design
    factor: Factor
    share: Floats
    target: Floats

    @classmethod
    def of(cls, design: Design, observed: Observed) -> list[Hypotheses]:
        """Return the hypotheses of each series."""
        factors, share, target = Factor.of(design, observed), observed.share, observed.target
        return [cls(design, factors.one(k), share[k], target[k]) for k in range(len(target))]

    def kept(self, log_prior: Floats | None = None) -> Kept:
        """Return those that are not negligible.

        Parameters
        ----------
        log_prior : array of shape (complications, growths), optional
            By default that of the design.
        """
        log_prior = self.design.log_prior if log_prior is None else log_prior
        kept, is_law = self._near(log_prior, NEGLIGIBLE)
        if not is_law:  # laws that are near the best law may be far behind the best hypothesis
            kept, _ = self._near(log_prior, np.inf)
        return kept

    def given(self, place: int) -> Kept:
        """Return those with one leading growth, as if it was known."""
        is_other = np.arange(len(self.design.growths)) != place
        return self.kept(np.where(is_other, -np.inf, self.design.log_prior))

    def closeness(self) -> Floats:
        """Return the log evidence that each growth reaches at most; minus infinity where it would fall.

        Returns
        -------
        array of shape (growths,)
        """
        bound = self.factor.bound(self.design.log_prior).reshape(-1, len(self.design.growths))
        best = bound.argmax(axis=0)
        growths = np.arange(len(best))
        rises = self.factor.across.reshape(bound.shape)[best, growths] > 0
        rises[self.design.constant] = True
        return np.where(rises, bound[best, growths], -np.inf)

    def _near(self, log_prior: Floats, negligible: float) -> tuple[Kept, bool]:
        """Return the hypotheses that are at most so many nats behind, and whether the best one is a law."""
        design, factor = self.design, self.factor
        # An upper bound: the leading share is positive, so that its prior density doubles.
        # Determinant and sign are computed where it matters.
        bound = factor.bound(log_prior + _LOG_2)
        # One hypothesis computed exactly gives a floor that the best one cannot miss.
        best = np.array([int(np.argmax(bound))])
        floor = float(_exact(factor, bound, best)[0][0]) - negligible
        places = np.flatnonzero(bound > floor)
        logs, z, log_positive = _exact(factor, bound, places)
        is_near = logs > logs.max() - negligible - _LOG_2
        places, logs, z, log_positive = (each[is_near] for each in (places, logs, z, log_positive))
        row, lead = np.divmod(places, bound.shape[2])
        cell, extra = np.divmod(row, bound.shape[1])
        mean, root = factor.shares(cell, extra, lead, z)
        logs = logs + _log_of_signs(design, extra, lead, mean, root)
        # The leading share is positive, which shifts the means of all three.
        hazard = np.exp(-0.5 * z**2 - _LOG_ROOT - log_positive)
        hazard[lead == design.constant] = 0.0
        mean += root[:, :, 2] * hazard[:, None]
        is_shift = self._is_shift(extra, lead, mean)
        winner = int(np.argmax(logs))
        is_law = bool(np.isfinite(logs[winner]) and not is_shift[winner])
        logs -= _EXPLAINS_NOTHING * is_shift
        highest = max(float(logs.max()), np.finfo(float).min)  # finite, also if no sign is possible
        weights = np.exp(logs - highest)
        kept = Kept(cell, extra, lead, weights, mean, root, z, hazard).take(np.flatnonzero(logs > highest - NEGLIGIBLE))
        kept.weights[:] /= kept.weights.sum()
        return kept, is_law

    def _is_shift(self, extra: Ints, lead: Ints, mean: Floats) -> Flags:
        """Return flags of hypotheses that leave most of the values at more than one point to errors.

        Errors add to relative values, so one common shift could stand for all values but the largest.
        """
        design = self.design
        # Points come first here, so that sums over them add whole rows.
        law = design.columns.take(lead, axis=1)
        law *= np.where(lead == design.constant, 0.0, mean[:, 2])
        law += mean[:, 0]
        lower = np.flatnonzero((extra > 0) & (extra < design.first_event))
        law[:, lower] += design.lower_columns.take(extra[lower] - 1, axis=1) * mean[lower, 1]
        return np.asarray((law < (_EXPLAINED * self.target / self.share)[:, None]).sum(axis=0) > 1)


def _exact(factor: Factor, bound: Floats, places: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the exact log evidence of hypotheses, but for the signs of constant and complication.

    The leading share must be positive, which counts with the posterior probability of being so.

    Parameters
    ----------
    factor : Factor
    bound : array of shape (cells, complications, growths)
        Upper bounds of the log evidence.
    places : array of shape (h,)
        Places in the flat array of all hypotheses.

    Returns
    -------
    arrays of shape (h,)
        Log evidence; the leading share, its sign disregarded, in its standard deviations; and the
        logarithm of the probability that it is positive.
    """
    squared = factor.r33_squared.take(places)
    z = factor.across.take(places) / np.sqrt(squared)
    log_positive = log_ndtr(z)
    logs = bound.take(places) - 0.5 * np.log(squared) + log_positive
    logs += 0.5 * np.minimum(z, 0.0) ** 2
    return logs, z, log_positive


def _log_of_signs(design: Design, extra: Ints, lead: Ints, mean: Floats, root: Floats) -> Floats:
    """Return the log prior of the signs: negative constants and lower terms are rarer."""
    factor = _sign_prior(_positive(mean[:, 0], root[:, 0]))
    lower = np.flatnonzero((extra > 0) & (extra < design.first_event))
    positive = _positive(mean[lower, 1], root[lower, 1])
    # A logarithm beside a constant can only be subtracted: added, it would be the leading term.
    is_beside_constant = lead[lower] == design.constant
    factor[lower] *= np.where(is_beside_constant, 2 * (1 - positive), _sign_prior(positive))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(factor))


def _positive(mean: Floats, root: Floats) -> Floats:
    """Return the probability that a share is positive, from its mean and its row of the root."""
    return np.asarray(ndtr(mean / np.sqrt(np.einsum("hk,hk->h", root, root))))


def _sign_prior(positive: Floats) -> Floats:
    """Return the prior of a sign over that of any sign, from the probability of being positive."""
    return 2 * (NEGATIVE + (1 - 2 * NEGATIVE) * positive)
