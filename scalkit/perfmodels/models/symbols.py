"""Expressions of several models together, with the constants of all of them under names of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scalkit.perfmodels.formulas.text import positive

if TYPE_CHECKING:
    from scalkit.perfmodels.models.model import PerformanceModel

Legend = Mapping[str, tuple[float, str]]
"""Value in base units, and unit, of each constant."""


def merged(models: Sequence[PerformanceModel]) -> tuple[list[Any], dict[str, tuple[float, str]]]:
    """Return the expressions of models, and the constants of all, renamed as in ``alpha_2`` where they would clash."""
    expressions: list[Any] = []
    legend: dict[str, tuple[float, str]] = {}
    parameters = {name for model in models for name in model.parameters}
    for model in models:
        expression, own = model.symbolic()
        renames = {}
        for name, quantity in own.items():
            free = _free_name(name, quantity, legend, parameters)
            legend[free] = quantity
            if free != name:
                renames[positive(name)] = positive(free)
        expressions.append(expression.subs(renames, simultaneous=True) if renames else expression)
    return expressions, legend


def over_bounds(models: Sequence[PerformanceModel], combine: Callable[[Sequence[Any]], Any]) -> tuple[Any, Legend]:
    """Return what `combine` makes of the expressions of models, of each bound by itself where one has two, and all constants."""
    import sympy

    found, legend = merged(models)
    if not any(isinstance(one, sympy.Tuple) for one in found):
        return combine(found), legend
    return sympy.Tuple(*map(combine, zip(*map(pair_of, found), strict=True))), legend


def _free_name(name: str, quantity: tuple[float, str], legend: Legend, parameters: set[str]) -> str:
    candidate, n = name, 1
    stem = re.sub(r"_[0-9]+$", "", name)
    while candidate in parameters or legend.get(candidate, quantity) != quantity:
        n += 1
        candidate = f"{stem}_{n}"
    return candidate


def pair_of(expression: Any) -> tuple[Any, Any]:
    """Return the two bounds of an expression, which are the same unless it is a pair."""
    import sympy

    return tuple(expression) if isinstance(expression, sympy.Tuple) else (expression, expression)
