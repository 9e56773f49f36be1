"""What a verdict says in sentences: what was found, what is wrong and what that costs, and what may hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.answer import FINE, SURE, claim_ahead, in_decimals
from scalkit.support.text import percent
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    from scalkit.judge.fit import Model
    from scalkit.judge.verdict import Verdict

_LONG = 1e3  # from here on seconds have no prefix
_LONG_UNITS = (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0))
_PROCESSES = 10_000.0
"""A large machine; what a process keeps is said for as many processes, unless more were measured."""


def problem_of(verdict: Verdict) -> str:
    """Return what a function costs, and what it would cost if it grew as claimed. `verdict`: with the answer to fix it."""
    if verdict.evidence.against is not None:
        return verdict.evidence.against.problem
    series, model = verdict.series, verdict.model
    if verdict.evidence.leaks and verdict.too_fast < SURE and series.lost is not None:
        lost, name = float(series.lost[-1]), verdict.parameter
        where = f"{name} = {series.x[-1]:g}, the more the larger {name}"
        return f"{verdict.function} does not give back {_shown(lost, 'B')} at {where}"
    if verdict.evidence.jumps:
        last, value = float(series.x[-1]), float(series.y[-1])
        suggested = float(model.by_formula(np.array(last)))  # 0 where the smaller ones fall to nothing
        above = f"{value / suggested:.3g} times" if suggested else "far above"
        n_launches = int(np.isfinite(series.values[-1]).sum())
        return (
            f"{subject_of(verdict)} jumps to {_shown(value, verdict.unit)} at {verdict.parameter} = {last:g}, {above} "
            f"what the smaller ones suggest, in all of {n_launches} launches"
        )
    ahead = _ahead(verdict)
    found = float(np.asarray(model(ahead)))
    if not math.isfinite(found):
        return f"{subject_of(verdict)} grows as {in_decimals(model.growth)} instead of {verdict.expectation.growth}"
    if verdict.unit == "B" and model.growth == Growth.of("p", power=1) and verdict.expectation.growth.is_constant:
        return _kept(verdict, model, ahead)
    claimed = claim_ahead(series.y, verdict.expectation.growth, series.x, ahead)
    return (
        f"{subject_of(verdict)} grows as {in_decimals(model.growth)} instead of {verdict.expectation.growth}: "
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
    if unit == "s" and value >= _LONG:
        name, size = next((one for one in _LONG_UNITS if value >= 2 * one[1]), ("s", 1.0))
        return f"{value / size:.3g} {name}" if value < 1e3 * size else f"{value / size:,.0f} {name}"
    return f"{value / 1e3:.3g} kB" if unit == "B" and 1e4 <= value < 1e5 else format_quantity(value, unit)


def sentence_of(verdict: Verdict) -> str:
    """Return a verdict in plain words: what it grows as, and what is excluded or missing."""
    if verdict.evidence.against is not None:
        return verdict.evidence.against.sentence
    if verdict.answer == "fix":
        return f"{_fix(verdict)}."
    if verdict.answer == "fine":
        return f"{_growth(verdict)}; anything faster than {in_decimals(verdict.resolution)} is excluded."
    return f"{_doubt(verdict)}."


def subject_of(verdict: Verdict) -> str:
    """Return the subject of a sentence: the function, or the product of its parameter and metric."""
    is_product = verdict.metric.startswith(f"{verdict.parameter}*")
    return f"{verdict.metric} of {verdict.function}" if is_product else verdict.function


def too_fast_in_words(verdict: Verdict) -> str:
    """Return the words for too fast: faster than claimed, or than tolerated."""
    return "faster than claimed" if verdict.evidence.tolerance.is_constant else "faster than tolerated"


def _fix(verdict: Verdict) -> str:
    if verdict.evidence.leaks or verdict.evidence.jumps:
        return verdict.problem
    name, found, claim = subject_of(verdict), verdict.model.growth, verdict.expectation.growth
    sure = f"it grows faster than claimed with a probability of {percent(verdict.too_fast)}"
    return f"{name} grows as {in_decimals(found)} instead of {claim}; {sure}"


def _growth(verdict: Verdict) -> str:
    """Return the growth of a function that does not grow too fast, in words."""
    name, found, claim = subject_of(verdict), verdict.model.growth, verdict.expectation.growth
    if found < Growth() <= claim:
        return f"{name} falls as {in_decimals(found)} where {claim} is claimed, which is fine"
    if found.is_constant and verdict.model.lower is not None:
        return f"{name} falls slowly where {claim} is claimed, which is fine"
    if found == claim:
        return f"{name} stays constant, as claimed" if claim.is_constant else f"{name} grows as claimed, {claim}"
    slower = 1 - verdict.posterior.as_fast_as(claim)
    if found < claim and slower >= SURE:
        words = f"{name} grows slower than claimed, {in_decimals(found)} instead of {claim}"
        return f"{words}, which is fine, and the claim could be sharper"
    if found > verdict.evidence.bound:
        cause = "the machine" if verdict.evidence.tolerance.is_constant else "the tolerance and the machine"
        by = f"by a factor of {verdict.evidence.excess:.2g} only over the measured range, which {cause} may explain"
        return f"{name} grows as {in_decimals(found)} instead of {claim}, but {by}"
    if found > claim:
        return f"{name} grows as {in_decimals(found)} instead of {claim}, which is tolerated"
    return f"{name} does not grow faster than claimed, {claim}: {in_decimals(found)} is most probable"


def _doubt(verdict: Verdict) -> str:
    """Return why nobody can tell."""
    name, claim, parameter = subject_of(verdict), verdict.expectation.growth, verdict.parameter
    likely = f"it grows {too_fast_in_words(verdict)}, {verdict.evidence.bound}, with a probability of {percent(verdict.too_fast)}"
    if not verdict.decides:
        return f"{name}: {likely}, but these values decide nothing"
    last = f"{parameter} = {verdict.series.x[-1]:g}"
    if verdict.evidence.hangs_on_last:
        return f"{name}: the answer hangs on the value at {last} alone; measure it again, and a larger {parameter}"
    if verdict.too_fast >= SURE:
        return (
            f"{name} outgrows the claim {claim} by a factor of {verdict.evidence.excess:.2g} over the "
            f"measured range, and the machine may explain {verdict.evidence.machine_factor:g}; measure a larger {parameter}"
        )
    if verdict.too_fast <= FINE:
        return (
            f"{_growth(verdict)}, but only what is faster than {in_decimals(verdict.resolution)} is excluded; measure a larger "
            f"{parameter}, or more repetitions"
        )
    return f"{name}: {likely}; measure a larger {parameter}, or more repetitions"
