"""Evidence of hypotheses over several parameters: orthogonal columns, shares, signs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.special import log_ndtr, logsumexp, ndtr

from scalkit.judge.fit.regression.priors import NEGATIVE
from scalkit.judge.fit.regression.several.cells import Cells
from scalkit.judge.fit.regression.several.design import SumDesign
from scalkit.support.arrays import Floats, Ints, product

_EXPLAINED, _EXPLAINS_NOTHING = 0.2, 1e6
"""As for one parameter: a law reaches so much of the values at all points but one."""

_ROOM = 9.0
"""Cells so many nats behind the best one are left out."""

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the values say of hypotheses in each cell.

    Attributes
    ----------
    log : array of shape (cells, hypotheses)
        Logarithm of the evidence without any prior.
    mean : array of shape (cells, hypotheses, 1 + columns)
        Shares of the constant and of the columns.
    root : array of shape (cells, hypotheses, 1 + columns, 1 + columns)
        Upper triangular; the covariance of the shares is ``root @ root.T``.
    basis : array of shape (cells, hypotheses, 1 + columns, points)
        The orthogonal columns in units of their errors.
    residual : array of shape (cells, hypotheses, points)
    inverse : array of shape (cells, points, points)
        What puts relative values in units of their errors.
    """

    log: Floats
    mean: Floats
    root: Floats
    basis: Floats
    residual: Floats
    inverse: Floats


class Relative:
    """Values of one series in relation to their scale, and the evidence that they give.

    Parameters
    ----------
    design : SumDesign
    y, scale, standard_error : arrays of shape (points,)
        Values, what errors are relative to, and relative standard errors.
    """

    def __init__(self, design: SumDesign, y: Floats, scale: Floats, standard_error: Floats) -> None:
        self.design, self.y, self.scale, self.standard_error = design, y, scale, standard_error
        self.target = y / scale
        self.log_scale = np.log(scale)
        smallest = float(scale.min())
        self.constant, self.log_constant = smallest / scale, float(np.log(smallest))

    def columns(self, columns: Ints) -> tuple[Floats, Floats]:
        """Return relative columns (..., points), 1 where they matter most, and logarithms of their scales.

        A column of zeros is 0 everywhere.
        """
        logs = self.design.column_logs(columns) - self.log_scale
        size = logs.max(axis=-1)
        values = np.exp(logs - size[..., None])
        return values * self.design.is_there(columns)[..., None], size

    def covariance(self, cells: Cells) -> Floats:
        """Return the covariance of relative errors, (cells, points, points)."""
        design, n = self.design, len(self.y)
        found = product(cells.drift**2, design.brownian.reshape(design.n_parameters, -1))
        found = found.reshape(-1, n, n)
        diagonal = np.einsum("kii->ki", found)  # a view, so that it can be added to
        diagonal += self.standard_error**2 + cells.error[:, None] ** 2
        for matrix, event in zip(found, cells.event.tolist(), strict=True):
            if 0 <= event < len(design.events):
                direction = design.events[event]
                matrix += direction[:, None] * direction
        return np.asarray(found)

    def evidence(self, hypotheses: Ints, cells: Cells) -> Evidence:
        """Return the evidence of hypotheses of shape (h, columns, parameters)."""
        flat = hypotheses.reshape(-1, self.design.n_parameters)
        _, first, place = np.unique(self.design.keys(flat), return_index=True, return_inverse=True)
        every = np.vstack([self.constant, self.columns(flat[first])[0]])
        place = np.insert(1 + place.reshape(len(hypotheses), -1), 0, 0, axis=1)
        factor, inverse = factors_of(self.covariance(cells))
        white = np.swapaxes(product(inverse, every.T), 1, 2)[:, place]  # cells, h, s, points
        target = np.broadcast_to((inverse @ self.target)[:, None], (*white.shape[:2], len(self.y)))
        orthogonal = _orthogonal(white, target)
        diagonal = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        log = orthogonal.log - diagonal[:, None]
        log = log + self._log_of_signs(hypotheses, orthogonal.mean, orthogonal.root)
        law = np.einsum("khs,hsn->khn", orthogonal.mean, every[place])
        is_shift = (law < _EXPLAINED * self.target).sum(axis=-1) > 1
        log = log - _EXPLAINS_NOTHING * is_shift
        return replace(orthogonal, log=log, inverse=inverse)

    def _log_of_signs(self, hypotheses: Ints, mean: Floats, root: Floats) -> Floats:
        """Return the log prior of the signs: what another column outgrows may be negative, which is rarer."""
        ratio = mean / np.sqrt((root**2).sum(axis=-1))
        inside = self.design.is_there(hypotheses)
        may_fall = np.insert(is_outgrown(self.design, hypotheses), 0, inside.any(axis=1), axis=1)
        lower = np.log(2 * (NEGATIVE + (1 - 2 * NEGATIVE) * ndtr(ratio)))
        leading = np.log(2.0) + log_ndtr(ratio)
        is_there = np.insert(inside, 0, True, axis=1)
        return np.asarray((np.where(may_fall, lower, leading) * is_there).sum(axis=-1))

    def best_cells(self, hypotheses: Ints, log_prior: Floats, cells: Cells, keep: int) -> Cells:
        """Return the most probable of some cells under a few hypotheses, with the event that is most probable there."""
        design = self.design
        found = self.evidence(hypotheses, cells)
        # An event adds a matrix of rank one to the covariance.
        steps = product(found.inverse, design.events[len(self.y) :].T)
        events = np.concatenate([design.noise.point_size * found.inverse, steps], axis=2)
        along = found.basis @ events[:, None]
        free = (events**2).sum(axis=1)[:, None] - (along**2).sum(axis=2)
        across = found.residual @ events
        variance = 1 + np.maximum(free, 0.0)
        gain = 0.5 * across**2 / variance - 0.5 * np.log(variance)
        log = found.log + log_prior
        every = np.concatenate([log[..., None] + gain, log[..., None]], axis=2)
        prior = cells.log_prior[:, None] + design.log_event_prior
        score = prior + logsumexp(every, axis=1)
        best = np.argsort(-score, axis=None)[:keep]
        best = best[score.ravel()[best] > score.max() - _ROOM]
        row, event = np.unravel_index(best, score.shape)
        return Cells(cells.drift[row], cells.error[row], event, prior[row, event])


