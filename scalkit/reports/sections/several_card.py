"""The card of a function of several parameters: a figure along each, effects, verdicts along each, runners-up, data."""

from __future__ import annotations

import math as m
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.plots.style import RANK_MARKS, quantity
from scalkit.reports.markup import big_o, details, formula, math, percent, piece, table
from scalkit.reports.pieces import Section
from scalkit.text import r2
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.several.verdict import SeveralVerdict

_MOST_ROWS = 500


def several_card(verdict: SeveralVerdict) -> Section:
    """Return the card of one verdict over several parameters."""
    figures = [_figure(verdict, parameter) for parameter in verdict.parameters]
    shown = {"along": _along(verdict), "runners_up": _runners_up(verdict), "data": _data(verdict)}
    return Section.rendered("several_card.html", verdict=verdict, formulas=_formulas(verdict), figures=figures, **shown)


def _figure(verdict: SeveralVerdict, parameter: str) -> tuple[Any, str]:
    """Return a figure and its caption."""
    figure = plots.several(verdict, parameter)
    others = " and ".join(other for other in verdict.parameters if other != parameter)
    is_longer = any(trace.mode == "lines" and trace.line.dash == "dot" for trace in figure.data)
    dotted = "; dotted beyond what was measured of a line" if is_longer else ""
    return figure, f"Along {parameter}: measured values and the model, one colour for each value of {others}{dotted}."


def _formulas(verdict: SeveralVerdict) -> tuple[tuple[str, object], ...]:
    p = verdict.probability
    return (
        ("expected", big_o(verdict.expectation.growth)),
        ("model", formula(verdict.model)),
        ("adj. R²", "– (constant)" if m.isnan(verdict.adjusted_r2) else r2(verdict.adjusted_r2)),
        ("divergence δ", math(verdict.divergence)),
        ("probability", ", ".join(f"{key} {percent(p[key])}" for key in ("total", "approximate", "none"))),
    )


def _along(verdict: SeveralVerdict) -> Markup:
    head = ("along", "expected", "limits", "found", "divergence δ", "inside limits", "match", "effect")
    rows = [
        (
            parameter,
            math(one.expectation.growth),
            math(one.expectation.limits[0]) + " to " + math(one.expectation.limits[1]),
            math(one.growth),
            math(one.divergence),
            percent(1 - one.probability["none"]),
            _match(one),
            f"{100 * one.effect:.0f} %",
        )
        for parameter, one in verdict.along.items()
    ]
    largest = ", ".join(
        f"{n} = {x:g}" for n, x in zip(verdict.parameters, verdict.fit.points.x.max(axis=0), strict=True)
    )
    caption = f"{verdict.function} along each parameter, the others fixed. Effect: its share of the value at {largest}."
    return table(caption, head, rows, numeric=(5, 7))


def _match(one: AlongVerdict) -> Markup:
    key = "slower" if one.verdict == "none" and one.direction == "grows slower" else one.verdict
    return piece("badge", key, RANK_MARKS[key], f"{one.verdict}{f', {one.direction}' if one.verdict == 'none' else ''}")


def _runners_up(verdict: SeveralVerdict) -> Markup:
    words = {"total": "✓ total match", "approximate": "≈ approximate match", "none": "✗ no match"}
    rows = [
        (formula(one), percent(one.weight), words[verdict.expectation.rank(one.growth)])
        for one in (verdict.model, *verdict.rivals)
    ]
    caption = f"The chosen model and the {len(rows) - 1} next most probable ones."
    return details("Runners-up", table(caption, ("model", "probability", "would be"), rows, numeric=(1,)), prints=True)


def _data(verdict: SeveralVerdict) -> Markup:
    series, unit = verdict.series, verdict.unit
    model = np.asarray(verdict.model(series.points))
    rows = []
    for k, point in enumerate(series.points[:_MOST_ROWS]):
        row = series.values[k][np.isfinite(series.values[k])]
        cells = (float(series.y[k]), float(row.min()), float(row.max()), float(model[k]))
        rows.append(
            (
                *(f"{x:g}" for x in point),
                *(quantity(c, unit, 4) for c in cells),
                str(row.size),
                str(int(series.n_repetitions[k])),
            )
        )
    head = (*series.parameters, "value", "lowest run", "highest run", "model", "runs", "repetitions")
    more = len(series.points) - len(rows)
    left = f" {more} more point{' is' if more == 1 else 's are'} in the JSON file." if more else ""
    caption = f"What the figures of {verdict.function} show, in numbers.{left}"
    return details("Data", table(caption, head, rows, numeric=range(len(head))))
