"""One function of several parameters: measured values and model along each of them, and the effect of each."""

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError, UsageError
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.sentences import sentence_of
from scalkit.plots.drawing import dots, lines, note
from scalkit.plots.style import (
    QUIET,
    SHADES,
    blank,
    is_log_axis,
    metric_word,
    number,
    quantity,
    safe,
    shade_of,
    value_axis,
    with_axes,
    x_axis,
)
from scalkit.plots.verdicts.curves import sample
from scalkit.plots.verdicts.effects import add_effects, effect_words
from scalkit.support.arrays import Floats, Ints

_MOST_LINES = 7
_PANEL, _TITLE_LINE, _BAR, _AXIS, _LABEL = 300, 20, 34, 52, 15
_WRAP, _WIDTH, _MOST_TICKS = 100, 930, 12
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Line:
    """Points that differ in one parameter only, and the model there and where else the parameter was measured.

    ``at`` holds the places of the curve, of shape (points, parameters), ``model`` its values; ``end`` is the largest measured
    value of the parameter on this line.
    """

    rows: Ints
    label: str
    column: int
    at: Floats
    model: Floats
    end: float

    @property
    def x(self) -> Floats:
        """The parameter along which it goes."""
        return np.asarray(self.at[:, self.column])


@dataclass(frozen=True)
class Panel:
    """What is drawn along one parameter."""

    name: str
    column: int
    x: Floats
    lines: list[Line]


def several(verdict: SeveralVerdict, parameter: str | None = None) -> go.Figure:
    """Return measured values and model along each parameter, the others fixed, and the effect of each.

    Parameters
    ----------
    verdict : SeveralVerdict
        Of a `Validation` over several parameters.
    parameter : str, optional
        Only the panel of this one, without title and effects.

    Returns
    -------
    plotly.graph_objects.Figure
        A panel for each parameter with logarithmic axes: symbols are measured, lines the model, one colour and label for
        each set of values of the other parameters, at most seven. Below, the share of the value at the largest point that
        is due to each parameter. Where no two points agree in the other parameters, all points are grey, and the lines
        are the model at the least, middle and largest values of the others.

    Raises
    ------
    DataError
        If the verdict is one along a single parameter.
    UsageError
        If there is no such parameter.
    """
    if not isinstance(verdict, SeveralVerdict):
        raise DataError(
            f"'{getattr(verdict, 'function', verdict)}' has no verdict over several parameters; draw it with plots.fit."
        )
    if parameter is not None and parameter not in verdict.parameters:
        raise UsageError(f"'{verdict.function}' has no parameter '{parameter}'; choose one of {', '.join(verdict.parameters)}.")
    panels = panels_of(verdict, verdict.parameters if parameter is None else (parameter,))
    title = textwrap.wrap(sentence_of(verdict, in_short=True), _WRAP) if parameter is None else []
    top = 12 + _TITLE_LINE * len(title)
    below = _AXIS + (_BAR + _AXIS if parameter is None else 0)
    figure = blank(top + _PANEL + below, _sentence(verdict, parameter))
    inner = _PANEL + below - _AXIS
    values = _value_axis(verdict, panels)
    for k, panel in enumerate(panels):
        _add_panel(figure, verdict, panel, k, _Scale.of(values))
        room = 7.0 * max(len(_bare(line.label)) for line in panel.lines) + 14
        start, stop = k / len(panels), (k + 1) / len(panels) - min(room / _WIDTH, 0.4 / len(panels))
        place = {"domain": [start + (0.015 if k else 0.0), stop], "anchor": axis_name("y", k)}
        side = {"domain": [1 - _PANEL / inner, 1.0], "anchor": axis_name("x", k)}
        hidden = {"title": None, "showticklabels": False, "matches": "y"} if k else {}
        figure.update_layout({f"xaxis{k + 1}": _parameter_axis(panel) | place, f"yaxis{k + 1}": values | side | hidden})
    if parameter is None:
        _add_bar(figure, verdict, len(panels) + 1, _BAR / inner)
    axes = {"xaxis" if k == 0 else f"xaxis{k + 1}": panel.name for k, panel in enumerate(panels)}
    figure.update_layout(meta=with_axes(figure, axes), showlegend=False, margin={"l": 66, "r": 12, "t": top, "b": _AXIS - 8})
    if title:
        figure.update_layout(
            title={"text": "<br>".join(map(safe, title)), "x": 0, "xref": "paper", "y": 1, "yref": "container",
                   "yanchor": "top", "pad": {"t": 8}, "font": {"size": 14}},
        )  # fmt: skip
    return figure


def panels_of(verdict: SeveralVerdict, names: Sequence[str]) -> list[Panel]:
    """Return what is drawn along each of some parameters."""
    return [_panel(verdict, name) for name in names]


