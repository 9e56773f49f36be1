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
    from scalkit.judge.judged import AnyVerdict
    from scalkit.support.arrays import Floats

_LONG = 1e3  # from here on seconds have no prefix
_LONG_UNITS = (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0))
_PROCESSES = 10_000.0
"""A large machine; what a process keeps is said for as many processes, unless more were measured."""


_AHEAD = 4.0
"""A problem over several parameters is said for so many times the largest value of each."""


def problem_of(verdict: AnyVerdict) -> str:
    """Return what a function costs, and what it would cost if it grew as claimed. `verdict`: with the answer to fix it."""
    evidence = verdict.evidence
    if evidence.against is not None:
        return str(evidence.against.problem)
    growth = f"{subject_of(verdict)} grows as {in_decimals(verdict.model.growth)} instead of {evidence.expectation.growth}"
    if len(verdict.parameters) > 1:
        at = _AHEAD * evidence.series.points.max(axis=0)
        value = float(evidence.posterior.predict(at[None])[0])
        return f"{growth}: {format_quantity(value, verdict.unit)} at {place(verdict, at)}" if math.isfinite(value) else growth
    if evidence.leaks and verdict.too_fast < SURE:
        return _leak(verdict)
    return _jump(verdict) if evidence.jumps else _cost(verdict, growth)


def place(verdict: AnyVerdict, point: Floats) -> str:
    """Return a point of several parameters in words: ``p = 64, S = 1024``."""
    return ", ".join(f"{name} = {x:g}" for name, x in zip(verdict.parameters, point.tolist(), strict=True))


def _leak(verdict: AnyVerdict) -> str:
    series, (name,) = verdict.evidence.series, verdict.parameters
    where = f"{name} = {series.x[-1]:g}, the more the larger {name}"
    return f"{verdict.function} does not give back {_shown(float(series.lost[-1]), 'B')} at {where}"


def _jump(verdict: AnyVerdict) -> str:
    series, (name,) = verdict.evidence.series, verdict.parameters
    last, value = float(series.x[-1]), float(series.y[-1])
    suggested = float(verdict.evidence.model.by_formula(np.array(last)))  # 0 where the smaller ones fall to nothing
    above = f"{value / suggested:.3g} times" if suggested else "far above"
    n_launches = int(np.isfinite(series.values[-1]).sum())
    return (
        f"{subject_of(verdict)} jumps to {_shown(value, verdict.unit)} at {name} = {last:g}, {above} "
        f"what the smaller ones suggest, in all of {n_launches} launches"
    )


def _cost(verdict: AnyVerdict, growth: str) -> str:
    """Return the cost of a function at a large setting in words. `growth`: its growth in words."""
    series, model, claim = verdict.evidence.series, verdict.evidence.model, verdict.evidence.expectation.growth
    ahead = _ahead(verdict)
    found = float(np.asarray(model(ahead)))
    if not math.isfinite(found):
        return growth
    if verdict.unit == "B" and model.growth == Growth.of("p", power=1) and claim.is_constant:
        return _kept(verdict, model, ahead)
    claimed = _shown(claim_ahead(series.y, claim, series.x, ahead), verdict.unit)
    (name,) = verdict.parameters
    return f"{growth}: {_shown(found, verdict.unit)} at {name} = {ahead:,.0f}, where the claim allows {claimed}"


def _kept(verdict: AnyVerdict, model: Model, ahead: float) -> str:
    each, all_of_them = model.coefficient, model.coefficient * ahead
    return f"{verdict.function} keeps {_shown(each, 'B')} for every process, {_shown(all_of_them, 'B')} at {ahead:,.0f}"


def _ahead(verdict: AnyVerdict) -> float:
    """Return a round setting beyond the measured ones; twice the largest one where the growth is exponential."""
    (name,), largest = verdict.parameters, float(verdict.evidence.series.x[-1])
    if verdict.evidence.model.growth.exponential(name):
        return 2 * largest
    rounded = 10.0 ** math.ceil(math.log10(10 * largest) - 1e-9)
    return max(rounded, _PROCESSES) if name == "p" else rounded


def _shown(value: float, unit: str) -> str:
    if unit == "s" and value >= _LONG:
        name, size = next((one for one in _LONG_UNITS if value >= 2 * one[1]), ("s", 1.0))
        return f"{value / size:.3g} {name}" if value < 1e3 * size else f"{value / size:,.0f} {name}"
    return f"{value / 1e3:.3g} kB" if unit == "B" and 1e4 <= value < 1e5 else format_quantity(value, unit)


