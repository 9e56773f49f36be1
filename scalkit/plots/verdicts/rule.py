"""One cross-function rule: the measured ratio of its two sides, and the scale from which the models break it."""

import math

import numpy as np
import plotly.graph_objects as go

from scalkit.arrays import Flags, Floats
from scalkit.plots.drawing import area, dots, note
from scalkit.plots.style import DATA, EXPECTED, TROUBLE, blank, is_log_axis, number, safe, value_axis, x_axis
from scalkit.plots.verdicts.curves import reach, rule_sentence
from scalkit.validation import RuleResult

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
        1, but not clearly in every run. A dashed line stands where the models say that a violation begins.
    """
    x, ratio = np.asarray(result.x, dtype=float), np.asarray(result.ratio, dtype=float)
    figure = blank(280, rule_sentence(result))
    if not x.size:
        return figure
    seen = ratio[np.isfinite(ratio)]
    low, high = min(0.7, float(seen.min()) if seen.size else 1.0), max(1.4, float(seen.max()) if seen.size else 1.0)
    span = reach(x)
    shown = _shown(result, span.highest, span.shown)
    _shade(figure, high)
    violated = np.isin(x, np.asarray(result.violated_at, dtype=float))
    above = ~violated & (ratio > 1)
    _add_points(figure, x, ratio, ~violated & ~above, "holds")
    _add_points(figure, x, ratio, above, "open")
    _add_points(figure, x, ratio, violated, "violated")
    _mark_prediction(figure, result, shown)
    figure.update_xaxes(x_axis(x, span.lowest, shown, result.parameter))
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


def _add_points(figure: go.Figure, x: Floats, ratio: Floats, chosen: Flags, word: str) -> None:
    if not chosen.any():
        return
    symbol, colour, name = _LOOKS[word]
    figure.add_scatter(
        **dots(x[chosen], ratio[chosen], colour, 10, symbol, rim=2),
        name=name,
        hovertemplate="%{x}: left = %{y:.3~g} × right<extra></extra>",
    )


def _mark_prediction(figure: go.Figure, result: RuleResult, shown: float) -> None:
    start = result.predicted_from
    if start is None or not math.isfinite(start) or start > shown or start <= 0:
        return
    figure.add_vline(x=start, line={"color": TROUBLE, "width": 1.4, "dash": "dash"})
    log = is_log_axis(np.asarray(result.x, dtype=float))
    figure.add_annotation(
        **note(f"models: broken from {safe(result.parameter)} = {number(start)}", TROUBLE),
        x=math.log10(start) if log else start,
        y=0.02,
        yref="paper",
        xanchor="right",
        yanchor="bottom",
    )
