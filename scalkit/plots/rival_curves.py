"""Curves of the models that lost, hidden in the figure of a fit until one of them is asked for."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from scalkit.plots.curves import reach, sample
from scalkit.plots.style import growth_label, is_log_axis, plain, quantity, rounded
from scalkit.validation import Verdict

__all__ = ["with_rivals"]

_COLOUR = "#CC79A7"
_POINTS = 25


def with_rivals(figure: go.Figure, verdict: Verdict, most: int = 7) -> go.Figure:
    """Add the curves of the best rivals to a figure of `scalkit.plots.fit`, not visible. Return the figure.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        Changed in place. Each curve says in ``meta["growth"]`` what it is, as do those of the model.
    verdict : Verdict
    most : int
        Number of rivals.
    """
    for trace in figure.data:
        if trace.legendgroup == "model":
            trace.meta = {"growth": str(verdict.model.growth)}
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    at = sample(span.lowest, span.shown, is_log_axis(x), _POINTS)
    for model in verdict.rivals[:most]:
        y = np.asarray(model(at), dtype=float) * np.ones_like(at)
        figure.add_scatter(
            x=rounded(at),
            y=rounded(y),
            mode="lines+text",
            line={"color": _COLOUR, "width": 2.2, "dash": "dashdot"},
            text=[*[""] * (_POINTS - 4), growth_label(model.growth), "", "", ""],
            textposition="top left",
            textfont={"color": _COLOUR, "size": 13},
            name=f"rival {growth_label(model.growth)}",
            hovertemplate=f"%{{x:.4~g}}: %{{customdata}} if {plain(model.growth)}<extra></extra>",
            customdata=[quantity(v, verdict.unit) for v in y],
            visible=False,
            showlegend=False,
            meta={"growth": str(model.growth)},
        )
    return figure
