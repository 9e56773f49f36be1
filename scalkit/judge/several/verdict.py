"""The verdict on a function of several parameters, as a whole and along each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from scalkit.growth import Growth
from scalkit.judge.fit.regression.several.posterior import SumPosterior
from scalkit.judge.judged import AnyVerdict
from scalkit.judge.several.evidence import SeveralEvidence
from scalkit.judge.several.expectation import GrowthRatio, SeveralExpectation
from scalkit.judge.space import SearchSpace
from scalkit.measure import SeveralSeries
from scalkit.support.json_values import json_fields, json_value


@dataclass(frozen=True, eq=False, repr=False)
class SeveralVerdict(AnyVerdict):
    """The verdict on one function and metric over several parameters.

    It has the members of a `Verdict`, as far as they mean something for several parameters.

    Attributes
    ----------
    evidence : SeveralEvidence
        What the verdict rests on: the measurements, the claim, the candidates and the posterior.
    """

    evidence: SeveralEvidence

    @property
    def series(self) -> SeveralSeries:  # type: ignore[override]
        """The measurements that were judged."""
        return self.evidence.series

    @property
    def expectation(self) -> SeveralExpectation:
        """The claim with its deviation limits."""
        return self.evidence.expectation

    @property
    def parameter(self) -> NoReturn:
        """Member of a verdict over one parameter; here it is the error of `SeveralSeries.needs_one`."""
        raise self.series.needs_one()

    @property
    def space(self) -> NoReturn:
        """Member of a verdict over one parameter; `spaces` has the growths along each."""
        raise self.series.needs_one()

    @property
    def crossing(self) -> NoReturn:
        """Member of a verdict over one parameter; `along` has the crossing along each."""
        raise self.series.needs_one()

    @property
    def spaces(self) -> Mapping[str, SearchSpace]:
        """The growths that competed along each parameter."""
        return self.evidence.spaces

    @property
    def posterior(self) -> SumPosterior:
        """Probabilities, predictions and intervals; everything else follows from it."""
        return self.evidence.posterior

    @property
    def resolution(self) -> dict[str, Growth]:
        """The slowest growth along each parameter such that anything faster is excluded."""
        return self.evidence.resolution

    @property
    def divergence(self) -> GrowthRatio:
        """Growth of model / expectation as a whole; `along` has it for each parameter."""
        return GrowthRatio(self.model.growth, self.expectation.growth)

    @property
    def _effects(self) -> dict[str, float]:
        points = self.series.points
        return self.model.effects(points.min(axis=0).tolist(), points.max(axis=0).tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **super().to_dict(),
            **json_fields(self, "parameters"),
            "along": {name: one.to_dict() for name, one in self.along.items()},
            "points": json_value(self.series.points),
        }
