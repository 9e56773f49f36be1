"""One function: the divergence model against the deviation limits, with the place where it leaves them."""

import math

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.judge import Validation, Verdict
from scalkit.judge.answer import ANSWER_SYMBOLS, ANSWERS, Answer
from scalkit.plots import style
from scalkit.plots.drawing import SILENT, Drawing, area, band, dots, lines, note
from scalkit.plots.verdicts.curves import Reach, divergence_sentence, overview_sentence, reach, sample
from scalkit.support.arguments import require_kind, require_positive
from scalkit.support.arrays import Floats
from scalkit.support.text import cut

_FARTHEST, _POINTS = 2.0**24, 41


def draw_divergence(verdict: Verdict) -> Drawing:
    """Return the divergence of one function, unchecked and quick to make; see `divergence`."""
    x = np.asarray(verdict.series.x, dtype=float)
    span = _span(verdict, x)
    log = style.is_log_axis(x)
    points = _points(verdict)
    delta, deviation = (_values(verdict.divergence, points), _values(verdict.expectation.deviation, points))
    figure = Drawing(330, divergence_sentence(verdict))
    _add_limits(figure, verdict, points, deviation)
    _add_divergence(figure, verdict, points, delta, span)
    _mark_measured(figure, span, log)
    low, high = _value_range(delta, deviation)
    _mark_crossing(figure, verdict, span, log)
    figure.update_xaxes(style.x_axis(x, span.lowest, span.shown, verdict.parameter))
    figure.update_yaxes(style.value_axis(low, high, "", "model / expectation"))
    return figure


def _points(verdict: Verdict) -> Floats:
    """Return where the divergence is drawn: from the first setting on, or from 2 where logarithms would be 0."""
    x = np.asarray(verdict.series.x, dtype=float)
    span, log = _span(verdict, x), style.is_log_axis(x)
    start = span.lowest if span.lowest > 1 or not log else min(2.0, span.highest)
    return sample(start, span.shown, log, _POINTS)


def _span(verdict: Verdict, x: Floats) -> Reach:
    span = reach(x, beyond=32.0)
    crossing = float(verdict.crossing)
    if math.isfinite(crossing) and span.highest < crossing <= span.highest * _FARTHEST and style.is_log_axis(x):
        return Reach(span.lowest, span.highest, max(span.shown, 4.0 * crossing))
    return span