def _panel(verdict: SeveralVerdict, name: str) -> Panel:
    """Return up to seven lines along a parameter, by rising values; without rows where no two points share the others."""
    series, column = verdict.series, verdict.parameters.index(name)
    points, x = series.points, series.along(name)
    _, group = np.unique(np.delete(points, column, axis=1), axis=0, return_inverse=True)
    order = np.lexsort((points[:, column], group.reshape(-1)))
    ends = np.flatnonzero(np.diff(group.reshape(-1)[order])) + 1
    shared = [rows for rows in np.split(order, ends) if len(rows) > 1]
    if shared:
        lines = [_line(verdict, column, points[rows[0]], rows, x) for rows in shared]
    else:
        lines = [_line(verdict, column, np.quantile(points, q, axis=0), _NO_ROWS, x) for q in (0.1, 0.5, 0.9)]
    lines.sort(key=lambda line: float(line.model[-1]))
    kept = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), _MOST_LINES)).round().astype(int))
    return Panel(name, column, x, [lines[i] for i in kept])


def _line(verdict: SeveralVerdict, column: int, point: Floats, rows: Ints, x: Floats) -> Line:
    dense = sample(float(x[0]), float(x[-1]), is_log_axis(x), 65)
    at = np.tile(point, (len(dense), 1))
    at[:, column] = dense
    label = ", ".join(number(float(value)) for value in np.delete(point, column))
    end = float(verdict.series.points[rows, column].max()) if len(rows) else float(x[-1])
    return Line(rows, label, column, at, np.asarray(verdict.model(at)), end)


@dataclass(frozen=True)
class _Scale:
    """The value axis, so that labels can be kept apart."""

    low: float
    high: float
    is_log: bool

    @classmethod
    def of(cls, axis: dict[str, Any]) -> "_Scale":
        low, high = axis["range"]
        return cls(low, high, axis.get("type") == "log")

    def place(self, value: float) -> float:
        """Return the share of the axis below a value."""
        return ((math.log10(value) if self.is_log else value) - self.low) / (self.high - self.low)

    def apart(self, values: Sequence[float]) -> list[float]:
        """Return shares of the axis for labels, in the order of `values`, so far apart that no two overlap."""
        step = _LABEL / _PANEL
        order = np.argsort(values, kind="stable")
        places = np.array([self.place(values[i]) for i in order])
        for _ in range(200):
            gaps = np.diff(places)
            if (gaps >= step - 1e-9).all():
                break
            for i in np.flatnonzero(gaps < step):
                push = (step - (places[i + 1] - places[i])) / 2
                places[i], places[i + 1] = places[i] - push, places[i + 1] + push
        places += max(0.0, -float(places[0])) - max(0.0, float(places[-1]) - 1.0 + 1.2 * step)
        found = np.empty(len(values))
        found[order] = places
        return [float(place) for place in found]


def axis_name(letter: str, k: int) -> str:
    """Return plotly's name of the axis of panel `k`, from 0."""
    return letter if k == 0 else f"{letter}{k + 1}"


def _bare(markup: str) -> str:
    return re.sub(r"<[^>]*>", "", markup)


