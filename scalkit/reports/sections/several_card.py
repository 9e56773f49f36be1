"""The card of a function of several parameters: a figure along each, effects, verdicts along each, runners-up, data."""

from __future__ import annotations

import math as m

import numpy as np

from scalkit import plots
from scalkit.plots.style import RANK_MARKS, quantity
from scalkit.reports.markup import anchor, badge, big_o, details, esc, formula, math, name, notes, percent, table
from scalkit.reports.pieces import Piece, Plot, Section
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.several.verdict import SeveralVerdict

__all__ = ["several_card"]

_MOST_ROWS = 500


def several_card(verdict: SeveralVerdict) -> Section:
    """Return the card of one verdict over several parameters."""
    pieces: list[Piece | str] = [
        f'<article class="sheet card" id="{anchor(verdict)}"><header><h4>{name(verdict.function)}</h4>{badge(verdict)}</header>'
        f'<p class="sentence">{esc(verdict.short_sentence)}</p>{_formulas(verdict)}{notes(verdict.caveats)}{_along(verdict)}'
    ]
    parameters = verdict.parameters
    for start in range(0, len(parameters), 2):
        pieces.append('<div class="pair">')
        for parameter in parameters[start : start + 2]:
            pieces += _figure(verdict, parameter)
        pieces.append("</div>")
    return Section.of(*pieces, _runners_up(verdict), _data(verdict), "</article>")


def _figure(verdict: SeveralVerdict, parameter: str) -> list[Piece | str]:
    figure = plots.several(verdict, parameter)
    others = " and ".join(other for other in verdict.parameters if other != parameter)
    is_longer = any(trace.mode == "lines" and trace.line.dash == "dot" for trace in figure.data)
    dotted = "; dotted beyond what was measured of a line" if is_longer else ""
    caption = f"Along {parameter}: measured values and the model, one colour for each value of {others}{dotted}."
    return ['<div class="figure">', Plot(figure), f'<p class="figcaption">{esc(caption)}</p></div>']


def _formulas(verdict: SeveralVerdict) -> str:
    p = verdict.probability
    parts = (
        ("expected", big_o(verdict.expectation.growth)),
        ("model", formula(verdict.model)),
        ("adj. R²", "– (constant)" if m.isnan(verdict.adjusted_r2) else f"{verdict.adjusted_r2:.4f}"),
        ("divergence δ", math(verdict.divergence)),
        ("probability", f"total {percent(p['total'])}, approximate {percent(p['approximate'])}, none {percent(p['none'])}"),
    )  # fmt: skip
    return '<dl class="formula">' + "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in parts) + "</dl>"


def _along(verdict: SeveralVerdict) -> str:
    head = ("along", "expected", "limits", "found", "divergence δ", "inside limits", "match", "effect")
    rows = [
        (
            esc(parameter),
            math(one.expectation.growth),
            f"{math(one.expectation.limits[0])} to {math(one.expectation.limits[1])}",
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


def _match(one: AlongVerdict) -> str:
    key = "slower" if one.verdict == "none" and one.direction == "grows slower" else one.verdict
    direction = f", {one.direction}" if one.verdict == "none" else ""
    return f'<span class="badge {key}"><span aria-hidden="true">{RANK_MARKS[key]}</span>{one.verdict}{direction}</span>'


def _runners_up(verdict: SeveralVerdict) -> str:
    words = {"total": "✓ total match", "approximate": "≈ approximate match", "none": "✗ no match"}
    rows = [
        (formula(one), percent(one.weight), words[verdict.expectation.rank(one.growth)])
        for one in (verdict.model, *verdict.rivals)
    ]
    caption = f"The chosen model and the {len(rows) - 1} next most probable ones."
    return details("Runners-up", table(caption, ("model", "probability", "would be"), rows, numeric=(1,)), prints=True)


def _data(verdict: SeveralVerdict) -> str:
    series, unit = verdict.series, verdict.unit
    model = np.asarray(verdict.model(series.points))
    rows = []
    for k, point in enumerate(series.points[:_MOST_ROWS]):
        row = series.values[k][np.isfinite(series.values[k])]
        cells = (float(series.y[k]), float(row.min()), float(row.max()), float(model[k]))
        rows.append(
            (
                *(f"{x:g}" for x in point),
                *(esc(quantity(c, unit, 4)) for c in cells),
                str(row.size),
                str(int(series.n_repetitions[k])),
            )
        )
    head = (*series.parameters, "value", "lowest run", "highest run", "model", "runs", "repetitions")
    more = len(series.points) - len(rows)
    left = f" {more} more point{' is' if more == 1 else 's are'} in the JSON file." if more else ""
    caption = f"What the figures of {verdict.function} show, in numbers.{left}"
    return details("Data", table(caption, head, rows, numeric=range(len(head))))
