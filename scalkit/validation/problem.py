"""What is wrong with a function, in a sentence for a person who decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.units import format_quantity
from scalkit.validation.answer import claim_ahead, in_decimals
from scalkit.validation.posterior import SURE

if TYPE_CHECKING:
    from scalkit.fit import Model
    from scalkit.validation.verdict import Verdict

__all__ = ["problem_of"]

_PROCESSES = 10_000.0
"""A large machine; what a process keeps is said for as many processes, unless more were measured."""


def problem_of(verdict: Verdict) -> str:
    """Return what a function costs, and what it would cost if it grew as claimed.

    Parameters
    ----------
    verdict : Verdict
        With the answer to fix it.
    """
    if verdict.against is not None:
        return verdict.against.problem
    series, model = verdict.series, verdict.suspected or verdict.model
    if verdict.leaks and verdict.too_fast < SURE and series.lost is not None:
        lost, name = float(series.lost[-1]), verdict.parameter
        where = f"{name} = {series.x[-1]:g}, the more the larger {name}"
        return f"{verdict.function} does not give back {_shown(lost, 'B')} at {where}"
    ahead = _ahead(verdict)
    found = float(np.asarray(model(ahead)))
    if not math.isfinite(found):
        return f"{verdict.function} grows as {in_decimals(model.growth)} instead of {verdict.expectation.growth}"
    if verdict.unit == "B" and model.growth == Growth.of("p", power=1) and verdict.expectation.growth.is_constant:
        return _kept(verdict, model, ahead)
    claimed = claim_ahead(series.y, verdict.expectation.growth, series.x, ahead)
    return (
        f"{verdict.function} grows as {in_decimals(model.growth)} instead of {verdict.expectation.growth}: "
        f"{_shown(found, verdict.unit)} at {verdict.parameter} = {ahead:,.0f}, where the claim allows "
        f"{_shown(claimed, verdict.unit)}"
    )


def _kept(verdict: Verdict, model: Model, ahead: float) -> str:
    each, all_of_them = model.coefficient, model.coefficient * ahead
    return f"{verdict.function} keeps {_shown(each, 'B')} for every process, {_shown(all_of_them, 'B')} at {ahead:,.0f}"


def _ahead(verdict: Verdict) -> float:
    """Return a round setting beyond the measured ones; twice the largest one where the growth is exponential."""
    largest = float(verdict.series.x[-1])
    if verdict.model.growth.exponential(verdict.parameter):
        return 2 * largest
    rounded = 10.0 ** math.ceil(math.log10(10 * largest) - 1e-9)
    return max(rounded, _PROCESSES) if verdict.parameter == "p" else rounded


def _shown(value: float, unit: str) -> str:
    return f"{value / 1e3:.3g} kB" if unit == "B" and 1e4 <= value < 1e5 else format_quantity(value, unit)
