"""Predictions of models at larger scales."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.pages.verdicts import Page
from scalkit.support.text import capital

_AHEAD = (16, 256)  # times the largest measured point
_LEVEL = 0.9  # of intervals
_MOST_EXPONENT = 30  # of a power of two that is written as a number


def prediction(page: Page) -> dict[str, Any] | None:
    """Return, for each metric, the values of all functions at larger scales."""
    if page.result.over_several:
        return {"tables": [_over_several(page.result.over_several)]}
    verdicts = page.result.along_one
    targets = default_targets(verdicts)
    metrics = dict.fromkeys(v.metric for v in verdicts)
    return {"tables": [_predicted(each, [v for v in verdicts if v.metric == each], targets) for each in metrics]}


def default_targets(verdicts: Sequence[Verdict]) -> tuple[float, ...]:
    """Return 16 and 256 times the largest measured point."""
    return tuple(k * _largest(verdicts) for k in _AHEAD)


def _largest(verdicts: Sequence[Verdict]) -> float:
    return max(float(np.max(v.series.x)) for v in verdicts)


def predicted(verdict: AnyVerdict, target: float) -> Markup:
    """Return the value of the model at a target and its interval, as markup; of an open question the interval alone."""
    low, high = (_shown(float(end), verdict.unit) for end in verdict.interval(target, _LEVEL))
    if verdict.answer == "cannot tell":
        return Markup('<span class="interval">cannot tell: {} to {}</span>').format(low, high)
    value = _shown(float(np.asarray(verdict.model(target))), verdict.unit)
    return Markup('{} <span class="interval">{} to {}</span>').format(value, low, high)


def _times(verdict: Verdict, target: float) -> str:
    """Return how many times more than expected the model grows from the largest measured point to a target."""
    ends = np.asarray([_largest([verdict]), target], dtype=float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.asarray(verdict.divergence.log2_value(ends), dtype=float) * np.ones(2)
    step = float(logs[1] - logs[0])
    if not math.isfinite(step):
        return "–"
    return Markup(f"2<sup>{step:.0f}</sup>".replace("-", "−")) if abs(step) > _MOST_EXPONENT else _number(2**step)


def _number(value: float) -> str:
    """Return a number with three digits, without an exponent where it is large."""
    short = float(f"{value:.3g}")
    return f"{short:,.0f}" if short >= 100 else f"{short:g}"


def _shown(value: float, unit: str) -> str:
    return quantity(value, unit) if math.isfinite(value) else "beyond every number"


def _predicted(metric: str, verdicts: Sequence[Verdict], targets: Sequence[float]) -> dict[str, Any]:
    parameter, last, largest = verdicts[0].parameter, targets[-1], _largest(verdicts)
    head = ("function", f"model at {parameter} = {largest:g}", *(f"at {parameter} = {t:g}" for t in targets), "times expected")
    rows = [
        (
            v.function,
            _shown(float(np.asarray(v.model(largest))), v.unit),
            *(predicted(v, target) for target in targets),
            "–" if v.answer == "cannot tell" else _times(v, last),
        )
        for v in verdicts
    ]
    caption = (
        f"{capital(METRIC_WORDS.get(metric, metric))}: value of the model and, smaller, its {100 * _LEVEL:g} % interval, which "
        f"also counts the runners-up; then how many times more than expected it grows from {parameter} = {largest:g} to "
        f"{last:g}. That is {_number(last / largest)} times the largest measured {parameter}: all this holds if nothing new "
        "begins on the way."
    )
    return {"caption": caption, "head": head, "rows": rows}


def _over_several(verdicts: Sequence[SeveralVerdict]) -> dict[str, Any]:
    """Return the values of functions of several parameters: the first at the targets, the others at their largest."""
    first, *others = verdicts[0].parameters
    targets = [k * max(float(np.max(v.series.points[:, 0])) for v in verdicts) for k in _AHEAD]
    rows = [
        (
            v.function,
            _shown(_at(v, float(np.max(v.series.points[:, 0]))), v.unit),
            *("cannot tell" if v.answer == "cannot tell" else _shown(_at(v, x), v.unit) for x in targets),
        )
        for v in verdicts
    ]
    caption = f"Values of the models. {' and '.join(others)} at its largest measured value; they hold if nothing new begins."
    return {"caption": caption, "head": ("function", f"largest {first}", *(f"{first} = {t:g}" for t in targets)), "rows": rows}


def _at(verdict: SeveralVerdict, first: float) -> float:
    point = np.asarray(verdict.series.points, dtype=float).max(axis=0)
    point[0] = first
    return float(np.asarray(verdict.model(point[None, :])).ravel()[0])
