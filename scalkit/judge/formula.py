"""The models that are shown: a growth with its averaged coefficients, and their residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.asked import CheckedCurve
from scalkit.judge.fit import Model, fit_series
from scalkit.judge.fit.model import Term
from scalkit.measure import Series, SeveralSeries
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from scalkit.judge.evidence import Evidence

MOST_RIVALS = 8
"""Models beside the one that is shown; views show no more of them."""

_LEAST, _LEAST_EXACT = 1e-4, 1e-6
"""A term below this share of the value wherever it was measured, or below the step of the values, is no cost: errors
hide it."""

_NEARLY = 1e-5
"""Relative distance from a whole number that is below what the prior of the shares moves exact coefficients by."""

_FARTHEST = 0.01
"""Distance from a whole number beyond which a large coefficient is another one, however near it is relatively."""

_NEGLIGIBLE = 0.01
"""A growth below this probability is not shown for the answer's sake."""

_FEWEST = 3
"""Points that the paper's choice needs; that there are enough was said before."""


def visible(terms: Sequence[Term], series: Series | SeveralSeries, at: Mapping[str, Floats], scale: Floats) -> list[Term]:
    """Return the terms that exceed the errors at some point; errors are relative to `scale`."""
    share = _LEAST_EXACT if series.exact or series.virtual else _LEAST
    least = np.maximum(share * scale, series.resolution)
    return [term for term in terms if (np.exp2(term.log2_coefficient + term.growth.log2_value(at)) >= least).any()]


def fitted(
    terms: Sequence[Term], series: Series | SeveralSeries, at: Mapping[str, Floats], y: Floats, scale: Floats, weight: float
) -> Model:
    """Return the model of terms, with its residuals of values `y`, relative to `scale`."""
    if series.exact or series.virtual:
        terms = [_whole(term) for term in terms]
    model = Model(series.parameters, tuple(terms), series.unit, math.nan, weight=weight)
    residual = (model.by_formula(at) - y) / scale
    spread = (y - np.average(y, weights=scale**-2)) / scale
    n, rss, total = len(y), float(residual @ residual), float(spread @ spread)
    n_varying = sum(not term.growth.is_constant for term in terms)
    # The average of equal values may differ from them by rounding, so that `total` is tiny instead of 0.
    is_there = n_varying > 0 and np.ptp(y) > 0 and n > n_varying + 1
    r2 = 1 - rss / (n - n_varying - 1) / (total / (n - 1)) if is_there else math.nan
    return replace(model, adjusted_r2=r2, rss=rss)


def _whole(term: Term) -> Term:
    """Return a term of exact values with the whole coefficient that it stands for, if there is one."""
    value = term.coefficient
    whole = float(round(value)) if math.isfinite(value) else 0.0
    return Term.of(term.growth, whole) if whole and abs(value - whole) <= min(_NEARLY * abs(value), _FARTHEST) else term


def formula_of(evidence: Evidence, growth: Growth) -> Model:
    """Return the model of a growth with the averaged coefficients that it has in the posterior."""
    posterior, series = evidence.posterior, evidence.series
    *others, leading = posterior.formula(growth)
    # A point that is off says nothing about the formula.
    kept = np.arange(len(series.y)) != (-1 if evidence.off_at is None else evidence.off_at)
    terms = [*visible(others, series, {series.parameter: series.x}, posterior.scale), leading]
    at, scale = {series.parameter: series.x[kept]}, posterior.scale[kept]
    return fitted(terms, series, at, series.y[kept], scale, posterior.probability_of(growth))


def model_of(evidence: Evidence) -> Model:
    """Return the model that is shown, with the posterior's average, or that of the paper."""
    if evidence.estimator == "adjusted_r2":
        return _by_adjusted_r2(evidence)[0]
    average = CheckedCurve(evidence.posterior, evidence.series, evidence.competing)
    return replace(formula_of(evidence, _shown(evidence)), average=average)


def rivals_of(evidence: Evidence) -> tuple[Model, ...]:
    """Return the models of the other growths that follow the values best, by falling probability, or adjusted R^2."""
    if evidence.estimator == "adjusted_r2":
        return _by_adjusted_r2(evidence)[1 : MOST_RIVALS + 1]
    shown = _shown(evidence)
    others = [growth for growth in evidence.posterior.by_probability if growth != shown]
    return tuple(formula_of(evidence, growth) for growth in others[:MOST_RIVALS])


def _shown(evidence: Evidence) -> Growth:
    """Return the most probable growth that agrees with the answer, unless hardly anything does.

    Where the machine may explain by how much the claim is outgrown, the answer is fine though the growth is another one.
    """
    posterior, bound = evidence.posterior, evidence.bound
    order = posterior.by_probability
    if evidence.answer != "cannot tell" and not (evidence.leaks or evidence.jumps):
        is_fine = evidence.answer == "fine"
        agreeing = [growth for growth in order if (growth <= bound) == is_fine]
        if agreeing and posterior.probability_of(agreeing[0]) >= _NEGLIGIBLE:
            return agreeing[0]
    return order[0]


def _by_adjusted_r2(evidence: Evidence) -> tuple[Model, ...]:
    models = fit_series(evidence.series, evidence.space.ticks, evidence.expectation.growth, _FEWEST)
    weight_of = evidence.posterior.probability_of
    return tuple(replace(model, weight=weight_of(model.growth)) for model in models)