def sentence_of(verdict: AnyVerdict, *, in_short: bool = False) -> str:
    """Return a verdict in plain words: the growth, and excluded growths or missing data.

    `in_short`: without the excluded growths.
    """
    if verdict.evidence.against is not None:
        return str(verdict.evidence.against.sentence)
    if verdict.answer == "fix":
        return f"{_fix(verdict)}."
    if verdict.answer == "fine":
        return f"{_growth(verdict)}." if in_short else f"{_growth(verdict)}; anything {excluded_by(verdict)} is excluded."
    return f"{_doubt(verdict)}."


def subject_of(verdict: AnyVerdict) -> str:
    """Return the subject of a sentence: the function, or the product of its parameter and metric."""
    is_product = verdict.metric.startswith(f"{verdict.parameters[0]}*")
    return f"{verdict.metric} of {verdict.function}" if is_product else verdict.function


def is_strict(verdict: AnyVerdict) -> bool:
    """Return whether growing faster than claimed is not tolerated."""
    return all(growth.is_constant for growth in verdict.evidence.tolerances.values())


def excluded_by(verdict: AnyVerdict) -> str:
    """Return the excluded growths in words: along the only parameter, or along each of several."""
    found = verdict.evidence.resolution
    if isinstance(found, Growth):
        return f"faster than {in_decimals(found)}"
    return " or ".join(f"faster than {in_decimals(growth)} along {name}" for name, growth in found.items())


def _fix(verdict: AnyVerdict) -> str:
    if verdict.evidence.leaks or verdict.evidence.jumps:
        return verdict.problem
    name, found, claim = subject_of(verdict), verdict.model.growth, verdict.evidence.expectation.growth
    sure = f"it grows faster than claimed with a probability of {percent(verdict.too_fast)}"
    return f"{name} grows as {in_decimals(found)} instead of {claim}; {sure}"


def _growth(verdict: AnyVerdict) -> str:
    """Return the growth of a function that does not grow too fast, in words."""
    evidence = verdict.evidence
    name, claim = subject_of(verdict), evidence.expectation.growth
    model, found = evidence.model, in_decimals(evidence.model.growth)
    is_one = len(verdict.parameters) == 1
    if is_one and model.growth < Growth() <= claim:
        return f"{name} falls as {found} where {claim} is claimed, which is fine"
    if is_one and model.growth.is_constant and len(model.terms) > 1:
        return f"{name} falls slowly where {claim} is claimed, which is fine"
    if model.growth == claim:
        return f"{name} stays constant, as claimed" if str(claim) == "1" else f"{name} grows as claimed, {claim}"
    if is_one and model.growth < claim and 1 - evidence.posterior.as_fast_as(claim) >= SURE:
        words = f"{name} grows slower than claimed, {found} instead of {claim}"
        return f"{words}, which is fine, and the claim could be sharper"
    instead = f"{name} grows as {found} instead of {claim}"
    if model.growth > evidence.bound if is_one else is_strict(verdict) and _is_faster(verdict):
        cause = "the machine" if is_strict(verdict) else "the tolerance and the machine"
        over = "range" if is_one else "points"
        return f"{instead}, but by a factor of {evidence.excess:.2g} only over the measured {over}, which {cause} may explain"
    if _is_faster(verdict):
        return f"{instead}, which is tolerated"
    return f"{name} does not grow faster than claimed, {claim}: {found} is most probable"


def _is_faster(verdict: AnyVerdict) -> bool:
    """Return whether the model grows faster than claimed, where the values do not."""
    growth, expectation = verdict.model.growth, verdict.evidence.expectation
    return expectation.direction(growth) == "grows faster" and (len(verdict.parameters) == 1 or verdict.too_fast <= FINE)


def _doubt(verdict: AnyVerdict) -> str:
    """Return why nobody can tell."""
    evidence, is_one = verdict.evidence, len(verdict.parameters) == 1
    name, claim = subject_of(verdict), evidence.expectation.growth
    faster = "faster than claimed" if is_strict(verdict) or not is_one else "faster than tolerated"
    likely = f"it grows {faster}, {evidence.bound if is_one else claim}, with a probability of {percent(verdict.too_fast)}"
    if not verdict.decides:
        return f"{name}: {likely}, but these values decide nothing"
    over, larger = ("range", f"a larger {verdict.parameters[0]}") if is_one else ("points", "larger points")
    if evidence.hangs_on_last:
        at, others = (place(verdict, evidence.hanging_point), larger if is_one else "larger ones")
        return f"{name}: the answer hangs on the value at {at} alone; measure it again, and {others}"
    if verdict.too_fast >= SURE:
        return (
            f"{name} outgrows the claim {claim} by a factor of {evidence.excess:.2g} over the measured {over}, and the machine "
            f"may explain {evidence.machine_factor:g}; measure {larger if is_one else 'larger ones'}"
        )
    if verdict.too_fast <= FINE:
        return f"{_growth(verdict)}, but only what is {excluded_by(verdict)} is excluded; measure {larger}, or more repetitions"
    return f"{name}: {likely}; measure {larger}, or more repetitions"
