"""The verdict on a function of several parameters, as a whole and along each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.fit.model import at_points
from scalkit.fit.regression.several.design import lines_along
from scalkit.fit.regression.several.posterior import SumPosterior
from scalkit.fit.several.model import GrowthSum, SeveralModel
from scalkit.growth import Growth
from scalkit.json_values import json_fields, json_value
from scalkit.measure import SeveralSeries
from scalkit.validation.answer import CLEAN_MEMORY, FINE, MATERIAL, MEMORY, SURE, machine_factor, resolution_of, unexplained
from scalkit.validation.asked import checked_level, predictable_places
from scalkit.validation.expectation import RANKS, Direction, Rank, VerdictWord, word_of
from scalkit.validation.judged import Along, Judged
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.several.excess import excess_along
from scalkit.validation.several.expectation import GrowthRatio, SeveralExpectation
from scalkit.validation.several.models import models_of
from scalkit.validation.space import SearchSpace
from scalkit.validation.told.sums import problem_of, remarks_of, sentence_of

if TYPE_CHECKING:
    from scalkit.validation.against.ratio import Against

_NEGLIGIBLE = 0.01
"""A faster growth with a smaller probability is not explained by the machine."""

_LIFTED = 0.5
"""Probability that a point is lifted by something of its own from which on it decides alone."""


@dataclass(frozen=True, eq=False)
class SeveralVerdict(Judged):
    """What the measurements of one function and metric over several parameters say about its expectation.

    It has the names of a `Verdict`, as far as they mean something for several parameters.

    Attributes
    ----------
    expectation : SeveralExpectation
    series : SeveralSeries
        The measurements that were judged.
    posterior : SumPosterior
        Probabilities, predictions and intervals; everything else follows from it.
    spaces : mapping from parameter to SearchSpace
        The growths that competed along each.
    tolerance : mapping from parameter to Growth
        By which growth it may outgrow the expectation along each and be fine.
    against : Against, optional
        How the values compare with those of a model with constants, where one was the expectation.
    required : Growth, optional
        The answer is fine only if growths are excluded that outgrow the claim by more than this.
    """

    expectation: SeveralExpectation
    series: SeveralSeries
    posterior: SumPosterior
    spaces: Mapping[str, SearchSpace]
    tolerance: Mapping[str, Growth] = field(default_factory=dict)
    against: Against | None = None
    required: Growth | None = None

    @cached_property
    def bounds(self) -> tuple[Growth, ...]:
        """The products that may be followed: the claimed ones times what is tolerated."""
        tolerated = math.prod(self.tolerance.values(), start=Growth.constant())
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
        sizes = self.series.points[:, self.parameters.index(self._decisive)]
        span = float(sizes.max() / sizes.min())
        return self.posterior.too_fast(self.bounds, **unexplained(self.excess, span, faster))

    @cached_property
    def _outgrown(self) -> tuple[str, ...]:
        """Parameters along which the growth may be too fast; all of them where only the whole grows too fast."""
        probabilities = {name: self.posterior.along(name) for name in self.parameters}
        found = []
        for name, shares in probabilities.items():
            if sum(share for growth, share in shares.items() if growth > self._allowed(name, Growth.constant())) > FINE:
                found.append(name)
        return tuple(found) or self.parameters

    @cached_property
    def _excesses(self) -> dict[str, float]:
        """Factor by which the values outgrow the best fit of the claim along each parameter that is outgrown."""
        points = self.posterior.design.points
        values = self.posterior.predict(points)
        terms = [growth for growth in self.expectation.growth.terms if not growth.is_constant]
        x = {name: points[:, column] for column, name in enumerate(self.parameters)}
        found = {}
        for name in self._outgrown:
            column = self.parameters.index(name)
            logs = [np.broadcast_to(term.log2_value(x), values.shape) for term in terms]
            falls = bool(terms) and all(term.exponents(name) < Growth.constant().exponents(name) for term in terms)
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
        for column, name in enumerate(self.parameters):
            shares = self.posterior.along(name)
            largest = float(self.series.points[:, column].max())
            probabilities = np.array(list(shares.values()))
            bound = self._allowed(name, Growth.constant())
            found[name] = resolution_of(list(shares), probabilities, bound, name, largest, is_exact=is_exact)
        return found

    @property
    def resolves(self) -> bool:
        """Whether the resolution along each parameter is as fine as was required."""
        required = self.required
        if required is None:
            return True
        asked = [name for name in self.parameters if name in required.parameters]
        return all(self.resolution[name] <= self._allowed(name, required) for name in asked)

    def _allowed(self, name: str, more: Growth) -> Growth:
        """Return the fastest growth along a parameter that is fine, times what `more` is along it."""
        bound = self.expectation.along[name].growth * self.tolerance.get(name, Growth.constant())
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
    def models(self) -> Sequence[SeveralModel]:
        """The models of all sums that are not negligible: the one that is shown, then by falling probability."""
        return models_of(self)

    @property
    def model(self) -> SeveralModel:
        """The model that is shown; its values are those of the posterior's average."""
        return self.models[0]

    @property
    def rivals(self) -> Sequence[SeveralModel]:
        """The other models, by falling probability."""
        return self.models[1:]

    def predict(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return the values that are expected at points, in `unit`.

        Parameters
        ----------
        x : array_like of shape (..., parameters), or mapping from parameter to values
        """
        at, shape = self._asked(x)
        return self.posterior.predict(at).reshape(shape)

    def interval(self, x: ArrayLike | Mapping[str, ArrayLike], level: float = 0.9) -> Floats:
        """Return the central prediction interval at points, of shape (2, *shape of the points), in `unit`.

        Parameters
        ----------
        x : array_like of shape (..., parameters), or mapping from parameter to values
        level : float

        Raises
        ------
        DataError
            If a parameter is missing or unknown.
        UsageError
            If a point is not positive, a growth that competes has no value there, or `level` is no
            probability.
        """
        low = (1 - checked_level(level)) / 2
        at, shape = self._asked(x)
        return self.posterior.quantiles(at, (low, 1 - low)).reshape(2, *shape)

    def _asked(self, x: ArrayLike | Mapping[str, ArrayLike]) -> tuple[Floats, tuple[int, ...]]:
        values = at_points(x, self.parameters)
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        at = np.stack([np.broadcast_to(value, shape).ravel() for value in values.values()], axis=1)
        design = self.posterior.design
        return predictable_places(at, self.series, design.terms), shape

    @cached_property
    def along(self) -> Along:
        """The verdict along each parameter, the others fixed."""
        found, effects = {}, self.effects
        is_exact = self.series.exact or self.series.virtual
        for column, name in enumerate(self.parameters):
            expected, weights = self.expectation.along[name], self.posterior.along(name)
            probability = dict.fromkeys(RANKS, 0.0)
            for growth, share in weights.items():
                probability[expected.rank(growth)] += share
            found[name] = AlongVerdict(
                expected,
                self.model.leading(name),
                weights,
                probability,
                float(self.series.points[:, column].max()),
                effects[name],
                self.spaces[name],
                self.tolerance.get(name, Growth.constant()),
                is_exact=is_exact,
            )
        return Along(found)

    @cached_property
    def effects(self) -> dict[str, float]:
        """Share of the value at the largest point that is due to each parameter; what remains to 1 is the smallest point's."""
        points = self.series.points
        return self.model.effects(points.min(axis=0).tolist(), points.max(axis=0).tolist())

    @property
    def problem(self) -> str:
        """What is wrong, as one says it to a person who decides; empty unless the answer is to fix it."""
        return problem_of(self) if self.answer == "fix" else ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.series.parameters

    @property
    def parameter(self) -> NoReturn:
        """What a verdict along one parameter has; here it is the error of `SeveralSeries.needs_one`."""
        raise self.series.needs_one()

    @property
    def space(self) -> NoReturn:
        """As `parameter`; `spaces` has that along each."""
        raise self.series.needs_one()

    @property
    def divergence(self) -> GrowthRatio:
        """Growth of model / expectation as a whole; `along` has it for each parameter."""
        return GrowthRatio(self.model.growth, self.expectation.growth)

    @property
    def rank(self) -> Rank:
        """Match rank of the model as a whole; see `SeveralExpectation.rank`."""
        return self.expectation.rank(self.model.growth)

    @cached_property
    def _growths(self) -> tuple[tuple[GrowthSum, float], ...]:
        """What the values may grow as, with its probability."""
        sums = self.posterior.sums
        return tuple((GrowthSum.of(growth for growth, _, _ in one.terms), one.weight) for one in sums)

    @cached_property
    def probability(self) -> Mapping[Rank, float]:
        """Probability of each match rank as a whole."""
        found = dict.fromkeys(RANKS, 0.0)
        for growth, share in self._growths:
            found[self.expectation.rank(growth)] += share
        return found

    @property
    def verdict(self) -> VerdictWord:
        """The rank as a whole that is at least 90 % probable, or ``"undecided"``."""
        return word_of(self.probability)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected as a whole; for the verdict none, what is more probable."""
        if self.verdict != "none":
            return self.expectation.direction(self.model.growth)
        direction = self.expectation.direction
        faster = sum(share for growth, share in self._growths if direction(growth) == "grows faster")
        return "grows faster" if faster >= 1 / 2 else "grows slower"

    @property
    def crossing(self) -> float:
        """NaN: each parameter has its own, in `along`."""
        return math.nan

    @cached_property
    def adjusted_r2(self) -> float:
        """Adjusted coefficient of determination of the formula, on relative values; NaN for a constant model."""
        model, scale, y = self.model, self.posterior.scale, self.posterior.y
        n, k = len(y), len(model.terms)
        if all(term.growth.is_constant for term in model.terms) or n <= k:
            return math.nan
        mean = np.average(y, weights=scale**-2)
        total = float((((y - mean) / scale) ** 2).sum())
        return 1 - (model.rss / (n - k)) / (total / (n - 1)) if total else math.nan

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the meaning of the measurements and of the model."""
        factor = self.against.remark if self.against else ""
        return (*self.series.caveats, *remarks_of(self), *((factor,) if factor else ()))

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        return sentence_of(self)

    @property
    def short_sentence(self) -> str:
        """The same without what is excluded."""
        return sentence_of(self, in_short=True)

    @property
    def fitted(self) -> tuple[Floats, Floats, SeveralModel]:
        """Points, values, and the model that was fitted to them."""
        return self.series.points, self.series.y, self.model

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric unit parameters"),
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "model": {**_model(self.model), "adjusted_r2": json_value(self.adjusted_r2)},
            **json_fields(self, "divergence rank verdict"),
            **self.answer_to_dict(),
            "resolution": {name: str(growth) for name, growth in self.resolution.items()},
            **json_fields(self, "probability direction"),
            "along": {name: one.to_dict() for name, one in self.along.items()},
            **json_fields(self, "decides caveats sentence"),
            "rivals": [_model(model) for model in self.rivals[:5]],
            **json_fields(self.series, "points y"),
            "n_repetitions": [int(n) for n in self.series.n_repetitions],
            "noise": json_value(self.series.noise),
        }

    def __repr__(self) -> str:
        return f"SeveralVerdict({self.function!r}, {self.metric}: {self.model}, {self.verdict})"

    def _repr_html_(self) -> str:
        from scalkit.validation.told.shown import several_html

        return several_html(self)


def _model(model: SeveralModel) -> dict[str, Any]:
    terms = [json_fields(term, "growth coefficient") for term in model.terms]
    return {"growth": str(model.growth), "terms": terms, "weight": json_value(model.weight), "text": str(model)}
