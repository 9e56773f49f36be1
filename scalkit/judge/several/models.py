"""The models over several parameters, with the averaged coefficients of the posterior."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scalkit.judge.asked import CheckedCurve
from scalkit.judge.fit import Model
from scalkit.judge.formula import MOST_RIVALS, fitted, visible

if TYPE_CHECKING:
    from scalkit.judge.several.evidence import SeveralEvidence

_NEGLIGIBLE = 0.01
"""A sum below this probability is not shown for the answer's sake."""


def model_of(evidence: SeveralEvidence) -> Model:
    """Return the model that is shown; its values are those of the posterior's average."""
    average = CheckedCurve(evidence.posterior, evidence.series, evidence.competing)
    return replace(_formula(evidence, _shown(evidence)), average=average)


def rivals_of(evidence: SeveralEvidence) -> tuple[Model, ...]:
    """Return the models of the other sums, by falling probability."""
    posterior, shown = evidence.posterior, _shown(evidence)
    others = sorted((place for place in posterior.order if place != shown), key=lambda place: -posterior.shares[place])
    return tuple(_formula(evidence, place) for place in others[:MOST_RIVALS])


def _shown(evidence: SeveralEvidence) -> int:
    """Return the place of the sum that is shown: one that agrees with the answer, unless hardly anything does."""
    posterior = evidence.posterior
    first = posterior.order[0]
    if evidence.answer == "cannot tell":
        return first
    agrees = posterior.of_sets(posterior.outgrows(evidence.bounds)) == (evidence.answer == "fix")
    agreeing = next((place for place in posterior.order if agrees[place]), first)
    return agreeing if posterior.shares[agreeing] >= _NEGLIGIBLE * posterior.shares[first] else first


def _formula(evidence: SeveralEvidence, place: int) -> Model:
    posterior, series = evidence.posterior, evidence.series
    terms = posterior.sum_at(place)
    at = dict(zip(series.parameters, posterior.design.points.T, strict=True))
    kept = visible(terms, series, at, posterior.scale) or terms[:1]
    return fitted(kept, series, at, posterior.y, posterior.scale, float(posterior.shares[place]))
