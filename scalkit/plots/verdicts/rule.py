"""One cross-function rule: the measured ratio of its two sides, and the scale from which the models break it."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from scalkit.judge import RuleResult
from scalkit.plots.drawing import area, dots, note
from scalkit.plots.style import DATA, EXPECTED, TROUBLE, blank, is_log_axis, number, safe, value_axis, x_axis
from scalkit.plots.verdicts.curves import reach, rule_sentence
from scalkit.support.arrays import Flags, Floats

_LOOKS = {
    "holds": ("circle", DATA, "✓ holds as measured"),
    "open": ("circle-open", DATA, "above 1, but not clearly in every run"),
    "violated": ("x", TROUBLE, "✗ violated as measured"),
}


def rule(result: RuleResult) -> go.Figure:
    """Return the ratio left side / right side of a rule at each measured point as a plotly figure.

    Parameters
    ----------
    result : RuleResult

    Returns
    -------
    plotly.graph_objects.Figure
        Above 1 (shaded) the left side is slower. Crosses are violations, which every run shows; hollow circles are above
        1, but not clearly in every run. A dashed line stands where the models say that a violation begins. Over several
        parameters the axis is the one along which that is, else the first.
    """
    figure = blank(280, rule_sentence(result))
    if not len(result.points):
        return figure
    parameter = result.prediction.parameter if result.prediction else result.parameters[0]
    x, ratio = result.points[:, result.parameters.index(parameter)], np.asarray(result.ratio, dtype=float)
    seen = ratio[np.isfinite(ratio)]
    low, high = min(0.7, float(seen.min()) if seen.size else 1.0), max(1.4, float(seen.max()) if seen.size else 1.0)
    levels = np.unique(x)
    span = reach(levels)
    shown = _shown(result, span.highest, span.shown)
    _shade(figure, high)
    above = ~result.violated & (ratio > 1)
    hover = [safe(result.named(point)) for point in result.points]
    for word, chosen in (("holds", ~result.violated & ~above), ("open", above), ("violated", result.violated)):
        _add_points(figure, x, ratio, chosen, word, hover)
    _mark_prediction(figure, result, shown)
    figure.update_xaxes(x_axis(levels, span.lowest, shown, parameter))
    figure.update_yaxes(value_axis(low, high, "", "left side / right side"))
    return figure


def _shown(result: RuleResult, highest: float, shown: float) -> float:
    start = result.predicted_from
    if start is not None and math.isfinite(start) and shown < start <= highest * 1e6:
        return float(start) * 2
    return shown


def _shade(figure: go.Figure, high: float) -> None:
    figure.add_shape(**area("rgba(213,94,0,0.10)"), x0=0, x1=1, xref="paper", y0=1, y1=high * 100)
    figure.add_hline(y=1, line={"color": EXPECTED, "width": 1.8, "dash": "dot"})
    figure.add_annotation(
        **note("✗ left side is slower", TROUBLE), x=0.01, xref="paper", y=0.99, yref="paper", xanchor="left", yanchor="top"
    )


def _add_points(figure: go.Figure, x: Floats, ratio: Floats, chosen: Flags, word: str, hover: Sequence[str]) -> None:
    if not chosen.any():
        return
    symbol, colour, name = _LOOKS[word]
    figure.add_scatter(
        **dots(x[chosen], ratio[chosen], colour, 10, symbol, rim=2),
        name=name,
        text=[hover[row] for row in np.flatnonzero(chosen).tolist()],
        hovertemplate="%{text}: left = %{y:.3~g} × right<extra></extra>",
    )


def _mark_prediction(figure: go.Figure, result: RuleResult, shown: float) -> None:
    prediction = result.prediction
    if prediction is None or not math.isfinite(prediction.start) or prediction.start > shown or prediction.start <= 0:
        return
    start, parameter = prediction.start, prediction.parameter
    figure.add_vline(x=start, line={"color": TROUBLE, "width": 1.4, "dash": "dash"})
    log = is_log_axis(np.unique(result.points[:, result.parameters.index(parameter)]))
    figure.add_annotation(
        **note(f"models: broken from {safe(parameter)} = {number(start)}", TROUBLE),
        x=math.log10(start) if log else start,
        y=0.02,
        yref="paper",
        xanchor="right",
        yanchor="bottom",
    )
