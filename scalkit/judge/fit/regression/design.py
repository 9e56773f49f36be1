"""Hypotheses about series over one parameter at the same points, as columns of one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.fit.regression.priors import (
    CLAIM,
    CONSTANT,
    FALLING_SLOWLY,
    LOWER_TERM,
    NoisePrior,
    falling_growths,
    growth_weight,
    lower_growths,
)
from scalkit.support.arrays import Floats

_LOG_2 = float(np.log(2.0))
_LARGEST_LOG = 300.0
"""Natural logarithms beyond this would overflow when columns are squared."""
_SMALLEST = 1e-300
_FEWEST_FOR_PAIRS = 5
"""Points of which two may follow another algorithm: of five, three would be left for the law."""
_MOST_STEPS = 32
"""So many places of a step are enough; with more points a step lies near one of them."""


class Design:
    """All hypotheses about series at the same points: what depends on points and priors only.

    A hypothesis is a noise cell (a drift and an error), a complication (0: none; then the lower
    terms, the points that are off, pairs of them, and the steps), and a leading term (0: none, that is
    a constant).

    Attributes
    ----------
    growths : tuple of Growth
        Leading terms that compete, ascending; `constant` is the place of the constant, `varying`
        those of the others.
    columns, lower_columns : arrays of shape (points, growths), (points, lower terms)
        Their values, 1 at the largest point.
    events : array of shape (points, events)
        What an event of one standard deviation adds to the relative values.
    is_point_off : array of shape (events,)
        Whether an event is that one point is off.
    drift, error : arrays of shape (cells,)
    distances : array of shape (points,)
        See `distance`.
    brownian : array of shape (points, points)
        Covariance of a drift of 1.
    """

    def __init__(self, x: Floats, parameter: str, candidates: Sequence[Growth], claim: Growth | None, noise: NoisePrior) -> None:
        self.x, self.parameter, self.noise, self.claim = x, parameter, noise, claim
        own = {Growth()} if claim is None else {Growth(), claim}
        every = sorted({*candidates, *falling_growths(parameter), *own})
        self._leading = Terms.usable(every, parameter, x)
        self._lower = Terms.usable(lower_growths(parameter), parameter, x)
        self.growths, self.lower = self._leading.growths, self._lower.growths
        self.constant = self.growths.index(Growth())
        self.varying = np.delete(np.arange(len(self.growths)), self.constant)
        self.columns, self.lower_columns = (np.exp(terms.over_last(x)).T for terms in (self._leading, self._lower))
        self.places = {growth: k for k, growth in enumerate(self.growths)}
        events = events_of(len(x), noise)
        self.events = events.columns
        self.first_event = 1 + len(self.lower)
        self.n_complications = self.first_event + self.events.shape[1]
        self.step_ends = events.step_ends
        self.is_point_off = events.points_off.sum(axis=0) == 1
        before = np.zeros((len(x), self.first_event))
        self.point_events = np.hstack([before, events.points_off])
        cells = list(product(noise.drifts, noise.errors))
        self.drift = np.array([drift for (drift, _), _ in cells])
        self.error = np.array([error for _, (error, _) in cells])
        self.n_errors = len(noise.errors)
        self.log_cell = np.log([p * q for (_, p), (_, q) in cells])
        self.distances = self.distance(x)
        self.brownian: Floats = np.minimum.outer(self.distances, self.distances)
        self.log_prior = self._log_prior(events.prior)

    def _log_prior(self, event_prior: Floats) -> Floats:
        """Return the logarithm of the prior, shape (complications, growths)."""
        weights = np.array([growth_weight(each, self.parameter) for each in self.growths])
        weights[self.constant] = 0.0
        leading = weights / max(weights.sum(), 1e-300) * (1 - CONSTANT)
        leading[self.constant] = CONSTANT if len(self.growths) > 1 else 1.0
        own = np.array([growth_weight(each, self.parameter) for each in self.lower])
        below = np.array([[low < high for high in self.growths] for low in self.lower])
        shares = (below * own[:, None]) if len(own) else np.zeros((0, len(self.growths)))
        total = shares.sum(axis=0)
        shares = shares * (LOWER_TERM / np.maximum(total, 1e-9))
        # A constant less a logarithm: values that fall slowly.
        for row, low in enumerate(self.lower):
            if low == Growth.of(self.parameter, log=1):
                shares[row, self.constant] = FALLING_SLOWLY
        none = 1 - shares.sum(axis=0)
        # A lower term and an event never come together: together they changed answers by a point
        # in a hundred at most and cost five times more.
        plain = (1 - event_prior.sum()) * none
        table = np.vstack([plain, shares, event_prior[:, None] * none]) * leading
        if self.claim is not None:
            place = self.places[self.claim]
            mine = table[:, place].copy()
            table *= 1 - CLAIM
            table[:, place] += CLAIM * mine / mine.sum()
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(table / table.sum()))

    def distance(self, at: Floats) -> Floats:
        """Return the distance of points below the largest one: in logarithms, 1 for the smallest; negative beyond."""
        logs = np.log(self.x)
        return np.asarray((logs[-1] - np.log(np.maximum(at, _SMALLEST))) / (logs[-1] - logs[0]))

    def beyond(self, at: Floats) -> Floats:
        """Return the variance of a drift of 1 beyond the largest point; 0 up to it."""
        return np.maximum(-self.distance(at), 0.0)

    def factors(self, at: Floats) -> tuple[Floats, Floats]:
        """Return leading and lower terms over their values at the largest point.

        Parameters
        ----------
        at : array of shape (m,)

        Returns
        -------
        arrays of shape (growths, m) and (lower terms, m)
        """
        return np.exp(self._leading.over_last(at)), np.exp(self._lower.over_last(at))


@dataclass(frozen=True)
class Terms:
    """Growths of one parameter whose logarithms are computed together.

    Attributes
    ----------
    growths : tuple of Growth
    exponents : array of shape (growths, 3)
        Of 2^x, x and log x.
    log_last : array of shape (growths,)
        Natural logarithms at the largest measured point.
    """

    growths: tuple[Growth, ...]
    exponents: Floats
    log_last: Floats

    @classmethod
    def usable(cls, growths: Sequence[Growth], parameter: str, x: Floats) -> Terms:
        """Return those growths that are positive at the largest point and finite elsewhere."""
        rows = [each.exponents(parameter) for each in growths]
        exponents = np.array([(row.exponential, row.power, row.log) for row in rows], dtype=float).reshape(-1, 3)
        every = cls(tuple(growths), exponents, np.zeros(len(rows)))
        logs = every.logs(x)
        is_usable = np.isfinite(logs[:, -1]) & ~(np.isnan(logs) | (logs == np.inf)).any(axis=1)
        kept = np.flatnonzero(is_usable).tolist()
        chosen = tuple(growths[k] for k in kept)
        return cls(chosen, exponents[kept], logs[kept, -1])

    def logs(self, at: Floats) -> Floats:
        """Return natural logarithms at points of shape (m,), of shape (growths, m)."""
        exponential, power, log = self.exponents.T[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_x = np.log(at)
            log_log = np.log(log_x / _LOG_2)
            found = exponential * (_LOG_2 * at)
            found = found + np.where(power != 0, power * log_x, 0.0)
            found = found + np.where(log != 0, log * log_log, 0.0)
        return np.asarray(found)

    def over_last(self, at: Floats) -> Floats:
        """Return logarithms of values over those at the largest point, without overflow."""
        return np.clip(self.logs(at) - self.log_last[:, None], -_LARGEST_LOG, _LARGEST_LOG)


@lru_cache(64)
def design_of(
    x: tuple[float, ...], parameter: str, candidates: tuple[Growth, ...], claim: Growth | None, noise: NoisePrior
) -> Design:
    """Return the design for these arguments; the same object while it is among the last ones."""
    return Design(np.array(x), parameter, candidates, claim, noise)


@dataclass(frozen=True, eq=False)
class Events:
    """Events that set some points apart from a law.

    Attributes
    ----------
    columns : array of shape (points, events)
        What an event of one standard deviation adds to the relative values.
    prior : array of shape (events,)
    points_off : array of shape (points, events)
        1 where an event is that a point is off.
    step_ends : tuple of (int, int) or None
        Between which points each event is a step; None for other events.
    """

    columns: Floats
    prior: Floats
    points_off: Floats
    step_ends: tuple[tuple[int, int] | None, ...]


@lru_cache(256)
def events_of(n: int, noise: NoisePrior) -> Events:
    """Return the events of series of n points."""
    singles = [(k,) for k in range(n)] if noise.point_off else []
    # The last two points together are no pair that is off: what they follow goes on.
    pairs = [pair for pair in combinations(range(n), 2) if pair != (n - 2, n - 1)]
    pairs = _some(pairs if noise.pair_off and n > _FEWEST_FOR_PAIRS else [])
    off = np.array([[float(k in places) for k in range(n)] for places in (*singles, *pairs)])
    # A step takes one or two intervals; one between the first or last two points is a point off.
    steps = [(i, i + 1) for i in range(1, n - 2)] + [(i, i + 2) for i in range(n - 2)]
    steps = _some(steps if noise.step else [])
    ramps = np.array([np.interp(range(n), pair, (1.0, 0.0)) for pair in steps])
    prior = [noise.point_off / n] * len(singles) + [noise.pair_off / max(len(pairs), 1)] * len(pairs)
    prior += [noise.step / max(len(steps), 1)] * len(steps)
    columns = np.vstack([off.reshape(-1, n), ramps.reshape(-1, n)]).T
    points_off = np.hstack([off.reshape(-1, n).T, np.zeros((n, len(steps)))])
    step_ends = (*[None] * len(off), *steps)
    sizes = np.array([noise.point_size] * len(off) + [noise.step_size] * len(steps))
    return Events(columns * sizes, np.array(prior), points_off, step_ends)


def _some(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places, or evenly spread ones of them where there are many."""
    if len(places) <= _MOST_STEPS:
        return places
    return [places[k] for k in np.linspace(0, len(places) - 1, _MOST_STEPS).round().astype(int)]
