"""Posterior of the growth of one series over several parameters: probabilities, predictions, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, logsumexp

from scalkit.growth import Growth
from scalkit.judge.fit.model import Term
from scalkit.judge.fit.regression.mixture import Mixture
from scalkit.judge.fit.regression.predictions import HEAVY, LEAST, Laws, Predictions
from scalkit.judge.fit.regression.priors import NoisePrior
from scalkit.judge.fit.regression.several.design import SumDesign, sum_design
from scalkit.judge.fit.regression.several.evidence import Relative
from scalkit.judge.fit.regression.several.prior import log_prior
from scalkit.judge.fit.regression.several.search import search
from scalkit.judge.fit.regression.several.surface import smoothed
from scalkit.support.arrays import Flags, Floats, Ints

_CELLS = 10
"""Combinations of drift, error and event that are averaged over."""

_FOR_CELLS = 4
"""The best hypotheses, under which the cells are chosen."""

_NEGLIGIBLE = 9.0
"""Hypotheses so many nats behind the best one are left out."""

_ZERO = 1e-3
"""Share of the smallest positive value that stands for the error of a value of 0."""

_MOSTLY = 0.5
"""Share of the value at the largest point from which on a constant outgrows a claim that falls."""

_LARGEST_LOG = 300.0
_LOG_ROOT = float(0.5 * np.log(2 * np.pi))


class SumPosterior(Predictions):
    """Posterior probabilities of the growth of one series; made by `sum_posterior`.

    Hypotheses are a set of columns in a cell: a drift along each parameter, an error, an event.

    Attributes
    ----------
    design : SumDesign
    y : array of shape (points,)
    scale : array of shape (points,)
        What errors are relative to.
    weights : array of shape (h,)
        Probabilities of the hypotheses that are not negligible.
    columns : array of shape (h, columns, parameters)
        Their products of terms, the fastest one last.
    mean : array of shape (h, 1 + columns)
        Shares of the constant and of the columns.
    """

    def __init__(self, values: Relative) -> None:
        self._values = values
        design = self.design = values.design
        self.y, self.scale = values.y, values.scale
        sums, cells = search(values)
        sums = _fastest_last(design, sums)
        prior = log_prior(design, sums)
        best, near = slice(0, _FOR_CELLS), design.cells.around(cells)
        cells = values.best_cells(sums[best], prior[best], near, _CELLS)
        found = values.evidence(sums, cells)
        logs = found.log + cells.log_prior[:, None] + prior
        cell, place = np.nonzero(logs > logs.max() - _NEGLIGIBLE)
        logs = logs[cell, place]
        self.weights: Floats = np.exp(logs - logsumexp(logs))
        self.columns, self._place = sums[place], place
        self._drift, self._error, self._event = cells.drift[cell], cells.error[cell], cells.event[cell]
        self._cell = cell
        mean, self._root = found.mean[cell, place], found.root[cell, place]
        self._z = mean[:, -1] / self._root[:, -1, -1]
        varies = self.columns.any(axis=(1, 2))
        hazard = np.exp(-0.5 * self._z**2 - _LOG_ROOT - log_ndtr(self._z))
        self._hazard = np.where(varies, hazard, 0.0)
        self.mean: Floats = mean + self._root[:, :, -1] * self._hazard[:, None]
        self._sizes = values.columns(self.columns)[1]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the columns of the points."""
        return self.design.parameters

    @cached_property
    def leading(self) -> Ints:
        """Place of the leading term along each parameter, (h, parameters); 0 for no influence."""
        design = self.design
        ranks = np.where(self.columns > 0, design.rank_of(self.columns), -_many(design))
        best = ranks.argmax(axis=1)[:, None]
        return np.take_along_axis(self.columns, best, axis=1)[:, 0]

    def along(self, parameter: str) -> dict[Growth, float]:
        """Return the probability of each leading growth along a parameter, ascending; the others fixed."""
        column = self.parameters.index(parameter)
        terms = self.design.terms[column]
        found = np.bincount(self.leading[:, column], self.weights, len(terms))
        order = np.argsort(self.design.ranks[column])
        return {terms[k]: float(found[k]) for k in order.tolist()}

    @cached_property
    def shares(self) -> Floats:
        """Probability of each set of products, shape (sets,)."""
        return np.asarray(np.bincount(self._place, self.weights), dtype=float)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Places of the sets of products: that which is shown, then by falling probability.

        First the parameters that matter are chosen, then the leading terms along them, then the
        set: no influence is one term and would win over the many that share the rest.
        """
        is_wanted = _most_probable(self.leading > 0, self.weights)
        is_wanted &= _most_probable(self.leading, self.weights * is_wanted)
        wanted = np.bincount(self._place, is_wanted) > 0
        places = np.flatnonzero(self.shares > 0).tolist()
        return tuple(sorted(places, key=lambda k: (not wanted[k], -self.shares[k])))

    def of_sets(self, flags: Flags) -> Flags:
        """Return which sets of products are flagged in most of their hypotheses, from flags of shape (h,)."""
        return np.asarray(np.bincount(self._place, self.weights * flags) > 0.5 * self.shares)

    def of_set(self, place: int) -> Flags:
        """Return the hypotheses of a set of products; they differ in drift, error and event."""
        return np.asarray(self._place == place)

    def sum_at(self, place: int) -> tuple[Term, ...]:
        """Return the constant and the products of a set, with averaged coefficients."""
        rows = np.flatnonzero(self.of_set(place))
        share = self.weights[rows]
        mean = share @ self.mean[rows] / share.sum()
        found = [Term.of(Growth(), float(mean[0] * np.exp(self._values.log_constant)))]
        for column, own, size in zip(self.columns[rows[0]], mean[1:], self._sizes[rows[0]], strict=True):
            if column.any() and own:
                log2 = float((np.log(abs(own)) - size) / np.log(2.0))
                found.append(Term(self.design.growth_of(column), log2, bool(own < 0)))
        return tuple(found)

    def too_fast(self, bounds: Sequence[Growth], clean: float = 1.0, drifting: float = 1.0) -> float:
        """Return the probability that the values outgrow all of some products together.

        They do where a column grows faster than each of the products along some parameter, and
        where a constant does that is most of the value at the largest point.

        Parameters
        ----------
        bounds : sequence of Growth
        clean, drifting : float
            Weights of the hypotheses that follow a faster growth without a drift, and with one.
        """
        counts = np.where(self._drift.any(axis=1), drifting, clean)
        return float((self.weights * counts)[self.outgrows(bounds)].sum())

    def outgrows(self, bounds: Sequence[Growth]) -> Flags:
        """Return which hypotheses outgrow all of some products together, shape (h,)."""
        is_below = np.ones((*self.columns.shape[:2], len(bounds)), dtype=bool)
        falls = np.zeros(len(bounds), dtype=bool)
        for j, name in enumerate(self.parameters):
            along = [Growth.product({name: bound.exponents(name)}) for bound in bounds]
            table = np.array([[term <= each for each in along] for term in self.design.terms[j]])
            is_below &= table[self.columns[..., j]]
            falls |= ~table[0]
        is_there = self.design.is_there(self.columns)
        faster = (~is_below.any(axis=2) & is_there).any(axis=1)
        if falls.all():
            largest = self.design.points[self._largest]
            values = self._factors(self.columns, largest[None], self._sizes)[..., 0]
            parts = self.mean * values
            faster = faster | (parts[:, 0] > _MOSTLY * np.abs(parts.sum(axis=1)))
        return np.asarray(faster)

    @cached_property
    def off(self) -> Floats:
        """Probability that each point is off by a factor, shape (points,)."""
        n = len(self.y)
        found = np.bincount(self._event, self.weights, len(self.design.log_event_prior))
        return np.asarray(found[:n], dtype=float)

    @cached_property
    def above(self) -> Floats:
        """Probability that each point is off and above what the others follow, shape (points,)."""
        n = len(self.y)
        is_off = self._event < n
        event = np.where(is_off, self._event, 0)
        relative = self._values.columns(self.columns)[0]
        law = self.mean[:, :1] * self._values.constant + (self.mean[:, 1:, None] * relative).sum(axis=1)
        there = law[np.arange(len(event)), event]
        is_above = is_off & (self._values.target[event] > there)
        return np.asarray(np.bincount(event, self.weights * is_above, n), dtype=float)

    def mixture(self, at: Floats) -> Mixture:
        """Return the distribution of new values at points of shape (m, parameters).

        `lead` of the mixture is the row of one hypothesis of each component.
        """
        order = np.argsort(-self.weights, kind="stable")
        n = 1 + int(np.searchsorted(np.cumsum(self.weights[order]), HEAVY))
        heavy = order[:n]
        columns, weights = self.columns[heavy], self.weights[heavy]
        drift = self._drift[heavy]
        return Laws(
            weights=weights / weights.sum(),
            mean=self.mean[heavy],
            root=self._root[heavy],
            factors=self._factors(columns, at, self._sizes[heavy]),
            z=self._z[heavy],
            hazard=self._hazard[heavy],
            falls=np.asarray((self.design.rank_of(columns) < 0).any(axis=(1, 2))),
            floor=np.full(len(at), LEAST * float(self.y[self.y > 0].min(initial=np.inf)) / self._unit),
            drift=drift**2 @ self.design.beyond(at).T,
            error=self._error[heavy],
            key=self._place[heavy] * len(self.weights) + np.unique(drift, axis=0, return_inverse=True)[1].reshape(-1),
            lead=heavy,
            standard_error=float(np.sqrt((self._values.standard_error**2).mean())),
            unit=self._unit,
        ).mixture()

    @property
    def _largest(self) -> int:
        """Place of the largest point."""
        return int(np.log(self.design.points).sum(axis=1).argmax())

    @property
    def _unit(self) -> float:
        return float(self.y.max()) or 1.0

    def _factors(self, columns: Ints, at: Floats, sizes: Floats) -> Floats:
        """Return the values at points of constant and columns for shares of 1, over the largest value: (h, 1 + columns, m)."""
        logs = self.design.logs_at(columns, at) - sizes[..., None] - np.log(self._unit)
        values = np.exp(np.clip(logs, -_LARGEST_LOG, _LARGEST_LOG)) * self.design.is_there(columns)[..., None]
        constant = np.full((len(columns), 1, len(at)), np.exp(self._values.log_constant) / self._unit)
        return np.concatenate([constant, values], axis=1)

    def _ahead(self, at: Floats) -> Floats:
        return np.asarray((at / self.design.top).max(axis=1))


def _most_probable(kinds: Ints | Flags, weights: Floats) -> Flags:
    """Return which rows are of the kind that is most probable together."""
    _, place = np.unique(kinds, axis=0, return_inverse=True)
    place = place.reshape(-1)
    return np.asarray(place == np.bincount(place, weights).argmax())


def _many(design: SumDesign) -> int:
    """Return a number above all ranks."""
    return max(len(terms) for terms in design.terms) + 1


def _fastest_last(design: SumDesign, sums: Ints) -> Ints:
    """Return sums with their columns in order of what they grow as, the fastest one last."""
    ranks = np.where(sums.any(axis=2), design.rank_of(sums).sum(axis=2), -_many(design) * design.n_parameters)
    order = np.argsort(ranks, axis=1, kind="stable")
    return np.take_along_axis(sums, order[..., None], axis=1)


def sum_posterior(
    points: Floats,
    parameters: Sequence[str],
    y: Floats,
    standard_error: Floats,
    candidates: Mapping[str, Sequence[Growth]],
    claim: Sequence[Growth] | None,
    noise: NoisePrior,
    resolution: float = 0.0,
) -> SumPosterior:
    """Return the posterior of a series over several parameters.

    Parameters
    ----------
    points : array of shape (points, parameters), positive, distinct
    parameters : sequence of str
    y : array of shape (points,), not negative, at least one positive
    standard_error : array of shape (points,), relative
    candidates : mapping from parameter to Growths
        Terms along each, beside a constant, falling terms and those of the claim.
    claim : sequence of Growth, optional
        The products of the claimed sum.
    noise : NoisePrior
    resolution : float
        Step in which values are counted, in their unit; 0 if there is none.
    """
    design = sum_design(points, parameters, candidates, claim, noise)
    positive = np.maximum(y, resolution or _ZERO * float(y[y > 0].min()))
    scale = smoothed(design.points, positive)
    error = np.sqrt((standard_error * y / scale) ** 2 + (resolution / scale) ** 2 / 12)
    return SumPosterior(Relative(design, y, scale, error))
