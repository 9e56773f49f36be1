"""The evidence for several parameters: what the measurements say about an expectation, and the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.answer import CLEAN_MEMORY, FINE, MATERIAL, MEMORY, SURE, machine_factor, resolution_of, unexplained
from scalkit.judge.fit import Model
from scalkit.judge.fit.regression.several.design import lines_along
from scalkit.judge.fit.regression.several.posterior import SumPosterior
from scalkit.judge.judged import AnyEvidence
from scalkit.judge.several.excess import excess_along
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.several.models import model_of, rivals_of
from scalkit.judge.space import SearchSpace
from scalkit.measure import SeveralSeries
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from scalkit.judge.against.ratio import Against

_NEGLIGIBLE = 0.01
"""A faster growth with a smaller probability is not explained by the machine."""

_LIFTED = 0.5
"""Probability that a point is lifted by something of its own from which on it decides alone."""


@dataclass(frozen=True, eq=False)
class SeveralEvidence(AnyEvidence):
    """Evidence of one series over several parameters for and against its expectation.

    Attributes
    ----------
    expectation : SeveralExpectation
    series : SeveralSeries
        The measurements that were judged.
    posterior : SumPosterior
        Probabilities, predictions and intervals; everything else follows from it.
    spaces : mapping from parameter to SearchSpace
        The growths that competed along each.
    tolerances : mapping from parameter to Growth
        By which growth it may outgrow the expectation along each and be fine.
    against : Against, optional
        How the values compare with those of a model with constants, where one was the expectation.
    required : Growth, optional
        The answer is fine only if growths are excluded that outgrow the claim by more than this.
    since_baseline : str
        What got worse since a baseline, in a sentence; empty if nothing did, or the growth says it already.
    """

    expectation: SeveralExpectation
    series: SeveralSeries
    posterior: SumPosterior
    spaces: Mapping[str, SearchSpace]
    tolerances: Mapping[str, Growth]
    against: Against | None = None
    required: Growth | None = None
    since_baseline: str = ""

    @property
    def competing(self) -> Sequence[Sequence[Growth]]:
        """The growths that compete along each parameter."""
        return self.posterior.design.terms

    @cached_property
    def shares(self) -> tuple[tuple[GrowthSum, float], ...]:
        """The sums of growths that the values may follow, with their probabilities."""
        posterior = self.posterior
        sums = {k: posterior.sum_at(k)[1:] for k in posterior.order}
        growths = {k: GrowthSum.of(term.growth for term in terms) for k, terms in sums.items()}
        return tuple((growth, float(posterior.shares[k])) for k, growth in growths.items())

    def along(self, parameter: str) -> dict[Growth, float]:
        """Return the probability of each growth along a parameter."""
        return self.posterior.along(parameter)

    @cached_property
    def bounds(self) -> tuple[Growth, ...]:
        """The products that may be followed: the claimed ones times what is tolerated."""
        tolerated = math.prod(self.tolerances.values(), start=Growth())
        return tuple(term * tolerated for term in self.expectation.growth.terms)

    @cached_property
    def too_fast(self) -> float:
        """Probability that it grows faster as a whole than claimed by more than is tolerated.

        Times over the size of a problem also rise where data outgrow caches: a faster growth counts
        as far as that does not explain by how much they outgrow the claim, which it does more
        easily where they follow that growth only with a drift.
        """
        faster = self.posterior.too_fast(self.bounds)
        if self._machine_factor < MEMORY or faster < _NEGLIGIBLE:
            return faster
        sizes = self.series.points[:, self.series.parameters.index(self._decisive)]
        span = float(sizes.max() / sizes.min())
        return self.posterior.too_fast(self.bounds, **unexplained(self.excess, span, faster))

    @cached_property
    def _outgrown(self) -> tuple[str, ...]:
        """Parameters along which the growth may be too fast; all of them where only the whole grows too fast."""
        probabilities = {name: self.posterior.along(name) for name in self.series.parameters}
        found = []
        for name, shares in probabilities.items():
            if sum(share for growth, share in shares.items() if growth > self._allowed(name, Growth())) > FINE:
                found.append(name)
        return tuple(found) or self.series.parameters

    @cached_property
    def _excesses(self) -> dict[str, float]:
        """Factor by which the values outgrow the best fit of the claim along each parameter that is outgrown."""
        points = self.posterior.design.points
        values = self.posterior.predict(points)
        terms = [growth for growth in self.expectation.growth.terms if not growth.is_constant]
        x = {name: points[:, column] for column, name in enumerate(self.series.parameters)}
        found = {}
        for name in self._outgrown:
            column = self.series.parameters.index(name)
            logs = [np.broadcast_to(term.log2_value(x), values.shape) for term in terms]
            falls = bool(terms) and all(term.exponents(name) < Growth().exponents(name) for term in terms)
            claimed = [np.exp2(each - each.max()) for each in logs]
            lines = lines_along(points, column)
            found[name] = excess_along(values, claimed, points[:, column], lines, with_constant=not falls)
        return found

    @property
    def _decisive(self) -> str:
        """The outgrown parameter along which the machine explains the least."""
        return max(self._excesses, key=lambda name: self._excesses[name] / machine_factor(self.series, [name]))

    @property
    def excess(self) -> float:
        """Factor by which the values outgrow the best fit of the claim along a line of points; see `excess_along`."""
        return self._excesses[self._decisive]

    @property
    def _machine_factor(self) -> float:
        return machine_factor(self.series, [self._decisive])

    @property
    def machine_factor(self) -> float:
        """Factor by which the machine alone may make the values rise; `too_fast` takes more of caches into account."""
        return min(self._machine_factor, CLEAN_MEMORY)

    @cached_property
    def resolution(self) -> dict[str, Growth]:
        """The slowest growth along each parameter such that anything faster is excluded."""
        found = {}
        is_exact = self.series.exact or self.series.virtual
        for column, name in enumerate(self.series.parameters):
            shares = self.posterior.along(name)
            largest = float(self.series.points[:, column].max())
            probabilities = np.array(list(shares.values()))
            bound = self._allowed(name, Growth())
            found[name] = resolution_of(list(shares), probabilities, bound, name, largest, is_exact=is_exact)
        return found

    @property
    def resolves(self) -> bool:
        """Whether the resolution along each parameter is as fine as was required."""
        required = self.required
        if required is None:
            return True
        asked = [name for name in self.series.parameters if name in required.parameters]
        return all(self.resolution[name] <= self._allowed(name, required) for name in asked)

    def _allowed(self, name: str, more: Growth) -> Growth:
        """Return the fastest growth along a parameter that is fine, times what `more` is along it."""
        bound = self.expectation.along[name].growth * self.tolerances[name]
        return bound * Growth.product({name: more.exponents(name)})

    @cached_property
    def hanging_point(self) -> Floats | None:
        """Point at the end of a parameter whose value alone is lifted beyond the claim; None without one.

        Nobody can tell whether it is a disturbance.
        """
        if self.posterior.too_fast(self.bounds) >= SURE or self.series.exact:
            return None
        above, points = self.posterior.above, self.posterior.design.points
        ends = [np.flatnonzero(column == column.max()) for column in points.T]
        alone = {int(end[0]) for end in ends if len(end) == 1} | {int(points.prod(axis=1).argmax())}
        lifted = [place for place in sorted(alone) if above[place] >= _LIFTED and self._is_beyond_claim(place)]
        return points[lifted[0]] if lifted else None

    def _is_beyond_claim(self, place: int) -> bool:
        """Return whether a value is well above what the others predict."""
        point = self.posterior.design.points[place : place + 1]
        return bool(self.posterior.y[place] > MATERIAL * float(self.posterior.predict(point)[0]))

    @property
    def hangs_on_last(self) -> bool:
        """Whether something of its own lifts the value at the end of a parameter beyond the claim."""
        return self.hanging_point is not None

    @cached_property
    def model(self) -> Model:
        """The model that is shown; its values are those of the posterior's average."""
        return model_of(self)

    @cached_property
    def rivals(self) -> tuple[Model, ...]:
        """The models of the most probable other sums, by falling probability."""
        return rivals_of(self)
