"""The verdict along one of several parameters, the others fixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scalkit.growth import Growth
from scalkit.json_values import json_fields, json_value
from scalkit.markup import block, paragraph
from scalkit.text import percent
from scalkit.validation.answer import FINE, SURE, Answer, resolution_of
from scalkit.validation.crossing import crossing, place_of, shown_scale
from scalkit.validation.expectation import Direction, Expectation, Rank, VerdictWord, word_of
from scalkit.validation.space import SearchSpace

_NONE = Growth.constant()


@dataclass(frozen=True, eq=False)
class AlongVerdict:
    """What the values say along one parameter, the others fixed.

    `expectation`: the leading expected term along this parameter, with its deviation limits.
    `growth`: that of the model.
    `weights`: probability of each, all ticks equally probable before.
    `probability`: of each match rank, all ranks equally probable before; see `scalkit.validation.several.probability`.
    `largest`: largest measured value of the parameter.
    `effect`: share of the value at the largest point that is due to this parameter.
    `space`: the ticks that were tried.
    `tolerance`: by which growth it may outgrow the expectation and be fine.
    `whole`: the answer of the verdict, where this is its only parameter.
    `is_exact`: whether the values are free of noise.
    """

    expectation: Expectation
    growth: Growth
    weights: Mapping[Growth, float]
    probability: Mapping[Rank, float]
    largest: float
    effect: float
    space: SearchSpace
    tolerance: Growth = _NONE
    whole: Answer | None = None
    is_exact: bool = False

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.expectation.parameter

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation."""
        return self.growth / self.expectation.growth

    @property
    def rank(self) -> Rank:
        """Match rank of the model: total, approximate or none."""
        return self.expectation.rank(self.growth)

    @property
    def verdict(self) -> VerdictWord:
        """The rank that is at least 90 % probable, or ``"undecided"``."""
        return word_of(self.probability)

    @property
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed along this parameter by more than is tolerated."""
        fastest = self.expectation.growth * self.tolerance
        return float(sum(weight for growth, weight in self.weights.items() if growth > fastest))

    @property
    def answer(self) -> Answer:
        """Fix, fine or cannot tell along this parameter, by the probability alone; the verdict as a whole decides."""
        if self.whole is not None:
            return self.whole
        if self.too_fast >= SURE:
            return "fix"
        return "fine" if self.too_fast <= FINE else "cannot tell"

    @property
    def resolution(self) -> Growth:
        """The slowest growth along this parameter such that anything faster is excluded."""
        growths, bound = sorted(self.weights), self.expectation.growth * self.tolerance
        shares = np.array([self.weights[growth] for growth in growths])
        return resolution_of(growths, shares, bound, self.parameter, self.largest, is_exact=self.is_exact)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected; for the verdict none, what is more probable."""
        if self.verdict == "none":
            upper = self.expectation.limits[1]
            faster = sum(weight for growth, weight in self.weights.items() if growth > upper)
            return "grows faster" if faster >= self.probability["none"] / 2 else "grows slower"
        return self.expectation.direction(self.growth)

    @cached_property
    def crossing(self) -> float:
        """The largest value of the parameter where the divergence meets a limit; 1 if always outside, NaN if inside."""
        return crossing(self.growth, self.expectation)

    @property
    def sentence(self) -> str:
        """The verdict along this parameter in plain words."""
        found, expected = self.growth, self.expectation.growth
        if self.verdict == "undecided":
            shown = ", ".join(f"{rank} {percent(p)}" for rank, p in self.probability.items())
            return f"along {self.parameter} it is undecided: {found} fits best, {expected} is expected ({shown})"
        best = "" if found == expected else f" (the most probable model has {found})"
        if self.verdict == "total":
            return f"along {self.parameter} it grows as expected, {expected}{best}"
        if self.verdict == "approximate" and (self.rank != "approximate"):
            return f"along {self.parameter} it grows within the limits around {expected}{best}"
        if self.verdict == "none" and (self.rank != "none" or self.expectation.direction(found) != self.direction):
            return f"along {self.parameter} it {self.direction} than the limits around {expected} allow{best}"
        words = f"along {self.parameter} it {self.direction} than expected, {found} instead of {expected}"
        if self.verdict == "approximate":
            return f"{words}, within the limits"
        if self.crossing <= 1:
            return words
        place = place_of(self.crossing, self.largest)
        return f"{words}, beyond the limits from {self.parameter}* = {shown_scale(self.crossing)} on, {place}"

    @property
    def facts(self) -> tuple[tuple[str, object], ...]:
        """What a row of a table says along this parameter."""
        return ("growth", str(self.growth)), ("verdict", self.verdict), ("effect", self.effect)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "limits": json_value(self.expectation.limits),
            "space": json_fields(self.space, "name ticks"),
            **json_fields(self, "growth divergence rank verdict answer probability direction crossing effect sentence"),
        }

    def __repr__(self) -> str:
        return f"AlongVerdict({self.parameter}: {self.growth}, {self.verdict})"

    def _repr_html_(self) -> str:
        return block(paragraph(f"{self.sentence[0].upper()}{self.sentence[1:]}."))