def _parameter_axis(panel: Panel) -> dict[str, Any]:
    """Return the axis of a panel: ticks at the measured values, or at powers of two where these are many."""
    low, high = float(panel.x[0]), float(panel.x[-1])
    axis = x_axis(panel.x, low, high, panel.name)
    if len(panel.x) <= _MOST_TICKS or axis.get("type") != "log":
        return axis
    exponents = np.arange(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
    ticks = [2.0**e for e in exponents[:: -(-len(exponents) // 6)]]
    return axis | {"tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}


def _value_axis(verdict: SeveralVerdict, panels: Sequence[Panel]) -> dict[str, Any]:
    seen = np.concatenate([verdict.series.y, *(line.model for panel in panels for line in panel.lines)])
    seen = seen[np.isfinite(seen)]
    title = safe(metric_word(verdict))
    axis = value_axis(float(seen.min()), float(seen.max()), verdict.unit, title) | {"automargin": False}
    if axis.get("type") != "log" or len(axis["tickvals"]) >= 3:
        return axis
    low, high = (10.0**end for end in axis["range"])
    decades = range(math.floor(axis["range"][0]), math.ceil(axis["range"][1]) + 1)
    ticks = [m * 10.0**e for e in decades for m in (1, 1.5, 2, 3, 4, 5, 7) if low <= m * 10.0**e <= high]
    return axis | {"tickvals": ticks, "ticktext": [quantity(tick, verdict.unit) for tick in ticks]}


def _add_panel(figure: go.Figure, verdict: SeveralVerdict, panel: Panel, k: int, scale: _Scale) -> None:
    n = len(panel.lines)
    colours = [SHADES[0]] if n == 1 else [shade_of(i, n) for i in range(n)]
    others = ", ".join(name for name in verdict.parameters if name != panel.name)
    if not any(len(line.rows) for line in panel.lines):
        _add_points(figure, verdict, panel.column, k, np.arange(len(verdict.series.points)), QUIET)
    for line, colour in zip(panel.lines, colours, strict=True):
        hover = f"{safe(others)} = {line.label}<br>{safe(panel.name)} = %{{x:.4~g}}: model %{{text}}<extra></extra>"
        inside = line.x <= line.end * (1 + 1e-12)
        for part, dash in ((inside, "solid"), (~inside | np.append(~inside[1:], False), "dot")):
            if part.sum() < 2:
                continue
            figure.add_scatter(
                **lines(line.x[part], line.model[part], colour, 2, dash),
                text=[quantity(v, verdict.unit) for v in line.model[part]],
                name=f"model, {others} = {_bare(line.label)}",
                hovertemplate=hover,
                xaxis=axis_name("x", k),
                yaxis=axis_name("y", k),
            )
        if len(line.rows):
            _add_points(figure, verdict, panel.column, k, line.rows, colour)
    places = scale.apart([float(line.model[-1]) for line in panel.lines])
    labels = [(line.label, colour, place) for line, colour, place in zip(panel.lines, colours, places, strict=True)]
    for text, colour, place in [*labels, (f"{safe(others)} =", QUIET, max(places) + 1.2 * _LABEL / _PANEL)]:
        figure.add_annotation(
            **note(text, colour),
            x=1.0,
            y=place,
            xref=f"{axis_name('x', k)} domain",
            yref=f"{axis_name('y', k)} domain",
            xanchor="left",
            yanchor="middle",
            xshift=4,
        )


def _add_points(figure: go.Figure, verdict: SeveralVerdict, column: int, k: int, rows: Ints, colour: str) -> None:
    series, names = verdict.series, verdict.parameters
    where = [", ".join(f"{n} = {v:g}" for n, v in zip(names, series.points[row], strict=True)) for row in rows]
    figure.add_scatter(
        **dots(series.points[rows, column], series.y[rows], colour, 7, rim=1, rim_colour="#ffffff"),
        text=[f"{safe(w)}<br>measured {quantity(y, series.unit)}" for w, y in zip(where, series.y[rows], strict=True)],
        name="measured",
        hovertemplate="%{text}<extra></extra>",
        xaxis=axis_name("x", k),
        yaxis=axis_name("y", k),
    )


def _add_bar(figure: go.Figure, verdict: SeveralVerdict, k: int, height: float) -> None:
    add_effects(figure, [verdict], xaxis=f"x{k}", yaxis=f"y{k}")
    largest = ", ".join(f"{n} = {x:g}" for n, x in zip(verdict.parameters, verdict.series.points.max(axis=0), strict=True))
    figure.update_layout({
        f"xaxis{k}": {"domain": [0.0, 1.0], "anchor": f"y{k}", "range": [0, 1], "visible": False, "fixedrange": True},
        f"yaxis{k}": {"domain": [0.0, height], "anchor": f"x{k}", "visible": False, "fixedrange": True},
    })  # fmt: skip
    figure.add_annotation(
        x=0, y=0, xref="paper", yref="paper", xanchor="left", yanchor="top", yshift=-4, showarrow=False,
        text=safe(f"effect of each parameter: share of the {metric_word(verdict)} at {largest}"),
        font={"size": 12},
    )  # fmt: skip


def extremes(verdict: SeveralVerdict) -> tuple[str, str]:
    """Return the smallest and the largest measured value, and where each is, in words."""
    series, names = verdict.series, verdict.parameters
    low, high = (
        f"{quantity(float(series.y[i]), series.unit)} at "
        + ", ".join(f"{name} = {x:g}" for name, x in zip(names, series.points[i], strict=True))
        for i in (int(np.argmin(series.y)), int(np.argmax(series.y)))
    )
    return low, high


def _sentence(verdict: SeveralVerdict, parameter: str | None) -> str:
    """Return what the figure shows: the range of the values, the model, the expectation, the effects."""
    names, (low, high) = verdict.parameters, extremes(verdict)
    metric = metric_word(verdict)
    along = f" along {parameter}" if parameter else f" over {', '.join(names)}"
    return (
        f"{verdict.function}{along}: {metric} from {low} to {high}; model {verdict.model.growth}, expected "
        f"{verdict.expectation.growth}; effects {effect_words(verdict)}."
    )
