"""Points over several parameters, the terms along each, and the prior of sums of their products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.fit.regression.design import Terms
from scalkit.judge.fit.regression.priors import NoisePrior, falling_growths, growth_weight
from scalkit.judge.fit.regression.several.cells import all_cells
from scalkit.judge.fit.regression.several.prior import MOST_COLUMNS
from scalkit.support.arrays import Flags, Floats, Ints

_FEWEST_ON_LINE = 3
_LARGEST_LOG = 300.0


Keys = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
"""Numbers of 64 bits that stand for columns or hypotheses."""


class SumDesign:
    """All hypotheses about values at the same points over several parameters.

    A column is a product of one term of each parameter, given by the places of the terms; place 0
    is no influence. A hypothesis is a constant and a set of columns, an array of shape
    (columns, parameters); a column of zeros is none.

    Attributes
    ----------
    points : array of shape (points, parameters), positive
    parameters : tuple of str
    terms : tuple of tuples of Growth
        Along each parameter: the constant, then all others that compete, ascending.
    logs : tuple of arrays of shape (terms, points)
        Natural logarithms of the terms.
    ranks : tuple of arrays of shape (terms,)
        Order of the terms among all of their parameter; those that fall are below the constant.
    log_weights : tuple of arrays of shape (terms,)
        Logarithm of the prior of each term; 0 for the constant.
    usual : tuple of tuples of int
        Along each parameter, the places of the logarithm and of the parameter itself.
    lines : tuple of lists of arrays
        Along each parameter, the points of each line on which the others are fixed.
    cells, rough_cells : Cells
        All combinations of drift and error; those in which all parameters drift alike, or none.
    errors : array
        The levels of the error, ascending.
    brownian : array of shape (parameters, points, points)
        Covariance of a drift of 1 along each parameter.
    events : array of shape (events, points)
        Relative values that an event changes together: one point, or all below some coordinate.
    log_event_prior : array of shape (events + 1,)
        The last entry is no event.
    claim : array of shape (columns, parameters)
        All zeros for a constant; `has_claim` tells whether there is one.
    """

    def __init__(
        self,
        points: Floats,
        parameters: tuple[str, ...],
        candidates: Sequence[Sequence[Growth]],
        claim: Sequence[Growth] | None,
        noise: NoisePrior,
    ) -> None:
        self.points, self.parameters, self.noise = points, parameters, noise
        self.has_claim = claim is not None
        self.n_parameters = points.shape[1]
        every = []
        for column, name in enumerate(parameters):
            along = [Growth.product({name: growth.exponents(name)}) for growth in claim or ()]
            every.append(_terms_along(points[:, column], name, (*candidates[column], *along)))
        self.terms = tuple(each.growths for each in every)
        self.logs = tuple(each.logs for each in every)
        self.ranks = tuple(each.ranks for each in every)
        self.log_weights = tuple(each.log_weights for each in every)
        radix = max(len(own) for own in self.terms)
        self._radix = np.array([pow(radix, j, 2**64) for j in range(self.n_parameters)], dtype=np.uint64)
        self.usual = tuple(_usual(own, name) for own, name in zip(self.terms, parameters, strict=True))
        self.top, self.low = points.max(axis=0), points.min(axis=0)
        self.lines = tuple(lines_along(points, column) for column in range(self.n_parameters))
        self.width = max(MOST_COLUMNS, self.n_parameters, len(claim or ()))
        self._mixers = np.random.default_rng(0).integers(2**63, size=self.width, dtype=np.uint64) | np.uint64(1)
        distance = np.log(self.top / points) / np.log(self.top / self.low)
        self.brownian: Floats = np.array([np.minimum.outer(each, each) for each in distance.T])
        self.events, self.log_event_prior = _events(points, noise)
        self.claim: Ints = np.zeros((self.width, self.n_parameters), dtype=np.int64)
        for row, growth in enumerate(claim or ()):
            self.claim[row] = self.places_of(growth)
        self.cells = all_cells(noise, self.n_parameters)
        self.errors = np.unique(self.cells.error)
        is_alike = (self.cells.drift == self.cells.drift[:, :1]).all(axis=1)
        self.rough_cells = self.cells.chosen(is_alike)

    def places_of(self, growth: Growth) -> list[int]:
        """Return the places of the terms of a product; it must be among the candidates or claimed."""
        along = [Growth.product({name: growth.exponents(name)}) for name in self.parameters]
        return [terms.index(term) for terms, term in zip(self.terms, along, strict=True)]

    def growth_of(self, column: Sequence[int] | Ints) -> Growth:
        """Return the product that a column is."""
        found = Growth()
        for terms, place in zip(self.terms, column, strict=True):
            found = found * terms[int(place)]
        return found

    def rank_of(self, hypotheses: Ints) -> Ints:
        """Return the ranks of all terms above those of the constant; same shape."""
        ranks = [own[hypotheses[..., j]] - own[0] for j, own in enumerate(self.ranks)]
        return np.stack(ranks, axis=-1)

    def keys(self, columns: Ints | Flags) -> Keys:
        """Return one number for each column; 0 for none."""
        return np.asarray((columns.astype(np.uint64) * self._radix).sum(axis=-1, dtype=np.uint64))

    def set_keys(self, hypotheses: Ints | Flags) -> Keys:
        """Return one number for each set of columns, in whatever order they are."""
        keys = np.sort(self.keys(hypotheses), axis=1)  # zeros, which are no columns, come first
        return np.asarray((keys * self._mixers[-keys.shape[1] :]).sum(axis=1, dtype=np.uint64))

    def distinct(self, hypotheses: Ints) -> tuple[Ints, Keys]:
        """Return each set of columns once, and its key; those with a column twice are left out."""
        keys = self.keys(hypotheses)
        order = np.argsort(keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, order, axis=1)
        twice = ((keys[:, 1:] == keys[:, :-1]) & (keys[:, 1:] > 0)).any(axis=1)
        whole, first = np.unique(self.set_keys(hypotheses), return_index=True)
        is_kept = ~twice[first]
        first = first[is_kept]
        return np.take_along_axis(hypotheses[first], order[first][:, :, None], axis=1), whole[is_kept]

    def is_there(self, columns: Ints) -> Flags:
        """Return which columns of shape (..., parameters) are one: not all zeros."""
        return np.asarray((columns > 0).any(axis=-1))

    def column_logs(self, columns: Ints) -> Floats:
        """Return natural logarithms of columns of shape (..., parameters) at the points: (..., points)."""
        return np.asarray(sum(own[columns[..., j]] for j, own in enumerate(self.logs)))

    def logs_at(self, columns: Ints, at: Floats) -> Floats:
        """Return natural logarithms of columns at points of shape (m, parameters): (..., m)."""
        total: Floats = np.zeros(1)
        for j, (name, terms) in enumerate(zip(self.parameters, self.terms, strict=True)):
            used, place = np.unique(columns[..., j], return_inverse=True)
            rows = [_log_values(terms[k], name, at[:, j]) for k in used.tolist()]
            total = total + np.array(rows)[place.reshape(columns.shape[:-1])]
        return np.asarray(total)

    def beyond(self, at: Floats) -> Floats:
        """Return the variance of a drift of 1 along each parameter beyond the points: (m, parameters)."""
        steps = np.log(np.maximum(at / self.top, 1.0)) / np.log(self.top / self.low)
        return np.asarray(steps)


@dataclass(frozen=True, eq=False)
class _Along:
    growths: tuple[Growth, ...]
    logs: Floats
    ranks: Ints
    log_weights: Floats


def _terms_along(x: Floats, name: str, candidates: Sequence[Growth]) -> _Along:
    """Return the constant and all terms of one parameter that exist at its coordinates."""
    values, place = np.unique(x, return_inverse=True)
    every = sorted({Growth(each, name) for each in (*candidates, *falling_growths(name))} - {Growth()})
    usable = Terms.usable(every, name, values)
    logs = usable.logs(values)
    growths = (Growth(), *usable.growths)
    logs = np.vstack([np.zeros(len(values)), logs])[:, place.reshape(-1)]
    order = sorted(range(len(growths)), key=lambda k: growths[k])
    ranks = np.empty(len(growths), dtype=np.int64)
    ranks[order] = np.arange(len(growths))
    weights = np.array([growth_weight(growth, name) for growth in growths[1:]])
    log_weights = np.concatenate([[0.0], np.log(weights / weights.sum())])
    return _Along(growths, logs, ranks, log_weights)


def _events(points: Floats, noise: NoisePrior) -> tuple[Floats, Floats]:
    """Return the additions of events to relative values (events, points), and the log prior of each and of none."""
    n = len(points)
    below = [(x < edge).astype(float) for x in points.T for edge in np.unique(x)[1:]]
    shares = [noise.point_off / n] * n + [noise.step / max(len(below), 1)] * len(below)
    sizes = np.array([noise.point_size] * n + [noise.step_size] * len(below))
    with np.errstate(divide="ignore"):
        return sizes[:, None] * np.vstack([np.eye(n), *below]), np.log([*shares, 1 - noise.point_off - noise.step])


def _usual(terms: Sequence[Growth], name: str) -> tuple[int, ...]:
    """Return the places of the terms that are in most programs."""
    usual = (Growth.of(name, log=1), Growth.of(name, power=1))
    return tuple(terms.index(term) for term in usual if term in terms)


def _log_values(growth: Growth, name: str, at: Floats) -> Floats:
    """Return natural logarithms of a term at coordinates of its parameter."""
    if growth.is_constant:
        return np.zeros(len(at))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(2.0) * growth.log2_value({name: at}))


def lines_along(points: Floats, column: int) -> list[Ints]:
    """Return the points of each line along one parameter, the others fixed, that has at least three."""
    others = np.delete(points, column, axis=1)
    _, line = np.unique(others, axis=0, return_inverse=True)
    line = line.reshape(-1)
    order = np.argsort(line, kind="stable")
    ends = np.flatnonzero(np.diff(line[order])) + 1
    return [group for group in np.split(order, ends) if len(group) >= _FEWEST_ON_LINE]


@lru_cache(16)
def _design_of(
    points: bytes,
    parameters: tuple[str, ...],
    candidates: tuple[tuple[Growth, ...], ...],
    claim: tuple[Growth, ...] | None,
    noise: NoisePrior,
) -> SumDesign:
    shape = (-1, len(parameters))
    return SumDesign(np.frombuffer(points).reshape(shape), parameters, candidates, claim, noise)


def sum_design(
    points: Floats,
    parameters: Sequence[str],
    candidates: Mapping[str, Sequence[Growth]],
    claim: Sequence[Growth] | None,
    noise: NoisePrior,
) -> SumDesign:
    """Return the design for these arguments; the same object while it is among the last ones."""
    own = tuple(tuple(candidates[name]) for name in parameters)
    claimed = None if claim is None else tuple(growth for growth in claim if not growth.is_constant)
    contiguous = np.ascontiguousarray(points, dtype=np.float64)
    return _design_of(contiguous.tobytes(), tuple(parameters), own, claimed, noise)
