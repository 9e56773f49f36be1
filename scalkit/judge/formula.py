"""The formula of a growth: its averaged coefficients, as a model that can be shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.asked import Checked
from scalkit.judge.fit import Model, fit_series
from scalkit.judge.fit.made_models import MadeModels, nearest_whole

if TYPE_CHECKING:
    from scalkit.judge.evidence import Evidence

_LEAST_CONSTANT, _LEAST_CONSTANT_EXACT = 1e-4, 1e-6
"""A constant below this share of the smallest value, or below the step of the values, is no cost: errors hide it."""

_NEGLIGIBLE = 0.01
"""A growth below this probability is not shown for the answer's sake."""

_FEWEST = 3
"""Points that the paper's choice needs; that there are enough was said before."""


def formula_of(evidence: Evidence, growth: Growth) -> Model:
    """Return the model of a growth with the averaged coefficients that it has in the posterior."""
    posterior, series = evidence.posterior, evidence.series
    formula = posterior.formula(growth)
    last = float(series.x[-1])
    size, lower = float(growth.log2_value(last)), formula.lower
    log2 = math.log2(formula.leading_share) - size if formula.leading_share > 0 else -math.inf
    is_exact = series.exact or series.virtual
    share = _LEAST_CONSTANT_EXACT if is_exact else _LEAST_CONSTANT
    least = max(share * float(series.y.min()), series.resolution)
    constant = formula.constant if abs(formula.constant) >= least or growth.is_constant else 0.0
    model = Model(
        constant=_rounded(constant, is_exact=is_exact),
        coefficient=_rounded(2.0**log2, is_exact=is_exact) if -1000 < log2 < 1000 else 0.0,
        growth=growth,
        parameter=series.parameter,
        unit=series.unit,
        adjusted_r2=math.nan,
        rss=math.nan,
        log2_coefficient=log2,
        weight=posterior.probability_of(growth),
        lower=lower,
        lower_coefficient=0.0 if lower is None else _rounded(formula.lower_share / float(lower(last)), is_exact=is_exact),
    )
    # A point that is off says nothing about the formula.
    others = np.arange(len(series.y)) != (-1 if evidence.off_at is None else evidence.off_at)
    x, y, scale = series.x[others], series.y[others], posterior.scale[others]
    residual = (model.by_formula(x) - y) / scale
    spread = (y - np.average(y, weights=scale**-2)) / scale
    n, rss, total = len(y), float(residual @ residual), float(spread @ spread)
    terms = 1 + (not growth.is_constant) + (lower is not None)
    is_there = not growth.is_constant and total > 0 and n > terms
    r2 = 1 - rss / (n - terms) / (total / (n - 1)) if is_there else math.nan
    return replace(model, adjusted_r2=r2, rss=rss)


def models_of(evidence: Evidence) -> Sequence[Model]:
    """Return the models of all growths that follow the values.

    The first one is shown: the most probable one that agrees with the answer, unless hardly anything
    does. Where the machine may explain by how much the claim is outgrown, the answer is fine though
    the growth is another one. The others come by falling probability. With the strictness
    ``"paper"`` all are ordered by adjusted R^2.
    """
    if evidence.estimator == "adjusted_r2":
        return _by_adjusted_r2(evidence)
    posterior, bound = evidence.posterior, evidence.bound
    order: Sequence[Growth] = posterior.by_probability
    if evidence.answer != "cannot tell" and not (evidence.leaks or evidence.jumps):
        is_fine = evidence.answer == "fine"
        agreeing = [g for g in order if (g <= bound) == is_fine]
        if agreeing and posterior.probability_of(agreeing[0]) >= _NEGLIGIBLE:
            order = [agreeing[0], *(g for g in order if g != agreeing[0])]
    average = Checked(posterior, evidence.series, evidence.competing)
    first = replace(formula_of(evidence, order[0]), average=average)
    return MadeModels(partial(formula_of, evidence), order, {order[0]: first})


def _by_adjusted_r2(evidence: Evidence) -> Sequence[Model]:
    models = fit_series(evidence.series, evidence.space.ticks, evidence.expectation.growth, _FEWEST)
    weight_of = evidence.posterior.probability_of
    return tuple(replace(model, weight=weight_of(model.growth)) for model in models)


def _rounded(value: float, *, is_exact: bool) -> float:
    """Return a coefficient without the last digits, which are noise of the arithmetic."""
    whole = nearest_whole(value) if is_exact else None
    return float(f"{value:.12g}") if whole is None else whole
