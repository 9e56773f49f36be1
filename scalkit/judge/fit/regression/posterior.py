"""Posterior of the growths of one series: probabilities, predictions, intervals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.fit.model import Term
from scalkit.judge.fit.regression.design import Design, design_of
from scalkit.judge.fit.regression.evidence import Hypotheses, Kept, Observed
from scalkit.judge.fit.regression.mixture import Mixture
from scalkit.judge.fit.regression.predictions import HEAVY, LEAST, Laws, Predictions
from scalkit.judge.fit.regression.priors import NoisePrior
from scalkit.support.arrays import Floats

_SERIES_AT_ONCE = 8
"""The arrays of so many series stay in the cache of a core."""
_LOW = 0.4
"""A value below so much of its neighbours' median has errors relative to that: small scales follow laws less closely."""
_PAIRS = ((-2, -1), (-3, -2), (1, 2), (2, 3), (-1, 1))
"""Neighbours that two by two continue to a value."""
_LARGEST_LOG = 300.0
"""Values are continued up to exp(300): beyond, squares would overflow."""
_TINY = 1e-15
_ZERO = 1e-3
"""Share of the smallest positive value that stands for the error of a value of 0."""


class Posterior(Predictions):
    """Posterior probabilities of the growths of one series; made by `posteriors`.

    Attributes
    ----------
    design : Design
    y, usual : arrays of shape (points,)
        Values, and the same limited to the median of their neighbours.
    scale, reach : arrays of shape (points,)
        What errors are relative to, and how many times as large is what the neighbours of a value
        continue to, at least 1.
    kept : Kept
        The hypotheses that are not negligible.
    """

    def __init__(self, design: Design, observed: Observed, usual: Floats, kept: Kept) -> None:
        (self.y,), (self.scale,), (self.standard_error,) = observed.y, observed.scale, observed.standard_error
        self.design, self.usual, self.kept = design, usual, kept
        self._observed, self.reach = observed, observed.reach[0]
        self._unit = float(self.y.max()) or 1.0

    @property
    def growths(self) -> tuple[Growth, ...]:
        """Leading growths that competed, ascending."""
        return self.design.growths

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of each of `growths`, shape (growths,)."""
        found = np.bincount(self.kept.lead, self.kept.weights, len(self.growths))
        return np.asarray(found / found.sum())

    def probability_of(self, growth: Growth) -> float:
        """Return the probability of a growth; 0 for one that did not compete."""
        places = self.design.places
        return float(self.probabilities[places[growth]]) if growth in places else 0.0

    def too_fast(self, bound: Growth, clean: float = 1.0, drifting: float = 1.0) -> float:
        """Return the probability of growing faster than `bound`.

        Parameters
        ----------
        bound : Growth
        clean, drifting : float
            Weights of the hypotheses that follow a faster growth without a drift, and with one.
        """
        first, kept = bisect_right(self.growths, bound), self.kept
        if clean == drifting == 1:
            return float(self.probabilities[first:].sum())
        counts = np.where(self.design.drift[kept.cell] > 0, drifting, clean)
        return float((kept.weights * counts)[kept.lead >= first].sum())

    def as_fast_as(self, bound: Growth) -> float:
        """Return the probability of growing as fast as `bound` or faster."""
        return float(self.probabilities[bisect_left(self.growths, bound) :].sum())

    @cached_property
    def by_probability(self) -> tuple[Growth, ...]:
        """The growths that follow the values, the most probable one first.

        Negligible ones come by how near they are. Those that would need a negative share are left
        out.
        """
        is_likely = self.probabilities > 0
        closeness = np.zeros(len(is_likely)) if is_likely.all() else self._hypotheses.closeness()
        order = np.lexsort((-closeness, -self.probabilities))
        return tuple(self.growths[k] for k in order if is_likely[k] or closeness[k] > -np.inf)

    @property
    def _hypotheses(self) -> Hypotheses:
        """All hypotheses, also the negligible ones. They are not kept, as they take twice the memory of all the rest."""
        return Hypotheses.of(self.design, self._observed)[0]

    def _complications(self) -> Floats:
        """Return the probability of each complication."""
        found = np.bincount(self.kept.complication, self.kept.weights, self.design.n_complications)
        return np.asarray(found, dtype=float)

    @cached_property
    def off(self) -> Floats:
        """Probability that each point is off by a factor, shape (points,)."""
        return np.asarray(self.design.point_events @ self._complications())

    @property
    def last_is_above(self) -> float:
        """Probability that the largest point lies above what all others follow.

        Something of its own lifts it, an error or another algorithm: either way, one value does
        not tell how the values go on.
        """
        kept = self.kept
        is_last = self.design.point_events[-1, kept.complication] > 0
        return float(kept.weights[is_last & (kept.mean[:, 1] > 0)].sum())

    @cached_property
    def step(self) -> tuple[int, int, float] | None:
        """The most probable step: its two ends, and the probability of a step there; None without."""
        first, ends = self.design.first_event, self.design.step_ends
        shares = self._complications()[first:]
        total: dict[tuple[int, int], float] = {}
        for pair, share in zip(ends, shares.tolist(), strict=True):
            if pair is not None:
                total[pair] = total.get(pair, 0.0) + share
        if not total:
            return None
        (low, high), _ = max(total.items(), key=lambda item: item[1])
        near = sum(share for (i, j), share in total.items() if i <= high and j >= low)
        return low, high, near

    def growth_band(self, level: float = 0.9) -> tuple[Growth, Growth]:
        """Return the slowest and the fastest growth of the central band of probability `level`."""
        below, top = np.cumsum(self.probabilities), len(self.growths) - 1
        first = int(np.searchsorted(below, (1 - level) / 2, side="right"))
        last = int(np.searchsorted(below, (1 + level) / 2 - 1e-12))
        return self.growths[min(first, top)], self.growths[min(last, top)]

    @cached_property
    def _heavy(self) -> Kept:
        """The most probable hypotheses, which take part in predictions."""
        weights = np.sort(self.kept.weights)[::-1]
        last = min(int(np.searchsorted(np.cumsum(weights), HEAVY)), len(weights) - 1)
        found = self.kept.take(np.flatnonzero(self.kept.weights >= weights[last]))
        return replace(found, weights=found.weights / found.weights.sum())

    def formula(self, growth: Growth) -> tuple[Term, ...]:
        """Return the most probable formula with a leading growth, which comes last; its coefficients are averages."""
        place, first = self.design.places[growth], self.design.first_event
        is_likely = self.probabilities[place] > 0
        kept = self.kept if is_likely else self._hypotheses.given(place)
        weights = np.where(kept.lead == place, kept.weights, 0.0)
        # An event does not change the formula, so all of them count as no complication.
        kind = np.where(kept.complication < first, kept.complication, 0)
        best = int(np.argmax(np.bincount(kind, weights)))
        weights = np.where(kind == best, weights, 0.0)
        constant, second, leading = (weights @ kept.mean / weights.sum() * self._unit).tolist()
        last = float(self.design.x[-1])
        lower = [_term(self.design.lower[best - 1], second, last)] if best else []
        if growth.is_constant:
            return (*lower, Term.of(growth, constant))
        return (Term.of(Growth(), constant), *lower, _term(growth, max(leading, 0.0), last))

    def mixture(self, at: Floats) -> Mixture:
        """Return the distribution of new values at points: a mixture of log-normal ones.

        Events have no future: a step has happened, a point is off alone.

        Parameters
        ----------
        at : array of shape (m,)
        """
        design, heavy = self.design, self._heavy
        cell, extra, lead = heavy.cell, heavy.complication, heavy.lead
        growth, lower = design.factors(at)
        varies = (lead != design.constant)[:, None]
        none = np.zeros((1, len(at)))
        extras = np.concatenate([none, lower, np.zeros((design.events.shape[1], len(at)))])
        ones = np.ones((len(cell), len(at)))
        return Laws(
            weights=heavy.weights,
            mean=heavy.mean,
            root=heavy.root,
            factors=np.stack([ones, extras[extra], growth[lead] * varies], axis=1),
            z=heavy.z,
            hazard=heavy.hazard,
            falls=lead < design.constant,
            floor=LEAST * np.interp(at, design.x, self.usual / self._unit),
            drift=design.drift[cell, None] ** 2 * design.beyond(at),
            error=design.error[cell],
            # Those that differ in the independent error only.
            key=(lead * design.n_complications + extra) * len(design.drift) + cell // design.n_errors,
            lead=lead,
            standard_error=float(self.standard_error[-1]),
            unit=self._unit,
        ).mixture()

    def _ahead(self, at: Floats) -> Floats:
        return at / max(float(self.design.x[-1]), _TINY)


def _term(growth: Growth, value: float, at: float) -> Term:
    """Return the term that has a value at a point."""
    one = Term.of(growth, value)
    return replace(one, log2_coefficient=one.log2_coefficient - float(growth.log2_value(at)))


def _neighbours(y: Floats) -> Floats:
    """Return the median of the two values on either side of each, fewer at the ends."""
    n = y.shape[1]
    shifted = np.full((4, *y.shape), np.nan)
    for row, k in enumerate((-2, -1, 1, 2)):
        first, last = max(0, k), min(n, n + k)
        shifted[row][:, first:last] = y[:, first - k : last - k]
    return np.asarray(np.nanmedian(shifted, axis=0))


def _continued(at: Floats, y: Floats) -> Floats:
    """Return the least value that power laws through two neighbours give for each point; 0 without any.

    Parameters
    ----------
    at : array of shape (points,)
        Logarithms of the points.
    y : array of shape (series, points)
        Those that are not positive are no neighbours.
    """
    n = y.shape[1]
    with np.errstate(divide="ignore"):
        logs = np.where(y > 0, np.log(y), np.nan)
    found = np.full((len(_PAIRS), *y.shape), np.inf)
    for row, (i, j) in enumerate(_PAIRS):
        for k in range(max(0, -i, -j), min(n, n - i, n - j)):
            share = (at[k] - at[k + i]) / (at[k + j] - at[k + i])
            found[row, :, k] = (1 - share) * logs[:, k + i] + share * logs[:, k + j]
    least = np.where(np.isnan(found), np.inf, found).min(axis=0)
    return np.where(np.isfinite(least), np.exp(np.minimum(least, _LARGEST_LOG)), 0.0)


def posteriors(
    x: Floats,
    parameter: str,
    y: Floats,
    standard_error: Floats,
    candidates: Sequence[Growth],
    claim: Growth | None,
    noise: NoisePrior,
    resolution: float = 0.0,
) -> list[Posterior]:
    """Return the posterior of each series at the same points about the same claim.

    Parameters
    ----------
    x : array of shape (points,), ascending, at least 3
    parameter : str
    y : array of shape (series, points), not negative
    standard_error : array of shape (series, points), relative
    candidates : sequence of Growth
        What the values may grow as, beside a constant, falling growths and the claim.
    claim : Growth, optional
    noise : NoisePrior
    resolution : float
        Step in which values are counted, in their unit; 0 if there is none.
    """
    design = design_of(tuple(x.tolist()), parameter, tuple(candidates), claim, noise)
    least = np.where(y > 0, y, np.inf).min(axis=1, keepdims=True)
    scale = np.maximum(y, resolution or _ZERO * np.where(np.isfinite(least), least, 1.0))
    neighbours = _neighbours(y)
    scale = np.maximum(scale, _LOW * neighbours)
    # A value far below what its neighbours continue to, as of a run that failed early, may be off
    # by any factor.
    reach = np.maximum(_continued(-design.distances, y) / scale, 1.0)
    error = np.sqrt(standard_error**2 + (resolution / scale) ** 2 / 12)
    observed, usual = Observed(y, scale, error, reach), np.minimum(y, neighbours)
    found: list[Posterior] = []
    for start in range(0, len(y), _SERIES_AT_ONCE):
        every = Hypotheses.of(design, observed.part(slice(start, start + _SERIES_AT_ONCE)))
        for k, hypotheses in enumerate(every, start):
            found.append(Posterior(design, observed.part(slice(k, k + 1)), usual[k], hypotheses.kept()))
    return found
