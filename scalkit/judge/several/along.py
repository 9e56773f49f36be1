"""The verdict along one of several parameters, the others fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scalkit.growth import Growth
from scalkit.judge.answer import FINE, SURE, Answer, in_decimals
from scalkit.judge.crossing import crossing
from scalkit.judge.expectation import Direction, Expectation, Match, likely_direction, match_probabilities
from scalkit.judge.space import SearchSpace
from scalkit.support.json_values import json_fields, json_value
from scalkit.support.markup import block, paragraph
from scalkit.support.text import percent

if TYPE_CHECKING:
    from scalkit.judge.judged import AnyVerdict


@dataclass(frozen=True, eq=False)
class AlongVerdict:
    """The verdict along one parameter, the others fixed.

    `expectation`: the leading expected term along this parameter, with its deviation limits.
    `growth`: that of the model.
    `weights`: probability of each, all ticks equally probable before.
    `effect`: share of the value at the largest point that is due to this parameter.
    `space`: the ticks that were tried.
    `tolerance`: by which growth it may outgrow the expectation and be fine.
    `whole`: the verdict over all parameters.
    """

    expectation: Expectation
    growth: Growth
    weights: Mapping[Growth, float]
    effect: float
    space: SearchSpace
    tolerance: Growth
    whole: AnyVerdict

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.expectation.parameter

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation."""
        return self.growth / self.expectation.growth

    @property
    def match(self) -> Match:
        """Match of the model: total, approximate or none."""
        return self.expectation.match(self.growth)

    @property
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed along this parameter by more than is tolerated."""
        fastest = self.expectation.growth * self.tolerance
        return float(sum(weight for growth, weight in self.weights.items() if growth > fastest))

    @property
    def answer(self) -> Answer:
        """Answer along this parameter, by the probability alone; the verdict as a whole decides."""
        if len(self.whole.parameters) == 1:
            return self.whole.answer
        if self.too_fast >= SURE:
            return "fix"
        return "fine" if self.too_fast <= FINE else "cannot tell"

    @property
    def resolution(self) -> Growth:
        """The slowest growth along this parameter such that anything faster is excluded."""
        found: Growth | Mapping[str, Growth] = self.whole.evidence.resolution
        return found if isinstance(found, Growth) else found[self.parameter]

    @cached_property
    def probability(self) -> dict[Match, float]:
        """Probability of each match along this parameter."""
        return match_probabilities(self.expectation, self.weights.items())

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected; what is more probable where there surely is no match."""
        return likely_direction(self.expectation, self.growth, self.weights.items(), self.probability)

    @cached_property
    def crossing(self) -> float:
        """The largest value of the parameter where the divergence meets a limit; 1 if always outside, NaN if inside."""
        return crossing(self.growth, self.expectation)

    @property
    def sentence(self) -> str:
        """The verdict along this parameter in plain words, without a full stop."""
        found, claim = in_decimals(self.growth), self.expectation.growth
        if self.answer == "fix":
            return f"along {self.parameter} it grows as {found} instead of {claim}"
        if self.answer == "cannot tell":
            chance = percent(self.too_fast)
            return (
                f"along {self.parameter} it cannot be told: it grows faster than claimed, {claim}, with a probability of {chance}"
            )
        if self.growth == claim:
            words = "stays constant, as claimed" if claim.is_constant else f"grows as claimed, {claim}"
            return f"along {self.parameter} it {words}"
        return f"along {self.parameter} it does not grow faster than claimed, {claim}: {found} is most probable"

    def plot(self) -> Any:
        """Return the plotly figure of the values along this parameter; see `scalkit.plot`."""
        # Drawing belongs to a higher layer; only the public face knows what draws a verdict.
        import scalkit

        return scalkit.plot(self)

    @property
    def facts(self) -> tuple[tuple[str, object], ...]:
        """Cells of a table row about this parameter, with their names."""
        return ("growth", str(self.growth)), ("answer", self.answer), ("effect", self.effect)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "limits": json_value(self.expectation.limits),
            "space": json_fields(self.space, "name ticks"),
            **json_fields(self, "growth divergence match answer probability direction crossing effect sentence"),
        }

    def __repr__(self) -> str:
        return f"<AlongVerdict: {self.sentence}>"

    def _repr_html_(self) -> str:
        return block(paragraph(f"{self.sentence[0].upper()}{self.sentence[1:]}."))
