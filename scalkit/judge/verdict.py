"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from scalkit.growth import Growth
from scalkit.judge.crossing import crossing
from scalkit.judge.evidence import Evidence
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit.regression.posterior import Posterior
from scalkit.judge.judged import AnyVerdict
from scalkit.judge.space import SearchSpace
from scalkit.measure import Series
from scalkit.support.json_values import json_fields, json_value


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(AnyVerdict):
    """The verdict on one function and metric over one parameter.

    Attributes
    ----------
    evidence : Evidence
        What the verdict rests on: the measurements, the claim, the candidates and the posterior.
    """

    evidence: Evidence

    @property
    def series(self) -> Series:  # type: ignore[override]
        """The measurements that were judged."""
        return self.evidence.series

    @property
    def expectation(self) -> Expectation:
        """The claim with its deviation limits."""
        return self.evidence.expectation

    @property
    def space(self) -> SearchSpace:
        """The growths that competed, beside a constant and falling ones."""
        return self.evidence.space

    @property
    def posterior(self) -> Posterior:
        """Probabilities, predictions and intervals; everything else follows from it."""
        return self.evidence.posterior

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.series.parameter

    @property
    def resolution(self) -> Growth:
        """The slowest growth such that anything faster is excluded."""
        return self.evidence.resolution

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation; ``divergence(x)`` is its value at `x`."""
        found: Growth = self.model.growth / self.expectation.growth
        return found

    @cached_property
    def crossing(self) -> float:
        """The largest x where the divergence meets a limit; 1 if outside for all x > 1, NaN if inside."""
        return crossing(self.model.growth, self.expectation)

    @property
    def _effects(self) -> dict[str, float]:
        smallest, largest = self.model(self.series.x[[0, -1]]).tolist()
        return {self.parameter: 1 - smallest / largest if largest else 0.0}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **super().to_dict(),
            **json_fields(self, "parameter crossing"),
            "limits": json_value(self.expectation.limits),
            "space": {"name": self.space.name, "ticks": list(_texts(self.space.ticks))},
            "growth_band": json_value(self.posterior.growth_band()),
            "x": json_value(self.series.x),
        }


@lru_cache(maxsize=256)
def _texts(ticks: tuple[Growth, ...]) -> tuple[str, ...]:
    """Return the texts of ticks, which many verdicts share."""
    return tuple(str(tick) for tick in ticks)
