"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from scalkit.growth import Growth
from scalkit.judge.crossing import crossing
from scalkit.judge.evidence import Evidence
from scalkit.judge.expectation import MATCHES, Direction, Expectation, Match, sure_match
from scalkit.judge.fit.regression.posterior import Posterior
from scalkit.judge.judged import Along, AnyVerdict, answer_to_dict, model_to_dict
from scalkit.judge.several.along import AlongVerdict
from scalkit.judge.space import SearchSpace
from scalkit.judge.told.remarks import remarks_of
from scalkit.judge.told.sentences import problem_of, sentence_of
from scalkit.measure import Series
from scalkit.support.json_values import json_fields, json_value


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def sentence(self) -> str:
        """The verdict in plain words: what it grows as, and what is excluded or missing."""
        return sentence_of(self)

    @cached_property
    def problem(self) -> str:
        """Sentence for a person who decides on what is wrong; empty unless the answer is *fix*."""
        return problem_of(self) if self.answer == "fix" else ""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on what limits the meaning of the measurements and of the model."""
        against = self.evidence.against
        factor = against.remark if against else ""
        return (*self.series.caveats, *remarks_of(self), *((factor,) if factor else ()))

    @property
    def resolution(self) -> Growth:
        """The slowest growth such that anything faster is excluded."""
        return self.evidence.resolution

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation; ``divergence(x)`` is its value at `x`."""
        found: Growth = self.model.growth / self.expectation.growth
        return found

    @property
    def match(self) -> Match:
        """Match of the model: total, approximate (on or inside the deviation limits) or none."""
        return self.expectation.match(self.model.growth)

    @cached_property
    def probability(self) -> dict[Match, float]:
        """Probability of each match."""
        found = dict.fromkeys(MATCHES, 0.0)
        shares = self.posterior.probabilities.tolist()
        for growth, share in zip(self.posterior.growths, shares, strict=True):
            found[self.expectation.match(growth)] += share
        return found

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected: by the posterior where there surely is no match."""
        if sure_match(self.probability) == "none":
            faster = self.posterior.too_fast(self.expectation.limits[1])
            return "grows faster" if faster >= self.probability["none"] / 2 else "grows slower"
        return self.expectation.direction(self.model.growth)

    @cached_property
    def crossing(self) -> float:
        """The largest x where the divergence meets a limit; 1 if outside for all x > 1, NaN if inside."""
        return crossing(self.model.growth, self.expectation)

    @cached_property
    def along(self) -> Along:
        """The verdict along the parameter, in the form that verdicts over several parameters have."""
        posterior = self.posterior
        smallest, largest = self.model(self.series.x[[0, -1]]).tolist()
        found = AlongVerdict(
            self.expectation,
            self.model.growth,
            dict(zip(posterior.growths, posterior.probabilities.tolist(), strict=True)),
            self.probability,
            float(self.series.x[-1]),
            1 - smallest / largest if largest else 0.0,
            self.space,
            self.evidence.tolerance,
            self,
            is_exact=self.series.exact or self.series.virtual,
        )
        return Along({self.parameter: found})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric unit parameter"),
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "limits": json_value(self.expectation.limits),
            "space": {"name": self.space.name, "ticks": list(_texts(self.space.ticks))},
            "model": model_to_dict(self.model),
            **json_fields(self, "divergence match"),
            **answer_to_dict(self),
            **json_fields(self, "resolution probability"),
            "growth_band": json_value(self.posterior.growth_band()),
            **json_fields(self, "direction crossing decides caveats sentence"),
            "rivals": [model_to_dict(model) for model in self.rivals[:5]],
            **json_fields(self.series, "x y"),
            "n_repetitions": [int(n) for n in self.series.n_repetitions],
            "noise": json_value(self.series.noise),
        }

    def __repr__(self) -> str:
        return f"<Verdict: {self.answer}. {self.sentence}>"

    def _repr_html_(self) -> str:
        from scalkit.judge.told.shown import verdict_html

        return verdict_html(self)


@lru_cache(maxsize=256)
def _texts(ticks: tuple[Growth, ...]) -> tuple[str, ...]:
    """Return the texts of ticks, which many verdicts share."""
    return tuple(str(tick) for tick in ticks)