def _values(growth: Growth, points: Floats) -> Floats:
    """Return a growth at some points, of shape (points,); infinite or 0 where it overflows, NaN where it has no value."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.asarray(np.exp2(np.asarray(growth.log2_value(points), dtype=float)) * np.ones_like(points), dtype=float)


def _value_range(delta: Floats, deviation: Floats) -> tuple[float, float]:
    seen = np.concatenate([delta, deviation, 1 / deviation])
    seen = seen[np.isfinite(seen) & (seen > 0)]
    return float(seen.min()), float(seen.max())


def _add_limits(figure: Drawing, verdict: Verdict, points: Floats, deviation: Floats) -> None:
    keep = np.isfinite(deviation) & (deviation > 0)
    x, upper = points[keep], deviation[keep]
    name = f"limits {style.growth_label(verdict.expectation.deviation)}, inverse"
    figure.add_scatter(**band(x, 1 / upper, upper, style.BAND), hoverinfo="skip", name=name)
    figure.add_scatter(**lines(points[[0, -1]], [1, 1], style.EXPECTED, 1.8, "dot"), hoverinfo="skip", name="as expected")


def _add_divergence(figure: Drawing, verdict: Verdict, points: Floats, delta: Floats, span: Reach) -> None:
    inside = points <= span.highest * (1 + 1e-9)
    beyond = np.concatenate([np.flatnonzero(inside)[-1:], np.flatnonzero(~inside)])
    for part, dash in ((np.flatnonzero(inside), "solid"), (beyond, "dash")):
        figure.add_scatter(
            **lines(points[part], delta[part], style.MODEL, 2.4, dash),
            name=f"divergence {style.growth_label(verdict.divergence)}",
            legendgroup="divergence",
            showlegend=dash == "solid",
            hovertemplate=f"{style.safe(verdict.parameter)} = %{{x:.4~g}}: %{{y:.3~g}} times<extra></extra>",
        )


def _mark_measured(figure: Drawing, span: Reach, log: bool) -> None:
    figure.add_shape(**area("rgba(119,128,138,0.13)"), x0=span.lowest, x1=span.highest, y0=0, y1=1, yref="paper")
    figure.add_annotation(
        **note("measured", style.QUIET),
        x=math.log10(span.lowest) if log else span.lowest,
        y=0.01,
        yref="paper",
        xanchor="left",
        yanchor="bottom",
    )


def _mark_crossing(figure: Drawing, verdict: Verdict, span: Reach, log: bool) -> None:
    crossing = float(verdict.crossing)
    if verdict.match != "none" or not math.isfinite(crossing) or crossing <= 1:
        return
    name = style.safe(verdict.parameter)
    if crossing > span.shown:
        text = f"leaves the limits at {name}* = {style.number(crossing)},<br>beyond this axis →"
        figure.add_annotation(
            x=0.99, xref="paper", y=0.98, yref="paper", text=text, showarrow=False, align="right", font={"color": style.TROUBLE}
        )
        return
    at = float(verdict.divergence(crossing))
    figure.add_scatter(
        **dots(style.rounded([crossing]), style.rounded([at]), style.TROUBLE, 11, "diamond"),
        name=f"leaves at {name}* = {style.number(crossing)}",
        hovertemplate=f"{name}* = %{{x:.4~g}}<extra></extra>",
    )
    figure.add_shape(
        type="line",
        x0=crossing,
        x1=crossing,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": style.TROUBLE, "width": 1.4, "dash": "dash"},
        layer="below",
    )


def divergence(of: Validation | Verdict, target: float | None = None) -> go.Figure:
    """Return the divergence from the expectation, of one function or of all.

    Parameters
    ----------
    of : Validation or Verdict
    target : float, optional
        Of a validation, the value of the parameter to look ahead to; by default 1024 times the largest measured one.

    Returns
    -------
    plotly.graph_objects.Figure
        Of a verdict, the divergence without coefficients; 1 is the expectation. The measured range is shaded; the axis
        goes on to twice the crossing point unless that lies more than 2**24 times beyond the measurements, which is then
        said. Of a validation, one bar for each function (variants ``f[...]`` left out) from 1, as expected, to
        ``delta(target) / delta(largest measured)``: coefficients cancel. A shaded box is the factor that the deviation
        limits allow; colour, mark and word are those of the answer; hollow symbols do not decide.

    Raises
    ------
    DataError
        If there is no verdict.
    """
    require_kind(of, Validation | Verdict, "the subject", "give a result or a verdict over one parameter")
    if isinstance(of, Verdict):
        return draw_divergence(of).figure()
    if not of.verdicts:
        raise DataError("a picture of the divergences needs a verdict, got none; state an expectation for a function.")
    verdicts = list(style.without_variants(of.along_one))[::-1]
    highest = max(float(np.max(v.series.x)) for v in verdicts)
    goal = 1024.0 * highest if target is None else target
    require_positive(goal, "the target")
    names = [style.safe(cut(v.function, 24)) for v in verdicts]
    figure = style.blank(96 + 30 * len(verdicts), overview_sentence(verdicts[::-1]))
    allowed = [_factor(v.expectation.deviation, v, goal) for v in verdicts]
    factors = [_factor(v.divergence, v, goal) for v in verdicts]
    for k, factor in enumerate(allowed):
        figure.add_shape(**area(style.BAND), x0=1 / factor, x1=factor, y0=k - 0.36, y1=k + 0.36)
    for answer in ANSWERS[::-1]:
        _add_answer(figure, answer, [(k, v, factors[k]) for k, v in enumerate(verdicts)])
    seen = [1.0, *allowed, *(1 / a for a in allowed), *factors]
    axis = style.value_axis(
        min(seen), max(seen), "", f"times the expected growth<br>from {style.number(highest)} to {style.number(goal)}"
    )
    figure.update_xaxes(axis)
    figure.update_yaxes(style.look("rows"), tickvals=list(range(len(names))), ticktext=names, range=[-0.6, len(names) - 0.4])
    figure.add_vline(x=1, line={"color": style.EXPECTED, "width": 1.8, "dash": "dot"})
    return figure


def _factor(growth: Growth, verdict: Verdict, goal: float) -> float:
    ends = np.asarray([float(np.max(verdict.series.x)), goal], dtype=float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.asarray(growth.log2_value(ends), dtype=float) * np.ones(2)
    return float(np.exp2(np.clip(logs[1] - logs[0], -300.0, 300.0)))


def _add_answer(figure: go.Figure, answer: Answer, rows: list[tuple[int, Verdict, float]]) -> None:
    mine = [row for row in rows if row[1].answer == answer]
    if not mine:
        return
    colour = style.STATE_COLOURS[answer]
    x: list[float | None] = []
    y: list[float | None] = []
    for k, _, factor in mine:
        x += [1.0, factor, None]
        y += [k, k, None]
    figure.add_scatter(**lines(x, y, colour, 5), legendgroup=answer, **SILENT)
    places, symbol = [k for k, _, _ in mine], _SYMBOLS[answer]
    symbols = [symbol if v.decides else f"{symbol}-open" for _, v, _ in mine]
    figure.add_scatter(
        **dots(style.rounded([factor for _, _, factor in mine]), places, colour, 11, symbols, rim=2),
        text=[f"<b>{style.safe(v.function)}</b><br>divergence {style.growth_label(v.divergence)}" for _, v, _ in mine],
        hovertemplate="%{text}<br>%{x:.3~g} times<extra></extra>",
        name=f"{ANSWER_SYMBOLS[answer]} {answer}",
        legendgroup=answer,
    )


_SYMBOLS: dict[Answer, str] = {"fine": "circle", "cannot tell": "diamond", "fix": "x"}
