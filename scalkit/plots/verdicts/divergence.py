"""One function: the divergence model against the deviation limits, with the place where it leaves them."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from scalkit.growth import Growth
from scalkit.plots.drawing import Drawing
from scalkit.plots.marks import area, dots, lines, note
from scalkit.plots.style import (
    BAND,
    EXPECTED,
    MODEL,
    QUIET,
    TROUBLE,
    growth_label,
    is_log_axis,
    number,
    rounded,
    safe,
    value_axis,
    x_axis,
)
from scalkit.plots.verdicts.curves import Reach, reach, sample
from scalkit.plots.verdicts.sentences import divergence_sentence
from scalkit.validation import Verdict

_FARTHEST, _POINTS = 2.0**24, 41


def divergence_of(verdict: Verdict) -> go.Figure:
    """Return the divergence model of one function, its limits and the crossing point as a plotly figure.

    Parameters
    ----------
    verdict : Verdict

    Returns
    -------
    plotly.graph_objects.Figure
        The divergence without coefficients; 1 is the expectation. The measured range is shaded; the axis goes on to
        twice the crossing point unless that lies more than 2**24 times beyond the measurements, which is then said.
    """
    return draw_divergence(verdict).figure()


def draw_divergence(verdict: Verdict) -> Drawing:
    """Return the same, unchecked and quick to make."""
    x = np.asarray(verdict.series.x, dtype=float)
    span = _span(verdict, x)
    log = is_log_axis(x)
    points = divergence_points(verdict)
    delta, deviation = (
        divergence_values(verdict.divergence, points),
        divergence_values(verdict.expectation.deviation, points),
    )
    figure = Drawing(330, divergence_sentence(verdict))
    _add_limits(figure, verdict, points, deviation)
    _add_divergence(figure, verdict, points, delta, span)
    _mark_measured(figure, span, log)
    low, high = _value_range(delta, deviation)
    _mark_crossing(figure, verdict, span, log)
    figure.update_xaxes(x_axis(x, span.lowest, span.shown, verdict.parameter))
    figure.update_yaxes(value_axis(low, high, "", "model / expectation"))
    return figure


def divergence_points(verdict: Verdict, points: int = _POINTS) -> NDArray[np.float64]:
    """Return where the divergence is drawn: from the first setting on, or from 2 where logarithms would be 0."""
    x = np.asarray(verdict.series.x, dtype=float)
    span, log = _span(verdict, x), is_log_axis(x)
    start = span.lowest if span.lowest > 1 or not log else min(2.0, span.highest)
    return sample(start, span.shown, log, points)


def divergence_range(verdict: Verdict) -> tuple[float, float]:
    """Return the least and largest value in view: of the divergence and of its limits."""
    at = divergence_points(verdict)
    return _value_range(divergence_values(verdict.divergence, at), divergence_values(verdict.expectation.deviation, at))


def _span(verdict: Verdict, x: NDArray[np.float64]) -> Reach:
    span = reach(x, beyond=32.0)
    crossing = float(verdict.crossing)
    if math.isfinite(crossing) and span.highest < crossing <= span.highest * _FARTHEST and is_log_axis(x):
        return Reach(span.lowest, span.highest, max(span.shown, 4.0 * crossing))
    return span


def divergence_values(growth: Growth, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a growth at some points, of shape (points,); infinite or 0 where it overflows, NaN where it has no value."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.asarray(
            np.exp2(np.asarray(growth.log2_value(points), dtype=float)) * np.ones_like(points), dtype=float
        )


def _value_range(delta: NDArray[np.float64], deviation: NDArray[np.float64]) -> tuple[float, float]:
    seen = np.concatenate([delta, deviation, 1 / deviation])
    seen = seen[np.isfinite(seen) & (seen > 0)]
    return float(seen.min()), float(seen.max())


def _add_limits(figure: Drawing, verdict: Verdict, points: NDArray[np.float64], deviation: NDArray[np.float64]) -> None:
    keep = np.isfinite(deviation) & (deviation > 0)
    x, upper = points[keep], deviation[keep]
    name = f"limits {growth_label(verdict.expectation.deviation)}, inverse"
    figure.add_scatter(
        x=rounded(np.concatenate([x, x[::-1]])),
        y=rounded(np.concatenate([1 / upper, upper[::-1]])),
        fill="toself",
        fillcolor=BAND,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        name=name,
    )
    figure.add_scatter(**lines(points[[0, -1]], [1, 1], EXPECTED, 1.8, "dot"), hoverinfo="skip", name="as expected")


def _add_divergence(
    figure: Drawing, verdict: Verdict, points: NDArray[np.float64], delta: NDArray[np.float64], span: Reach
) -> None:
    inside = points <= span.highest * (1 + 1e-9)
    beyond = np.concatenate([np.flatnonzero(inside)[-1:], np.flatnonzero(~inside)])
    for part, dash in ((np.flatnonzero(inside), "solid"), (beyond, "dash")):
        figure.add_scatter(
            **lines(points[part], delta[part], MODEL, 2.4, dash),
            name=f"divergence {growth_label(verdict.divergence)}",
            legendgroup="divergence",
            showlegend=dash == "solid",
            hovertemplate=f"{safe(verdict.parameter)} = %{{x:.4~g}}: %{{y:.3~g}} times<extra></extra>",
        )


def _mark_measured(figure: Drawing, span: Reach, log: bool) -> None:
    figure.add_shape(**area("rgba(119,128,138,0.13)"), x0=span.lowest, x1=span.highest, y0=0, y1=1, yref="paper")
    figure.add_annotation(
        **note("measured", QUIET),
        x=math.log10(span.lowest) if log else span.lowest,
        y=0.01,
        yref="paper",
        xanchor="left",
        yanchor="bottom",
    )


def _mark_crossing(figure: Drawing, verdict: Verdict, span: Reach, log: bool) -> None:
    crossing = float(verdict.crossing)
    if verdict.rank != "none" or not math.isfinite(crossing) or crossing <= 1:
        return
    name = safe(verdict.parameter)
    if crossing > span.shown:
        text = f"leaves the limits at {name}* = {number(crossing)},<br>beyond this axis →"
        figure.add_annotation(
            x=0.99,
            xref="paper",
            y=0.98,
            yref="paper",
            text=text,
            showarrow=False,
            align="right",
            font={"color": TROUBLE},
        )
        return
    at = float(verdict.divergence_at(crossing))
    figure.add_scatter(
        **dots(rounded([crossing]), rounded([at]), TROUBLE, 11, "diamond"),
        name=f"leaves at {name}* = {number(crossing)}",
        hovertemplate=f"{name}* = %{{x:.4~g}}<extra></extra>",
    )
    figure.add_shape(
        type="line",
        x0=crossing,
        x1=crossing,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": TROUBLE, "width": 1.4, "dash": "dash"},
        layer="below",
    )
