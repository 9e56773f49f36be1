"""Triangular factors of the columns of all hypotheses: least squares for all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from scalkit.arrays import Floats, Ints
from scalkit.fit.regression.design import Design


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
    def target(self) -> Floats:
        """Values over what errors are relative to."""
        return self.y / self.scale


class Whitened:
    """Columns and target of several series in units of their errors.

    Attributes
    ----------
    columns, lower, events : arrays of shape (series, cells, points, columns of each kind)
        The column of the constant among the leading ones is the constant itself.
    target : array of shape (series, cells, points)
    log_density : array of shape (series, cells)
        Logarithm of the density of the errors where they are zero.
    share : array of shape (series, points)
        Largest value over the scale of each value.
    """

    def __init__(self, design: Design, observed: Observed) -> None:
        y = observed.y
        variance = observed.standard_error[:, None] ** 2 + design.error[:, None] ** 2
        covariance = design.drift[:, None, None] ** 2 * design.brownian
        covariance = covariance + variance[..., None] * np.eye(len(design.x))
        factor = np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(factor)
        largest = y.max(axis=1, keepdims=True)
        self.share: Floats = np.where(largest > 0, largest, 1.0) / observed.scale
        share = self.share[:, :, None]
        self.columns: Floats = inverse @ (share * design.columns)[:, None]
        self.lower: Floats = inverse @ (share * design.lower_columns)[:, None]
        reaches = np.where(design.is_point_off, observed.reach[:, :, None], 1.0)
        self.events: Floats = inverse @ (reaches * design.events)[:, None]
        self.target: Floats = (inverse @ observed.target[:, None, :, None])[..., 0]
        self.log_density: Floats = -np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)


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
    def of(cls, design: Design, white: Whitened) -> Factor:
        """Return the factors of several series."""
        column = white.columns[..., design.constant]
        first = np.concatenate([column, np.ones((*column.shape[:2], 1))], axis=-1)
        r11 = np.sqrt((first**2).sum(axis=-1))
        first = first / r11[..., None]

        def apart(vectors: Floats) -> tuple[Floats, Floats]:
            """Return vectors (series, cells, points, m) along the constant, and the rest as rows."""
            padded = np.concatenate([vectors, 0 * vectors[..., :1, :]], axis=-2)
            rows = np.swapaxes(padded, -1, -2)
            along = rows @ first[..., None]
            return along[..., 0], np.asarray(rows - along * first[..., None, :])

        leading = white.columns.copy()
        leading[..., design.constant] = 0.0
        r13, leading = apart(leading)
        z1, residual = apart(white.target[..., None])
        none = np.zeros((*column.shape, 1))
        r12, added = apart(np.concatenate([none, white.lower, white.events], axis=-1))
        r22 = np.sqrt((added**2).sum(axis=-1) + 1)
        added = added / r22[..., None]
        z2 = (added @ np.swapaxes(residual, -1, -2))[..., 0]
        rest = residual - z2[..., None] * added
        squares = (rest**2).sum(axis=-1) + (z2 / r22) ** 2
        constant = (white.log_density + design.log_cell - np.log(r11))[..., None]
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
