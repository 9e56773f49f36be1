"""One card for each function and each rule: the answer, the figures, the numbers behind them."""

import math as m
from collections.abc import Iterator
from typing import Any

import numpy as np

from scalkit import plots
from scalkit.judge import AnyVerdict, RuleResult, Verdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.sentences import sentence_of
from scalkit.measure import Series
from scalkit.plots.plot import plot
from scalkit.plots.style import metric_word, quantity
from scalkit.plots.verdicts.curves import crossing_words, ruler_sentence
from scalkit.plots.verdicts.ruler import n_factors
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import badge, words_of
from scalkit.support.text import capital

_RIVALS = 5  # shown next to the chosen model
_ALL_OPEN = 3  # cards; with more, those of what is fine are folded
_MOST_ROWS = 500
_EDGE = 0.8  # room at both ends of the ruler, in distances of ticks


def cards(page: Page) -> dict[str, Any]:
    """Return the cards of all functions, metric by metric.

    Variants of a function, named ``function[variant]``, are folded into the card of the function itself.
    """
    groups: dict[str, list[AnyVerdict]] = {}
    for verdict in page.result.worst_first:
        groups.setdefault(verdict.metric, []).append(verdict)
    found = [(capital(metric_word(verdicts[0])), list(_cards(verdicts))) for verdicts in groups.values()]
    shown: dict[str, Any] = {"fit": plots.fit, "divergence": plots.divergence, "ruler": ruler}
    shown |= {"crossing_words": crossing_words, "data_rows": data_rows, "rivals": _RIVALS, "largest_point": _largest_point}
    shown |= {"sentence_in_short": _sentence_in_short}
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


def _sentence_in_short(verdict: AnyVerdict) -> str:
    """Return the sentence of a verdict; over several parameters without what is excluded."""
    if isinstance(verdict, SeveralVerdict):
        return sentence_of(verdict, in_short=True)
    return verdict.sentence


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
        "ticks": [(k + _EDGE, n_factors(tick) < 2) for k, tick in enumerate(ticks)],
        "model": (ticks.index(model) + _EDGE, model),
        "expected": (ticks.index(expected) + _EDGE, expected),
        "ends": ((ticks[0], "0", "start", share > 0.35), (ticks[-1], "100%", "end", share < 0.65)),
        "short": lambda value: f"{value:.2f}".rstrip("0").rstrip("."),
    }


def rules(page: Page) -> dict[str, Any] | None:
    """Return one card for each rule."""
    return {"cards": [_card_of_rule(result) for result in page.result.rules]} if page.result.rules else None


def _card_of_rule(result: RuleResult) -> dict[str, Any]:
    kind, mark, word = words_of("rules")[result.status]
    reason = "; ".join(result.caveats) or "its measurements do not"
    points = result.points[:_MOST_ROWS].tolist()
    rows = [
        (*(f"{x:g}" for x in point), "–" if m.isnan(ratio) else f"{ratio:.3f}", _word_of_rule(ratio, is_broken))
        for point, ratio, is_broken in zip(points, result.ratio.tolist(), result.violated.tolist(), strict=False)
    ]
    return {
        "rule": result.rule,
        "badge": badge(kind, mark, word, is_open=not result.decides),
        "sentence": result.sentence,
        "doubt": "" if result.decides or result.status == "unknown" else f"Does not decide the exit status: {reason}.",
        "figure": plot(result) if rows else None,
        "head": (*result.parameters, "ratio", "measured"),
        "rows": rows,
        "more": len(result.points) - len(rows),
    }


def _word_of_rule(ratio: float, is_broken: bool) -> str:
    if is_broken:
        return "✗ violated"
    return "✓ holds" if ratio <= 1 else "slower, but not clearly in every run"
