"""Predictions of models at larger scales, and performance models of messages and collective operations."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.perfmodels import PointToPoint, collectives_of
from scalkit.perfmodels.collectives.study import Studied
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.plots.plot import plot
from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.pages.models import ModelsPage
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import Drawable
from scalkit.support.text import capital

_MOST_ALGORITHMS = 4  # drawn in one figure
_AHEAD = (16, 256)  # times the largest measured point
_LEVEL = 0.9  # of intervals
_MOST_EXPONENT = 30  # of a power of two that is written as a number


def message(page: ModelsPage) -> dict[str, Any]:
    """Return formula, protocols and picture of the model of a message."""
    model = page.message
    largest = max([float(x) for x in np.atleast_1d(page.data["S"])] if "S" in page.data.coords else [65536.0])
    rows = [
        (
            one.sizes.text("S") or "all sizes",
            format_value(one.latency_s, "s"),
            format_value(one.per_byte_s, "s/B"),
            format_value(1 / one.per_byte_s, "B/s") if one.per_byte_s > 0 else "–",
        )
        for one in model.protocols()
    ]
    shown: dict[str, PerformanceModel | None] = {
        "message": model.time,
        "gap between two messages": model.gap,
        "exchange of two messages": model.exchange,
    }
    known = {name: one for name, one in shown.items() if one is not None}
    return {"model": model, "rows": rows, "figure": plots.model(known, between=(1, max(largest, 2.0)))}


def operations(page: ModelsPage) -> dict[str, Any]:
    """Return a card for each collective operation."""
    cards = [
        {"one": one, "figures": list(_figures(one, page.message)), "rows": one.identified.rows() if one.identified else []}
        for one in page.studied
    ]
    return {"cards": cards}


def _figures(one: Studied, model: PointToPoint) -> Iterator[tuple[Drawable, str]]:
    if one.identified is not None:
        at = "" if one.cells.operation == "barrier" else f" with {one.cells.processes[-1]:g} processes"
        yield (
            plot(one.identified),
            "The most probable algorithm of each cell, paler if less sure; a white dot: another is predicted to be faster.",
        )
        yield (_models_under(one, model), f"Models of the most probable algorithms{at}.")
    if one.lore is not None:
        yield plot(one.lore), "The forms of the folklore, fitted to all sizes at once."


def _models_under(one: Studied, model: PointToPoint) -> Drawable:
    """Return the algorithms of the cells with the largest number of processes under the times there."""
    assert one.identified is not None
    most = float(one.cells.processes[-1])
    seen = [cell.algorithms[0] for cell in one.identified.cells if most == cell.P and cell.algorithms[0] != "other"]
    names = list(dict.fromkeys(seen))[:_MOST_ALGORITHMS]
    every = collectives_of(one.cells.operation, model)
    where: dict[str, Any] = {"along": "P"} if one.cells.operation == "barrier" else {"at": {"P": most}}
    figure: Drawable = plots.model({key: every[key] for key in names or every}, one.cells, **where)
    return figure


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
