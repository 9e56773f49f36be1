"""What the models say of larger scales, with intervals, and how much of it was not expected."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.markup import anchor, badge, name, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import AnyVerdict, Verdict
from scalkit.validation.several.verdict import SeveralVerdict

_AHEAD = (16, 256)
_LEVEL = 0.9


def prediction(page: Page) -> Section:
    """Return, for each metric, the values of all functions at the targets of the page."""
    if not page.result.verdicts:
        return Section.of()
    if several := page.result.over_several:
        return _over_several(page, several)
    verdicts = page.result.along_one
    targets = page.targets or default_targets(verdicts)
    metrics = dict.fromkeys(v.metric for v in verdicts)
    return Section.sheet(*(_table(each, [v for v in verdicts if v.metric == each], targets) for each in metrics))


def default_targets(verdicts: Sequence[Verdict]) -> tuple[float, ...]:
    """Return 16 and 256 times the largest measured setting."""
    largest = max(float(np.max(v.series.x)) for v in verdicts)
    return tuple(k * largest for k in _AHEAD)


def predicted(verdict: AnyVerdict, target: float) -> Markup:
    """Return the value of the model at a target and its interval, as markup."""
    value = float(np.asarray(verdict.model(target)))
    low, high = (float(end) for end in verdict.interval(target, _LEVEL))
    shown = f"{_shown(low, verdict.unit)} to {_shown(high, verdict.unit)}"
    if not verdict.is_decided:
        return Markup('<span class="interval">not decided: {}</span>').format(shown)
    return Markup('{} <span class="interval">{}</span>').format(_shown(value, verdict.unit), shown)


def times(verdict: Verdict, target: float) -> str:
    """Return how many times more than expected the model grows from the largest measured setting to a target."""
    ends = np.asarray([float(np.max(verdict.series.x)), target], dtype=float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.asarray(verdict.divergence.log2_value(ends), dtype=float) * np.ones(2)
    step = float(logs[1] - logs[0])
    if not math.isfinite(step):
        return "–"
    if abs(step) > 30:
        return Markup(f"2<sup>{step:.0f}</sup>".replace("-", "−"))
    return _number(2**step)


def _number(value: float) -> str:
    """Return a number with three digits, without an exponent where it is large."""
    short = float(f"{value:.3g}")
    return f"{short:,.0f}" if short >= 100 else f"{short:g}"


def _shown(value: float, unit: str) -> str:
    return quantity(value, unit) if math.isfinite(value) else "beyond every number"


def _table(metric: str, verdicts: Sequence[Verdict], targets: Sequence[float]) -> Markup:
    parameter, last = verdicts[0].parameter, targets[-1]
    largest = max(float(np.max(v.series.x)) for v in verdicts)
    head = (
        "function",
        f"model at {parameter} = {largest:g}",
        *(f"at {parameter} = {t:g}" for t in targets),
        "times expected",
        "match",
    )
    rows = [
        (
            Markup('<a href="#{}">{}</a>').format(anchor(v), name(v.function)),
            _shown(float(np.asarray(v.model(largest))), v.unit),
            *(predicted(v, target) for target in targets),
            times(v, last),
            badge(v),
        )
        for v in verdicts
    ]
    word = METRIC_WORDS.get(metric, metric)
    caption = (
        f"{word[0].upper()}{word[1:]}: value of the model and, smaller, its {100 * _LEVEL:g} % interval, which also counts the "
        f"runners-up; then how many times more than expected it grows from {parameter} = {largest:g} to {last:g}. That is "
        f"{_number(last / largest)} times the largest measured {parameter}: all this holds if nothing new begins on the way."
    )
    return table(caption, head, rows, numeric=range(1, len(head) - 1))


def _over_several(page: Page, verdicts: Sequence[SeveralVerdict]) -> Section:
    """Return the values of functions of several parameters: the first at the targets, the others at their largest."""
    first = verdicts[0].parameters[0]
    largest = max(float(np.max(v.series.points[:, 0])) for v in verdicts)
    targets = page.targets or tuple(k * largest for k in _AHEAD)
    rows = [
        (name(v.function), *(_shown(_at(v, x), v.unit) for x in (float(np.max(v.series.points[:, 0])), *targets)))
        for v in verdicts
    ]
    others = " and ".join(verdicts[0].parameters[1:])
    caption = (
        f"Values of the models. {others} stays at its largest measured value; the numbers hold if nothing new begins."
    )
    head = ("function", f"largest {first}", *(f"{first} = {t:g}" for t in targets))
    return Section.sheet(table(caption, head, rows, numeric=range(1, len(head))))


def _at(verdict: SeveralVerdict, first: float) -> float:
    point = np.asarray(verdict.series.points, dtype=float).max(axis=0)
    point[0] = first
    return float(np.asarray(verdict.model(point[None, :])).ravel()[0])
