"""One card for each function and each rule: the answer, the figures, the numbers behind them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from scalkit import plots
from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.measure import Series
from scalkit.plots.plot import plot
from scalkit.plots.style import metric_word, quantity
from scalkit.plots.verdicts.curves import crossing_words, ruler_sentence
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import badge, words_of
from scalkit.reports.sections.summary import by_metric
from scalkit.support.text import capital

_RIVALS = 5  # shown next to the chosen model
_ALL_OPEN = 3  # cards; with more, those of what is fine are folded
_MOST_ROWS = 500
_EDGE = 0.8  # room at both ends of the ruler, in distances of ticks


def cards(page: Page) -> dict[str, Any]:
    """Return the cards of all functions, metric by metric.

    Variants of a function, named ``function[variant]``, are folded into the card of the function itself.
    """
    found = [(capital(metric_word(verdicts[0])), list(_cards(verdicts))) for verdicts in by_metric(page).values()]
    shown: dict[str, Any] = {"fit": plots.fit, "divergence": plots.divergence, "ruler": ruler}
    shown |= {"crossing_words": crossing_words, "data_rows": data_rows, "rivals": _RIVALS, "largest_point": _largest_point}
    return {"groups": found, **shown}


def _cards(verdicts: list[AnyVerdict]) -> Iterator[tuple[AnyVerdict, list[Verdict], bool]]:
    """Yield each verdict with its variants, and whether its card is folded."""
    names = {v.function for v in verdicts}
    for verdict in verdicts:
        base = verdict.function.partition("[")[0]
        if isinstance(verdict, SeveralVerdict):
            yield verdict, [], False
        elif base == verdict.function or base not in names:
            variants = [v for v in verdicts if isinstance(v, Verdict) and v.function.startswith(f"{verdict.function}[")]
            is_fine = all(v.answer == "fine" for v in (verdict, *variants))
            yield verdict, variants, is_fine and len(verdicts) > _ALL_OPEN


def _largest_point(verdict: SeveralVerdict) -> str:
    largest = verdict.series.points.max(axis=0).tolist()
    return ", ".join(f"{name} = {x:g}" for name, x in zip(verdict.parameters, largest, strict=True))


def data_rows(verdict: AnyVerdict) -> list[tuple[str, ...]]:
    """Return point, value, lowest and highest run, model, and numbers of runs and repetitions, point by point."""
    if isinstance(verdict, SeveralVerdict):
        points = verdict.series.points
        return list(_rows(verdict, verdict.series, points, np.asarray(verdict.model(points))))[:_MOST_ROWS]
    parts: list[Series] = [one for one in (verdict.series, verdict.series.beside) if one is not None]
    rows = [row for one in parts for row in _rows(verdict, one, one.x[:, None], np.asarray(verdict.model(one.x)))]
    return sorted(rows, key=lambda row: float(row[0]))


def _rows(verdict: AnyVerdict, series: Any, points: Any, model: Any) -> Iterator[tuple[str, ...]]:
    for k, point in enumerate(points.tolist()):
        runs = series.values[k][np.isfinite(series.values[k])]
        numbers = (float(series.y[k]), float(runs.min()), float(runs.max()), float(model[k]))
        shown = (quantity(one, verdict.unit, 4) for one in numbers)
        yield (*(f"{x:g}" for x in point), *shown, str(runs.size), str(int(series.n_repetitions[k])))


def ruler(verdict: Verdict) -> dict[str, Any]:
    """Return the ticks of a verdict in the order of growth at equal distances, for the template of the ruler."""
    model, expected = verdict.model.growth, verdict.expectation.growth
    ticks = tuple(sorted({*verdict.space.ticks, expected, model}))
    lower, upper = verdict.expectation.limits
    inside = [k for k, tick in enumerate(ticks) if lower <= tick <= upper]
    share = ticks.index(model) / max(1, len(ticks) - 1)
    return {
        "sentence": ruler_sentence(verdict),
        "width": len(ticks) - 1 + 2 * _EDGE,
        "start": min(inside) - 0.5 + _EDGE,
        "end": max(inside) + 0.5 + _EDGE,
        "ticks": [(k + _EDGE, len(tick.exponents(verdict.parameter).by_rank()) < 2) for k, tick in enumerate(ticks)],
        "model": (ticks.index(model) + _EDGE, model),
        "expected": (ticks.index(expected) + _EDGE, expected),
        "ends": ((ticks[0], "0", "start", share > 0.35), (ticks[-1], "100%", "end", share < 0.65)),
        "short": lambda value: f"{value:.2f}".rstrip("0").rstrip("."),
    }


def rules(page: Page) -> dict[str, Any] | None:
    """Return each rule with its badge and, if it was measured, its figure."""
    cards = [
        (
            result,
            badge(*words_of("rules")[result.status], is_open=not result.decides),
            plot(result) if len(result.points) else None,
        )
        for result in page.result.rules
    ]
    return {"cards": cards} if cards else None
