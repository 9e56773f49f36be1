"""The verdict on a function of several parameters: along each of them, and as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from scalkit.fit.several import SeveralFit
from scalkit.fit.several_model import SeveralModel
from scalkit.growth import Growth
from scalkit.validation.crossing import crossing, place_of, shown_scale
from scalkit.validation.expectation import RANKS, Direction, Expectation, Rank
from scalkit.validation.posterior import SURE, VerdictWord
from scalkit.validation.several_data import SeveralSeries
from scalkit.validation.several_expectation import SeveralExpectation

__all__ = ["AlongVerdict", "SeveralVerdict"]


@dataclass(frozen=True, eq=False)
class AlongVerdict:
    """What the values say along one parameter, the others fixed.

    Attributes
    ----------
    expectation : Expectation
        The leading expected term along this parameter, with its deviation limits.
    growth : Growth
        That of the model.
    weights : mapping from Growth to float
        Probability of each.
    largest : float
        Largest measured value of the parameter.
    effect : float
        Share of the value at the largest point that is due to this parameter.
    """

    expectation: Expectation
    growth: Growth
    weights: Mapping[Growth, float]
    largest: float
    effect: float

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

    @cached_property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank."""
        found = dict.fromkeys(RANKS, 0.0)
        for growth, weight in self.weights.items():
            found[self.expectation.rank(growth)] += weight
        return found

    @property
    def verdict(self) -> VerdictWord:
        """The rank that is at least 90 % probable, or ``"undecided"``; as of `Posterior.verdict`."""
        return _word(self.probability)

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
            shown = ", ".join(f"{rank} {100 * p:.0f} %" for rank, p in self.probability.items())
            return f"along {self.parameter} it is undecided: {found} fits best, {expected} is expected ({shown})"
        if self.verdict == "total":
            return f"along {self.parameter} it grows as expected, {expected}"
        words = f"along {self.parameter} it {self.direction} than expected, {found} instead of {expected}"
        if self.verdict == "approximate":
            if found == expected:
                return f"along {self.parameter} it grows within the limits around {expected}"
            return f"{words}, within the limits"
        if self.rank != "none" or self.crossing <= 1:
            return words
        place = place_of(self.crossing, self.largest)
        return f"{words}, beyond the limits from {self.parameter}* = {shown_scale(self.crossing)} on, {place}"

    def __repr__(self) -> str:
        return f"AlongVerdict({self.parameter}: {self.growth}, {self.verdict})"


@dataclass(frozen=True, eq=False)
class SeveralVerdict:
    """What the measurements of one function and metric over several parameters say about its expectation.

    Attributes
    ----------
    expectation : SeveralExpectation
    series : SeveralSeries
    fit : SeveralFit
    along : mapping from parameter to AlongVerdict
    """

    expectation: SeveralExpectation
    series: SeveralSeries
    fit: SeveralFit
    along: Mapping[str, AlongVerdict]

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.series.function

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.series.metric

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.series.parameters

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

    @cached_property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank as a whole."""
        found = dict.fromkeys(RANKS, 0.0)
        for growth, weight in self.fit.growths:
            found[self.expectation.rank(growth)] += weight
        return found

    @property
    def verdict(self) -> VerdictWord:
        """The rank as a whole that is at least 90 % probable, or ``"undecided"``."""
        return _word(self.probability)

    @cached_property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected as a whole; for the verdict none, what is more probable."""
        if self.verdict != "none":
            return self.expectation.direction(self.model.growth)
        faster = sum(
            weight
            for growth, weight in self.fit.growths
            if self.expectation.rank(growth) == "none" and self.expectation.direction(growth) == "grows faster"
        )
        return "grows faster" if faster >= self.probability["none"] / 2 else "grows slower"

    @property
    def is_failure(self) -> bool:
        """Whether the expectation is missed: verdict none and faster growth, as a whole or along a parameter."""
        words = [(self.verdict, self.direction), *((one.verdict, one.direction) for one in self.along.values())]
        return ("none", "grows faster") in words

    @property
    def effects(self) -> dict[str, float]:
        """Share of the value at the largest point that is due to each parameter; what remains to 1 is the smallest point's."""
        return {name: one.effect for name, one in self.along.items()}

    @property
    def sentence(self) -> str:
        """The verdict in plain words: as a whole, then along each parameter."""
        found, expected = self.model.growth, self.expectation.growth
        if self.verdict == "undecided":
            whole = f"{self.function} is undecided as a whole: {self._contenders()}, expected is {expected}"
        elif self.verdict == "total":
            whole = f"{self.function} grows as expected, {expected}"
        elif self.verdict == "approximate":
            whole = f"{self.function} grows within the limits: {found}, expected is {expected}"
        else:
            whole = f"{self.function} {self.direction} than the limits allow: {found} instead of {expected}"
        return "; ".join([whole, *(one.sentence for one in self.along.values())]) + "."

    def _contenders(self) -> str:
        """Return the most probable growth of each rank that is at least 1 % probable."""
        best: dict[Rank, str] = {}
        for growth, _ in self.fit.growths:
            best.setdefault(self.expectation.rank(growth), str(growth))
        likely = sorted(((p, rank) for rank, p in self.probability.items() if p >= 0.01), reverse=True)
        return ", ".join(f"{best[rank]} ({rank}, {100 * p:.0f} %)" for p, rank in likely)

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON file can hold of it."""
        return {
            "function": self.function,
            "metric": self.metric,
            "parameters": list(self.parameters),
            "expectation": str(self.expectation.growth),
            "model": str(self.model),
            "growth": str(self.model.growth),
            "rank": self.rank,
            "verdict": self.verdict,
            "probability": dict(self.probability),
            "direction": self.direction,
            "along": {
                name: {
                    "expectation": str(one.expectation.growth),
                    "limits": [str(limit) for limit in one.expectation.limits],
                    "growth": str(one.growth),
                    "divergence": str(one.divergence),
                    "rank": one.rank,
                    "verdict": one.verdict,
                    "probability": dict(one.probability),
                    "direction": one.direction,
                    "effect": one.effect,
                }
                for name, one in self.along.items()
            },
        }

    def __repr__(self) -> str:
        return f"SeveralVerdict({self.function!r}, {self.metric}: {self.model}, {self.verdict})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(str(one.expectation.growth))}</td><td>{escape(str(one.growth))}</td>"
            f"<td>{escape(str(one.divergence))}</td><td>{one.verdict}</td><td>{100 * one.effect:.0f} %</td></tr>"
            for name, one in self.along.items()
        )
        head = "".join(
            f"<th>{title}</th>" for title in ("along", "expected", "found", "divergence", "verdict", "effect")
        )
        return f"<p>{escape(self.sentence)}</p><table><tr>{head}</tr>{rows}</table>"


def _word(probability: Mapping[Rank, float]) -> VerdictWord:
    if probability["total"] >= SURE:
        return "total"
    if probability["none"] >= SURE:
        return "none"
    return "approximate" if probability["total"] + probability["approximate"] >= SURE else "undecided"
