"""One function of several parameters: measured values and model along each of them."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.drawing import dots, lines
from scalkit.plots.style import QUIET, blank, is_log_axis, metric_word, number, quantity, safe, shade_of, value_axis, x_axis
from scalkit.plots.verdicts.curves import groups_along, sample
from scalkit.plots.verdicts.effects import effect_words
from scalkit.support.arrays import Floats, Ints

_MOST_LINES = 7
_LEGEND = 0.14  # of the width of the figure, next to each panel
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class _Line:
    """Points that differ in one parameter only, and the model there.

    `label`: values of the other parameters.
    `x`, `model`: the curve of the model.
    `end`: the largest measured value of the parameter on this line.
    """

    rows: Ints
    label: str
    x: Floats
    model: Floats
    end: float


def several(verdict: SeveralVerdict, parameter: str | None = None) -> go.Figure:
    """Return measured values and model along each parameter, the others fixed.

    Parameters
    ----------
    verdict : SeveralVerdict
        Of a `Validation` over several parameters.
    parameter : str, optional
        Only the panel of this one.

    Returns
    -------
    plotly.graph_objects.Figure
        A panel for each parameter with logarithmic axes: symbols are measured, lines the model, one colour for each set of
        values of the other parameters, at most seven. Where no two points agree in the other parameters, all points are
        grey, and the lines are the model at the least, middle and largest values of the others.

    Raises
    ------
    UsageError
        If there is no such parameter.
    """
    if parameter is not None and parameter not in verdict.parameters:
        raise UsageError(f"'{verdict.function}' has no parameter '{parameter}'; choose one of {', '.join(verdict.parameters)}.")
    names = verdict.parameters if parameter is None else (parameter,)
    figure = blank(352, _sentence(verdict, parameter))
    figure.set_subplots(1, len(names), shared_yaxes=True, horizontal_spacing=_LEGEND)
    seen = [verdict.series.y]
    for place, name in enumerate(names, 1):
        shown = _lines(verdict, name)
        seen += [line.model for line in shown]
        _add_panel(figure, verdict, name, shown, place)
    values = np.concatenate(seen)
    values = values[np.isfinite(values)]
    axis = value_axis(float(values.min()), float(values.max()), verdict.unit, safe(metric_word(verdict)))
    figure.update_yaxes(axis, col=1)
    figure.update_yaxes(axis | {"title": None}, selector=lambda one: one.showticklabels is False)
    return figure


def _lines(verdict: SeveralVerdict, name: str) -> list[_Line]:
    """Return up to seven lines along a parameter, by falling values; without rows where no two points share the others."""
    series, column = verdict.series, verdict.parameters.index(name)
    shared = [rows for rows in groups_along(series.points, column) if len(rows) > 1]
    places = [(series.points[rows[0]], rows) for rows in shared]
    if not shared:
        places = [(np.quantile(series.points, q, axis=0), _NO_ROWS) for q in (0.1, 0.5, 0.9)]
    found = [_line(verdict, column, point, rows) for point, rows in places]
    found.sort(key=lambda line: -float(line.model[-1]))
    kept = np.linspace(0, len(found) - 1, min(len(found), _MOST_LINES)).round().astype(int)
    return [found[place] for place in kept]


def _line(verdict: SeveralVerdict, column: int, point: Floats, rows: Ints) -> _Line:
    x = verdict.series.along(verdict.parameters[column])
    dense = sample(float(x[0]), float(x[-1]), is_log_axis(x), 65)
    at = np.tile(point, (len(dense), 1))
    at[:, column] = dense
    label = ", ".join(number(float(value)) for value in np.delete(point, column))
    end = float(verdict.series.points[rows, column].max()) if len(rows) else float(x[-1])
    return _Line(rows, label, dense, np.asarray(verdict.model(at)), end)


def _add_panel(figure: go.Figure, verdict: SeveralVerdict, name: str, shown: list[_Line], place: int) -> None:
    x = verdict.series.along(name)
    legend = "legend" if place == 1 else f"legend{place}"
    others = ", ".join(safe(one) for one in verdict.parameters if one != name)
    if not any(len(line.rows) for line in shown):
        _add_points(figure, verdict, name, np.arange(len(verdict.series.points)), QUIET, place)
    for k, line in enumerate(shown):
        colour = shade_of(len(shown) - 1 - k, len(shown))
        inside = line.x <= line.end * (1 + 1e-12)
        for part, dash in ((inside, "solid"), (~inside | np.append(~inside[1:], False), "dot")):
            if part.sum() < 2:
                continue
            figure.add_scatter(
                **lines(line.x[part], line.model[part], colour, 2, dash),
                text=[quantity(v, verdict.unit) for v in line.model[part]],
                name=line.label,
                legend=legend,
                showlegend=dash == "solid",
                hovertemplate=f"{others} = {line.label}<br>{safe(name)} = %{{x:.4~g}}: model %{{text}}<extra></extra>",
                row=1,
                col=place,
            )
        if len(line.rows):
            _add_points(figure, verdict, name, line.rows, colour, place)
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), name), col=place)
    (axis,) = figure.select_xaxes(col=place)
    beside = {"x": axis.domain[1], "y": 1, "xanchor": "left", "yanchor": "top", "orientation": "v"}
    figure.update_layout({legend: {**beside, "title": {"text": f"{others} ="}, "font": {"size": 11}}})


def _add_points(figure: go.Figure, verdict: SeveralVerdict, name: str, rows: Ints, colour: str, place: int) -> None:
    series, names = verdict.series, verdict.parameters
    where = [", ".join(f"{n} = {v:g}" for n, v in zip(names, series.points[row], strict=True)) for row in rows]
    figure.add_scatter(
        **dots(series.points[rows, names.index(name)], series.y[rows], colour, 7, rim=1, rim_colour="#ffffff"),
        text=[f"{safe(w)}<br>measured {quantity(y, series.unit)}" for w, y in zip(where, series.y[rows], strict=True)],
        name="measured",
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
        row=1,
        col=place,
    )


def _sentence(verdict: SeveralVerdict, parameter: str | None) -> str:
    """Return what the figure shows: the range of the values, the model, the expectation, the effects."""
    series, names = verdict.series, verdict.parameters
    low, high = (
        f"{quantity(float(series.y[i]), series.unit)} at "
        + ", ".join(f"{name} = {x:g}" for name, x in zip(names, series.points[i], strict=True))
        for i in (int(np.argmin(series.y)), int(np.argmax(series.y)))
    )
    along = f" along {parameter}" if parameter else f" over {', '.join(names)}"
    return (
        f"{verdict.function}{along}: {metric_word(verdict)} from {low} to {high}; model {verdict.model.growth}, expected "
        f"{verdict.expectation.growth}; effects {effect_words(verdict)}."
    )
