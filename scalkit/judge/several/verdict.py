"""The verdict on a function of several parameters, as a whole and along each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.expectation import MATCHES, Direction, Match, sure_match
from scalkit.judge.fit.regression.several.posterior import SumPosterior
from scalkit.judge.judged import Along, AnyVerdict, answer_to_dict, model_to_dict
from scalkit.judge.several.along import AlongVerdict
from scalkit.judge.several.evidence import SeveralEvidence
from scalkit.judge.several.expectation import GrowthRatio, SeveralExpectation
from scalkit.judge.space import SearchSpace
from scalkit.judge.told.sums import problem_of, remarks_of, sentence_of
from scalkit.measure import SeveralSeries
from scalkit.support.json_values import json_fields, json_value


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def along(self) -> Along:
        """The verdict along each parameter, the others fixed."""
        points = self.series.points
        effects = self.model.effects(points.min(axis=0).tolist(), points.max(axis=0).tolist())
        found = {}
        is_exact = self.series.exact or self.series.virtual
        for column, name in enumerate(self.parameters):
            expected, weights = self.expectation.along[name], self.posterior.along(name)
            probability = dict.fromkeys(MATCHES, 0.0)
            for growth, share in weights.items():
                probability[expected.match(growth)] += share
            found[name] = AlongVerdict(
                expected,
                self.model.leading(name),
                weights,
                probability,
                float(points[:, column].max()),
                effects[name],
                self.spaces[name],
                self.evidence.tolerance.get(name, Growth()),
                self,
                is_exact=is_exact,
            )
        return Along(found)

    @property
    def problem(self) -> str:
        """What is wrong, as one says it to a person who decides; empty unless the answer is to fix it."""
        return problem_of(self) if self.answer == "fix" else ""

    @property
    def divergence(self) -> GrowthRatio:
        """Growth of model / expectation as a whole; `along` has it for each parameter."""
        return GrowthRatio(self.model.growth, self.expectation.growth)

    @property
    def match(self) -> Match:
        """Match of the model as a whole; see `SeveralExpectation.match`."""
        return self.expectation.match(self.model.growth)

    @cached_property
    def _growths(self) -> tuple[tuple[GrowthSum, float], ...]:
        """Growths that the values may have, with their probabilities."""
        posterior = self.posterior
        sums = {place: posterior.sum_at(place)[1:] for place in posterior.order}
        growths = {place: GrowthSum.of(term.growth for term in terms) for place, terms in sums.items()}
        return tuple((growth, float(posterior.shares[place])) for place, growth in growths.items())

    @cached_property
    def probability(self) -> Mapping[Match, float]:
        """Probability of each match as a whole."""
        found = dict.fromkeys(MATCHES, 0.0)
        for growth, share in self._growths:
            found[self.expectation.match(growth)] += share
        return found

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected as a whole; what is more probable without a match."""
        if sure_match(self.probability) != "none":
            return self.expectation.direction(self.model.growth)
        direction = self.expectation.direction
        faster = sum(share for growth, share in self._growths if direction(growth) == "grows faster")
        return "grows faster" if faster >= 1 / 2 else "grows slower"

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on what limits the meaning of the measurements and of the model."""
        against = self.evidence.against
        factor = against.remark if against else ""
        return (*self.series.caveats, *remarks_of(self), *((factor,) if factor else ()))

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        return sentence_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric unit parameters"),
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "model": model_to_dict(self.model),
            **json_fields(self, "divergence match"),
            **answer_to_dict(self),
            "resolution": {name: str(growth) for name, growth in self.resolution.items()},
            **json_fields(self, "probability direction"),
            "along": {name: one.to_dict() for name, one in self.along.items()},
            **json_fields(self, "decides caveats sentence"),
            "rivals": [model_to_dict(model) for model in self.rivals[:5]],
            **json_fields(self.series, "points y"),
            "n_repetitions": [int(n) for n in self.series.n_repetitions],
            "noise": json_value(self.series.noise),
        }

    def __repr__(self) -> str:
        return f"<SeveralVerdict: {self.answer}. {self.sentence}>"

    def _repr_html_(self) -> str:
        from scalkit.judge.told.shown import several_html

        return several_html(self)
