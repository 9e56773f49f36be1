"""The models of a verdict over several parameters, with the averaged coefficients of the posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from scalkit.fit.regression.several.posterior import Sum
from scalkit.fit.several.model import SeveralModel, Term
from scalkit.growth import Growth

if TYPE_CHECKING:
    from scalkit.validation.several.verdict import SeveralVerdict

_LEAST, _LEAST_EXACT = 1e-4, 1e-6
"""A term below this share of the value wherever it was measured, or below the step of the values, is no cost: errors
hide it."""

_NEARLY = 1e-5
"""Relative distance from a whole number that is below what the prior of the shares moves exact coefficients by."""

_NEGLIGIBLE = 0.01
"""A sum below this probability is not shown for the answer's sake."""


def models_of(verdict: SeveralVerdict) -> Sequence[SeveralModel]:
    """Return the models of all sums that are not negligible.

    The first one is shown: one that agrees with the answer, unless hardly anything does. Its values
    are those of the posterior's average. The others come by falling probability.
    """
    posterior = verdict.posterior
    order, shares = list(posterior.order), posterior.shares
    first = order[0]
    if verdict.answer != "cannot tell":
        agrees = posterior.of_sets(posterior.outgrows(verdict.bounds)) == (verdict.answer == "fix")
        agreeing = next((place for place in order if agrees[place]), first)
        if shares[agreeing] >= _NEGLIGIBLE * shares[first]:
            first = agreeing
    others = sorted((place for place in order if place != first), key=lambda place: -shares[place])
    return _Models(verdict, [first, *others])


class _Models(Sequence[SeveralModel]):
    """Models, each made when it is looked at first: few of dozens are shown.

    `made`: those that are there already, which slices share.
    """

    def __init__(self, verdict: SeveralVerdict, places: Sequence[int], made: dict[int, SeveralModel] | None = None) -> None:
        self._verdict, self._places = verdict, places
        self._made = {} if made is None else made
        if made is None:
            self._made[places[0]] = _model(verdict, verdict.posterior.sum_at(places[0]), is_shown=True)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> SeveralModel: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SeveralModel]: ...
    def __getitem__(self, index: int | slice) -> SeveralModel | Sequence[SeveralModel]:
        if isinstance(index, slice):
            return _Models(self._verdict, self._places[index], self._made)
        place = self._places[index]
        if place not in self._made:
            self._made[place] = _model(self._verdict, self._verdict.posterior.sum_at(place), is_shown=False)
        return self._made[place]


def _model(verdict: SeveralVerdict, one: Sum, *, is_shown: bool) -> SeveralModel:
    series = verdict.series
    is_exact = series.exact or series.virtual
    points = verdict.posterior.design.points
    at = {name: points[:, column] for column, name in enumerate(series.parameters)}
    constant = Term(Growth.constant(), math.log2(abs(one.constant)) if one.constant else -math.inf, one.constant < 0)
    every = [constant, *(Term(growth, log2, sign < 0) for growth, sign, log2 in one.terms)]
    scale = verdict.posterior.scale
    least = np.maximum((_LEAST_EXACT if is_exact else _LEAST) * scale, series.resolution)
    kept = [term for term in every if (np.abs(term(at)) >= least).any()] or every[:1]
    model = SeveralModel(
        parameters=series.parameters,
        terms=tuple(_rounded(term) if is_exact else term for term in kept),
        unit=series.unit,
        rss=math.nan,
        weight=one.weight,
    )
    off = (model.by_formula(at) - verdict.posterior.y) / scale
    average = verdict.posterior if is_shown else None
    return SeveralModel(model.parameters, model.terms, model.unit, float(off @ off), one.weight, average)


def _rounded(term: Term) -> Term:
    """Return a term of exact values with a whole coefficient where it is as near as the prior of the shares lets it be."""
    size = abs(term.coefficient)
    whole = float(round(size)) if math.isfinite(size) else 0.0
    if whole and abs(size - whole) <= _NEARLY * size:
        return Term(term.growth, math.log2(whole), term.is_subtracted)
    return term
