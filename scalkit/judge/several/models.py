"""The models of a evidence over several parameters, with the averaged coefficients of the posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.asked import Checked
from scalkit.judge.fit.made_models import MadeModels, nearest_whole
from scalkit.judge.fit.several.model import SeveralModel, Term

if TYPE_CHECKING:
    from scalkit.judge.fit.regression.several.posterior import SumPosterior
    from scalkit.judge.several.evidence import SeveralEvidence

_LEAST, _LEAST_EXACT = 1e-4, 1e-6
"""A term below this share of the value wherever it was measured, or below the step of the values, is no cost: errors
hide it."""

_NEGLIGIBLE = 0.01
"""A sum below this probability is not shown for the answer's sake."""


def models_of(evidence: SeveralEvidence) -> Sequence[SeveralModel]:
    """Return the models of all sums that are not negligible.

    The first one is shown: one that agrees with the answer, unless hardly anything does. Its values
    are those of the posterior's average. The others come by falling probability.
    """
    posterior = evidence.posterior
    order, shares = list(posterior.order), posterior.shares
    first = order[0]
    if evidence.answer != "cannot tell":
        agrees = posterior.of_sets(posterior.outgrows(evidence.bounds)) == (evidence.answer == "fix")
        agreeing = next((place for place in order if agrees[place]), first)
        if shares[agreeing] >= _NEGLIGIBLE * shares[first]:
            first = agreeing
    others = sorted((place for place in order if place != first), key=lambda place: -shares[place])
    shown = _model(evidence, first, is_shown=True)
    return MadeModels(partial(_model, evidence, is_shown=False), [first, *others], {first: shown})


def _model(evidence: SeveralEvidence, place: int, *, is_shown: bool) -> SeveralModel:
    series, one = evidence.series, evidence.posterior.sum_at(place)
    is_exact = series.exact or series.virtual
    points = evidence.posterior.design.points
    at = {name: points[:, column] for column, name in enumerate(series.parameters)}
    constant = Term(Growth(), math.log2(abs(one.constant)) if one.constant else -math.inf, one.constant < 0)
    every = [constant, *(Term(growth, log2, sign < 0) for growth, sign, log2 in one.terms)]
    scale = evidence.posterior.scale
    least = np.maximum((_LEAST_EXACT if is_exact else _LEAST) * scale, series.resolution)
    kept = [term for term in every if (np.abs(term(at)) >= least).any()] or every[:1]
    model = SeveralModel(
        parameters=series.parameters,
        terms=tuple(_rounded(term) if is_exact else term for term in kept),
        unit=series.unit,
        rss=math.nan,
        weight=one.weight,
        average=Checked(evidence.posterior, series, evidence.competing) if is_shown else None,
    )
    off = (model.by_formula(at) - evidence.posterior.y) / scale
    rss = float(off @ off)
    return replace(model, rss=rss, adjusted_r2=_adjusted_r2(model, rss, evidence.posterior))


def _adjusted_r2(model: SeveralModel, rss: float, posterior: SumPosterior) -> float:
    """Return the adjusted coefficient of determination of the formula, on relative values; NaN for a constant model."""
    y, scale = posterior.y, posterior.scale
    n, k = len(y), len(model.terms)
    if all(term.growth.is_constant for term in model.terms) or n <= k:
        return math.nan
    mean = np.average(y, weights=scale**-2)
    total = float((((y - mean) / scale) ** 2).sum())
    return 1 - (rss / (n - k)) / (total / (n - 1)) if total else math.nan


def _rounded(term: Term) -> Term:
    """Return a term of exact values with the whole coefficient that it stands for, if there is one."""
    whole = nearest_whole(abs(term.coefficient))
    return Term(term.growth, math.log2(whole), term.is_subtracted) if whole else term
