"""What a verdict says in sentences: what was found, what is wrong and what that costs, and what may hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from scalkit.growth import Growth
from scalkit.json_values import json_value
from scalkit.text import percent
from scalkit.units import format_quantity
from scalkit.validation.answer import claim_ahead, in_decimals
from scalkit.validation.crossing import place_of, shown_scale
from scalkit.validation.judged import SLOW_ENOUGH
from scalkit.validation.posterior import SURE, VerdictWord

if TYPE_CHECKING:
    from scalkit.fit import Model
    from scalkit.validation.verdict import Verdict

MATCH_WORDS: dict[VerdictWord, str] = {word: "no match" if word == "none" else word for word in get_args(VerdictWord)}
"""What people read; "none" alone reads as if there was no verdict."""

_LONG = 1e3  # from here on seconds have no prefix
_LONG_UNITS = (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0))
_PROCESSES = 10_000.0
"""A large machine; what a process keeps is said for as many processes, unless more were measured."""


def problem_of(verdict: Verdict) -> str:
    """Return what a function costs, and what it would cost if it grew as claimed. `verdict`: with the answer to fix it."""
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
    if unit == "s" and value >= _LONG:
        name, size = next((one for one in _LONG_UNITS if value >= 2 * one[1]), ("s", 1.0))
        return f"{value / size:.3g} {name}" if value < 1e3 * size else f"{value / size:,.0f} {name}"
    return f"{value / 1e3:.3g} kB" if unit == "B" and 1e4 <= value < 1e5 else format_quantity(value, unit)


def sentence_of(verdict: Verdict) -> str:
    """Return a verdict in plain words, with direction and crossing point, and what keeps it from an answer."""
    said = _growth_of(verdict)
    if verdict.against is not None or verdict.answer != "cannot tell" or not verdict.decides:
        return said
    if verdict.misses:
        return f"{said.removesuffix('.')}, but no term follows the values closely."
    if verdict.verdict == "approximate" and verdict.too_fast < SURE:
        doubt = f"that it grows faster than claimed has a probability of {percent(verdict.too_fast)}"
        return f"{said.removesuffix('.')}; {doubt}."
    return said


def _growth_of(verdict: Verdict) -> str:
    name, found, expected = verdict.function, verdict.model.growth, verdict.expectation.growth
    if verdict.against is not None:
        return verdict.against.sentence
    if verdict.leaks and verdict.too_fast < SURE and verdict.problem:
        return f"{verdict.problem}."
    if verdict.too_fast >= SURE and not (verdict.misses and verdict.verdict == "none"):
        return _sentence_of_growth(verdict)
    if verdict.verdict == "undecided":
        shown = ", ".join(f"{MATCH_WORDS[rank]} {percent(p)}" for rank, p in verdict.probability.items())
        what = f"{name} {SLOW_ENOUGH}" if verdict.answer == "fine" else name
        return f"{what} is undecided: {found} {_is_best(verdict)}, {expected} is expected; probable are {shown}."
    if verdict.verdict != verdict.rank:
        return _sentence_of_both(verdict)
    if verdict.verdict == "total":
        return f"{name} grows as expected: {found}."
    words = f"{name} {verdict.direction} than expected: {found} instead of {expected}"
    if verdict.verdict == "approximate":
        return f"{words}, within the limits."
    slower = ", which is fine, and the claim could be sharper" if verdict.direction == "grows slower" else ""
    return f"{words}{slower}; {_where(verdict)}."


def likelihood_sentence_of(verdict: Verdict) -> str:
    """Return what the values alone make most probable, where that is another growth than the model's; else nothing."""
    found, posterior = verdict.by_likelihood, verdict.posterior
    if verdict.estimator != "posterior" or found == verdict.model.growth:
        return ""
    share = float(posterior.likelihood[posterior.competing.places[found]])
    return f"By the values alone, whatever is expected, {found} is most probable ({percent(share)})."


def hidden_sentence_of(verdict: Verdict) -> str:
    """Return what could still hide in the values; empty if nothing of that kind was tried."""
    growth = verdict.posterior.hidden_growth
    if growth is None or not math.isfinite(verdict.hidden) or verdict.verdict == "none":
        return ""
    largest = f"{verdict.parameter} = {verdict.series.x[-1]:g}"
    return f"A term {growth} may still hide below {percent(verdict.hidden)} of the value at {largest}."


def _is_best(verdict: Verdict) -> str:
    return "is most probable" if verdict.estimator == "posterior" else "fits best"


def _sentence_of_growth(verdict: Verdict) -> str:
    """Return the sentence where it grows faster than claimed and no limit of the paper says so, or hardly at all."""
    words = f"{verdict.function} grows faster than expected: {verdict.suspect} instead of {verdict.expectation.growth}"
    if verdict.misses:
        inside = " though within the limits of the paper" if verdict.verdict == "approximate" else ""
        return f"{words}, more than is tolerated{inside}; the probability of that is {percent(verdict.too_fast)}."
    if verdict.is_material:
        return f"{words} {_is_best(verdict)}, but the claim is within two steps of the clock of every value; time more calls."
    return (
        f"{words} {_is_best(verdict)}, but over the measured range that is a factor of {verdict.excess:.2g} only, which a "
        "machine that drifts may explain; measure larger settings."
    )


def _sentence_of_both(verdict: Verdict) -> str:
    """Return the sentence where the posterior says something else than the model."""
    found, p, expected = verdict.model.growth, verdict.probability, verdict.expectation.growth
    if verdict.verdict == "total":
        said = f"grows as expected with a probability of {percent(p['total'])}"
    elif verdict.verdict == "approximate":
        said = f"grows within the limits with a probability of {percent(p['total'] + p['approximate'])}"
    else:
        said = f"{verdict.direction} than the limits allow with a probability of {percent(p['none'])}"
    is_best = _is_best(verdict)
    best = f"the expected {found} {is_best}" if found == expected else f"{found} {is_best}, {expected} is expected"
    return f"{verdict.function} {said}; {best}."


def _where(verdict: Verdict) -> str:
    outside = "below" if verdict.direction == "grows slower" else "outside"
    if verdict.crossing <= 1:
        return f"the divergence {verdict.divergence} is {outside} the limits at every scale"
    if verdict.crossing < verdict.series.x[0]:
        return f"the divergence {verdict.divergence} is {outside} the limits over the whole measured range and beyond"
    place = place_of(verdict.crossing, float(verdict.series.x[-1]))
    scale = f"{verdict.parameter}* = {shown_scale(verdict.crossing)}"
    return f"the divergence {verdict.divergence} is {outside} the limits from {scale} on, {place}"


AHEAD = 4
"""Bands also tell of this multiple of the largest setting."""


def bands_of(verdict: Verdict, level: float = 0.9) -> dict[str, Any]:
    """Return bands at the measured settings and at four times the largest one.

    `level`: probability of what lies inside.
    Returns: ``level``; ``x``, the settings; ``divergence`` with the slowest and the fastest of its ``growths`` in the
    band and their values ``low`` and ``high``; ``prediction`` with ``low`` and ``high`` in the unit of the series. None
    stands for values that are not finite.
    """
    measured = verdict.series.x
    x = np.append(measured, AHEAD * measured[-1])
    slowest, fastest = verdict.posterior.divergence_band(level)
    low, high = verdict.interval(x, level)
    return {
        "level": level,
        "x": json_value(x),
        "divergence": {"growths": [str(slowest), str(fastest)], "low": json_value(slowest(x)), "high": json_value(fastest(x))},
        "prediction": {"low": json_value(low), "high": json_value(high)},
    }