def factors_of(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the lower triangular factors of covariances (cells, points, points), and their inverses."""
    factor: Floats = np.empty_like(covariance)
    inverse: Floats = np.empty_like(covariance)
    for k, each in enumerate(covariance):
        factor[k] = dpotrf(each, lower=1)[0]
        inverse[k] = dtrtri(factor[k], lower=1)[0]
    return factor, inverse


def is_outgrown(design: SumDesign, hypotheses: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return whether another column of its hypothesis grows at least as fast along every parameter: (h, columns)."""
    rank = design.rank_of(hypotheses)
    inside = design.is_there(hypotheses)
    is_below = (rank[:, :, None] <= rank[:, None]).all(axis=3) & (rank[:, :, None] != rank[:, None]).any(axis=3)
    return np.asarray((is_below & inside[:, None, :]).any(axis=2) & inside)


def _orthogonal(white: Floats, target: Floats) -> Evidence:
    """Return the evidence of columns (cells, h, s, points), each with a standard normal prior of its share.

    Each column has one more row for its own share. They are made orthogonal one after another; the
    residual is carried along, because exact values would cancel in products of the columns.
    """
    n_columns, n = white.shape[2:]
    own = np.broadcast_to(np.eye(n_columns), (*white.shape[:2], n_columns, n_columns))
    left = np.concatenate([white, own], axis=-1)
    rest = np.concatenate([target, np.zeros((*target.shape[:2], n_columns))], axis=-1)
    upper = np.zeros(own.shape)
    along = np.zeros(own.shape[:3])
    for k in range(n_columns):
        size = np.sqrt((left[:, :, k] ** 2).sum(axis=-1))
        column = left[:, :, k] / size[..., None]
        upper[:, :, k, k] = size
        if k + 1 < n_columns:
            shares = (left[:, :, k + 1 :] @ column[..., None])[..., 0]
            upper[:, :, k, k + 1 :] = shares
            left[:, :, k + 1 :] -= shares[..., None] * column[:, :, None]
        along[:, :, k] = (rest * column).sum(axis=-1)
        rest = rest - along[:, :, k, None] * column
        left[:, :, k] = column
    log = -0.5 * (rest**2).sum(axis=-1) - np.log(np.diagonal(upper, axis1=2, axis2=3)).sum(axis=-1)
    root = _inverse(upper)
    mean = (root @ along[..., None])[..., 0]
    return Evidence(log, mean, root, left[..., :n], rest[..., :n], np.empty(0))


def _inverse(upper: Floats) -> Floats:
    """Return the inverses of upper triangular matrices, which are small and many."""
    n = upper.shape[-1]
    found = np.zeros(upper.shape)
    for k in range(n):
        found[..., k, k] = 1 / upper[..., k, k]
        for i in reversed(range(k)):
            inner = (upper[..., i, i + 1 : k + 1] * found[..., i + 1 : k + 1, k]).sum(axis=-1)
            found[..., i, k] = -inner / upper[..., i, i]
    return found
