"""What performance models say: the model of a message, and for each operation algorithms, predictions, forms, folklore."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.perfmodels import PerformanceModel, PointToPoint, collectives_of
from scalkit.perfmodels.collectives.study import Studied, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.plot import plot
from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.page import Page
from scalkit.reports.pieces import Drawable, Section, anchor, badge, details, name, table
from scalkit.text import as_percent, percent
from scalkit.validation import AnyVerdict, Verdict
from scalkit.validation.several.verdict import SeveralVerdict

_MOST_ALGORITHMS = 4
_SPREAD = 0.25


def message_model(page: Page, message: str) -> Section:
    """Return formula, protocols and picture of the model of a message.

    `message`: see `scalkit.perfmodels.files.sources.message_of`.
    """
    model = _message(message)
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
    shown: dict[str, PerformanceModel] = {"message": model.time}
    if model.gap is not None:
        shown["gap between two messages"] = model.gap
    if model.exchange is not None:
        shown["exchange of two messages"] = model.exchange
    return Section.rendered(
        "message_model.html",
        said=f"{model.name}; {model.source}." if model.source else f"{model.name}.",
        protocols=table("Protocols", ("sizes", "latency", "time per byte", "bandwidth"), rows, (1, 2, 3)),
        drawn=plots.model(shown, between=(1, max(largest, 2.0))),
    )


def operation_models(page: Page, message: str, functions: Sequence[str] = ()) -> Section:
    """Return a card for each collective operation. `page`: over processes and message sizes. `functions`: all by default."""
    model = _message(message)
    section = Section(())
    for one in study(page.data, model, list(functions) or None):
        section += _card(one, model)
    return section


@lru_cache(maxsize=4)
def _message(source: str) -> PointToPoint:
    return message_of(source)


def _card(one: Studied, message: PointToPoint) -> Section:
    sizes, processes = one.cells.sizes, one.cells.processes
    where = f"{len(one.cells)} cells, {one.cells.origin}: {len(sizes)} sizes, {len(processes)} numbers of processes"
    figures: list[tuple[Drawable, str]] = []
    if one.identified is not None:
        at = "" if one.cells.operation == "barrier" else f" with {processes[-1]:g} processes"
        said = "The most probable algorithm of each cell, paler if less sure; a white dot: another is predicted to be faster."
        figures.append((plot(one.identified), said))
        said = f"Models of the most probable algorithms{at}, with a band of {as_percent(_SPREAD, 'g')}."
        figures.append((_models_under(one, message), said))
    if one.lore is not None:
        figures.append((plot(one.lore), "The forms of the folklore, fitted to all sizes at once."))
    if one.xu is not None:
        figures.append((plots.xu(one.xu), "Latency and time per byte at each number of processes, and their forms."))
    return Section.rendered("operation_card.html", one=one, where=where, figures=figures, cells=_table(one))


def _models_under(one: Studied, message: PointToPoint) -> Drawable:
    """Return the algorithms found at the largest number of processes under the times there."""
    assert one.identified is not None
    most = float(one.cells.processes[-1])
    seen = [cell.algorithms[0] for cell in one.identified.cells if most == cell.P and cell.algorithms[0] != "other"]
    names = list(dict.fromkeys(seen))[:_MOST_ALGORITHMS]
    every = collectives_of(one.cells.operation, message)
    models = {key: every[key] for key in names or every}
    where: dict[str, Any] = {"along": "P"} if one.cells.operation == "barrier" else {"at": {"P": most}}
    figure: Drawable = plots.model(models, one.cells, spread=_SPREAD, **where)
    return figure


def _table(one: Studied) -> str:
    if one.identified is None:
        return ""
    rows = [
        (
            format_value(cell.S, "B"),
            f"{cell.P:g}",
            " or ".join(cell.algorithms),
            percent(cell.probability, short=True),
            format_value(cell.time, "s"),
            format_value(cell.predicted, "s") if np.isfinite(cell.predicted) else "–",
            f"{cell.best}: {format_value(cell.best_time, 's')}" if np.isfinite(cell.best_time) else "–",
        )
        for cell in one.identified.cells
    ]
    head = ("S", "P", "seems to be", "probability", "time", "predicted", "least predicted")
    return details("All cells", table(f"Cells of {one.function}", head, rows, (1, 3, 4, 5)))


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
    return Section.sheet(*(_predicted(each, [v for v in verdicts if v.metric == each], targets) for each in metrics))


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


def _predicted(metric: str, verdicts: Sequence[Verdict], targets: Sequence[float]) -> Markup:
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
            times(v, last) if v.is_decided else "–",
            badge(v),
        )
        for v in verdicts
    ]
    word = METRIC_WORDS.get(metric, metric)
    caption = (
        f"{word[0].upper()}{word[1:]}: value of the model and, smaller, its {as_percent(_LEVEL, 'g')} interval, which also "
        f"counts the runners-up; then how many times more than expected it grows from {parameter} = {largest:g} to {last:g}. "
        f"That is {_number(last / largest)} times the largest measured {parameter}: all this holds if nothing new begins "
        "on the way."
    )
    return table(caption, head, rows, numeric=range(1, len(head) - 1))


def _over_several(page: Page, verdicts: Sequence[SeveralVerdict]) -> Section:
    """Return the values of functions of several parameters: the first at the targets, the others at their largest."""
    first = verdicts[0].parameters[0]
    largest = max(float(np.max(v.series.points[:, 0])) for v in verdicts)
    targets = page.targets or tuple(k * largest for k in _AHEAD)
    rows = [
        (
            name(v.function),
            _shown(_at(v, float(np.max(v.series.points[:, 0]))), v.unit),
            *(_shown(_at(v, x), v.unit) if v.is_decided else "not decided" for x in targets),
        )
        for v in verdicts
    ]
    others = " and ".join(verdicts[0].parameters[1:])
    caption = f"Values of the models. {others} stays at its largest measured value; the numbers hold if nothing new begins."
    head = ("function", f"largest {first}", *(f"{first} = {t:g}" for t in targets))
    return Section.sheet(table(caption, head, rows, numeric=range(1, len(head))))


def _at(verdict: SeveralVerdict, first: float) -> float:
    point = np.asarray(verdict.series.points, dtype=float).max(axis=0)
    point[0] = first
    return float(np.asarray(verdict.model(point[None, :])).ravel()[0])
