"""The verdict on a function of several parameters, as a whole and along each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from scalkit.fit.several import SeveralFit
from scalkit.fit.several.model import SeveralModel
from scalkit.growth import Growth
from scalkit.json_values import json_fields, json_value
from scalkit.measure import SeveralSeries
from scalkit.text import percent
from scalkit.validation.answer import FINE, SURE, excess, machine_factor
from scalkit.validation.expectation import Direction, Rank, VerdictWord, word_of
from scalkit.validation.judged import Along, Judged
from scalkit.validation.several.expectation import GrowthRatio, SeveralExpectation
from scalkit.validation.several.probability import WholeProbability

if TYPE_CHECKING:
    from scalkit.arrays import Floats
    from scalkit.validation.against.ratio import Against


@dataclass(frozen=True, eq=False)
class SeveralVerdict(Judged):
    """What the measurements of one function and metric over several parameters say about its expectation.

    It has the names of a `Verdict`, as far as they mean something for several parameters.

    `along`: from parameter to the verdict along it.
    `whole`: what all hypotheses make probable as a whole.
    `remarks`: what limits the meaning of the model, in plain words.
    `tolerance`: by which growth it may outgrow the expectation along each and be fine.
    `against`: how the values compare with those of a model with constants, where one was the expectation.
    """

    expectation: SeveralExpectation
    series: SeveralSeries
    fit: SeveralFit
    along: Along
    whole: WholeProbability
    remarks: tuple[str, ...] = ()
    tolerance: Mapping[str, Growth] = field(default_factory=dict)
    against: Against | None = None

    @property
    def too_fast(self) -> float:
        """Probability that it grows faster as a whole than claimed by more than is tolerated."""
        return self.whole.too_fast

    @cached_property
    def excess(self) -> float:
        """Factor by which the values outgrow the best fit of the claim over the measured points; see `answer.excess`."""
        points = self.fit.points
        order = np.argsort(points.y, kind="stable")
        x = {name: points.x[order, column] for column, name in enumerate(points.parameters)}
        logs = [term.log2_value(x) for term in self.expectation.growth.terms if not term.is_constant]
        found = np.asarray(self.model(**x), dtype=np.float64)
        return excess(found, [np.exp2(np.broadcast_to(one, found.shape) - np.max(one)) for one in logs])

    @property
    def machine_factor(self) -> float:
        """Factor by which the machine alone may make the values rise over what is outgrown.

        These are the parameters along which the growth may be too fast, or all of them where only
        the whole grows too fast.
        """
        outgrown = [name for name, one in self.along.items() if one.too_fast > FINE]
        return machine_factor(self.series, outgrown or self.parameters)

    @property
    def resolution(self) -> dict[str, Growth]:
        """The slowest growth along each parameter such that anything faster is excluded."""
        return {name: one.resolution for name, one in self.along.items()}

    @property
    def problem(self) -> str:
        """What is wrong, as one says it to a person who decides; empty unless the answer is to fix it."""
        if self.against is not None:
            return self.against.problem
        return self.short_sentence.removesuffix(".") if self.answer == "fix" else ""

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
        """As `parameter`; each of `along` has its search space."""
        raise self.series.needs_one()

    @property
    def posterior(self) -> NoReturn:
        """As `parameter`; `fit` has the probabilities."""
        raise self.series.needs_one()

    def interval(self, x: ArrayLike, level: float = 0.9) -> NoReturn:
        """As `parameter`: prediction intervals are known for one parameter; `refine` has bands of the model."""
        raise self.series.needs_one()

    @property
    def divergence(self) -> GrowthRatio:
        """Growth of model / expectation as a whole; `along` has it for each parameter."""
        return GrowthRatio(self.model.growth, self.expectation.growth)

    @property
    def model(self) -> SeveralModel:
        """The most probable model."""
        return self.fit.model

    @property
    def rivals(self) -> Sequence[SeveralModel]:
        """The next ones, by falling weight."""
        return self.fit.rivals

    @property
    def rank(self) -> Rank:
        """Match rank of the model as a whole; see `SeveralExpectation.rank`."""
        return self.expectation.rank(self.model.growth)

    @property
    def probability(self) -> Mapping[Rank, float]:
        """Probability of each match rank as a whole, all ranks equally probable before."""
        return self.whole.ranks

    @property
    def verdict(self) -> VerdictWord:
        """The rank as a whole that is at least 90 % probable, or ``"undecided"``."""
        return word_of(self.probability)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected as a whole; for the verdict none, what is more probable."""
        if self.verdict != "none":
            return self.expectation.direction(self.model.growth)
        return "grows faster" if self.whole.faster >= 1 / 2 else "grows slower"

    @property
    def crossing(self) -> float:
        """NaN: each parameter has its own, in `along`."""
        return math.nan

    @cached_property
    def adjusted_r2(self) -> float:
        """Adjusted coefficient of determination of the weighted fit; NaN for a constant model."""
        points, model = self.fit.points, self.model
        n, k = len(points.y), len(model.terms)
        if model.growth.terms == (Growth.constant(),) or n <= k:
            return math.nan
        error = points.error_scale()
        target, constant = points.y / error, 1 / error
        total = float(((target - constant * (target @ constant) / (constant @ constant)) ** 2).sum())
        return 1 - (model.rss / (n - k)) / (total / (n - 1)) if total else math.nan

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the meaning of the measurements and of the model."""
        return (*self.series.caveats, *self.remarks, *([self.against.remark] if self.against and self.against.remark else []))

    @property
    def effects(self) -> dict[str, float]:
        """Share of the value at the largest point that is due to each parameter; what remains to 1 is the smallest point's."""
        return {name: one.effect for name, one in self.along.items()}

    @property
    def short_sentence(self) -> str:
        """The verdict as a whole in plain words."""
        name, found, expected = self.function, self.model.growth, self.expectation.growth
        if self.against is not None:
            return self.against.sentence
        if self.misses and (self.verdict != "none" or self.direction != "grows faster"):
            return f"{name} grows faster than claimed, {expected}: {self.model} is most probable."
        if self.too_fast >= SURE and not self.is_material:
            return (
                f"{name} grows as {found} and outgrows the claim {expected} by a factor of {self.excess:.2g} over the "
                f"measured points, and the machine may explain {self.machine_factor:g}; measure larger ones."
            )
        if self.verdict == "undecided":
            if self.answer == "fine":
                return f"{name} does not grow faster than claimed, {expected}: {found} is most probable."
            return f"{name} is undecided as a whole: {self._contenders()}, expected is {expected}."
        best = "" if self.rank == "total" else f" (the most probable model has {found})"
        if self.verdict == "total":
            return f"{name} grows as expected, {expected}{best}."
        if self.verdict == "approximate":
            if self.rank == "approximate":
                return f"{name} grows within the limits: {found}, expected is {expected}."
            return f"{name} grows within the limits around {expected}{best}."
        if self.rank == "none" and self.expectation.direction(found) == self.direction:
            return f"{name} {self.direction} than the limits allow: {found} instead of {expected}."
        return f"{name} {self.direction} than the limits around {expected} allow{best}."

    @property
    def sentence(self) -> str:
        """The verdict in plain words: as a whole, then along each parameter."""
        if self.against is not None:
            return self.against.sentence
        return "; ".join([self.short_sentence.removesuffix("."), *(one.sentence for one in self.along.values())]) + "."

    @property
    def fitted(self) -> tuple[Floats, Floats, SeveralModel]:
        """Settings, values, and the model that was fitted to them."""
        return self.fit.points.x, self.fit.points.y, self.model

    def _contenders(self) -> str:
        """Return the most probable growth of each rank that is at least 1 % probable."""
        best: dict[Rank, str] = {"total": str(self.expectation.growth)}
        for growth, _ in self.fit.growths:
            best.setdefault(self.expectation.rank(growth), str(growth))
        likely = sorted(((p, rank) for rank, p in self.probability.items() if p >= 0.01), reverse=True)
        return ", ".join(f"{best.get(rank, 'others')} ({rank}, {percent(p)})" for p, rank in likely)

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
