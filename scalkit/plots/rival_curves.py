"""Curves of the models that lost, hidden in the figure of a fit until one of them is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from scalkit.fit import Model
from scalkit.plots.curves import reach, sample
from scalkit.plots.style import growth_label, is_log_axis, plain, quantity, rounded
from scalkit.validation import Verdict

__all__ = ["rival_traces", "with_rivals"]

_COLOUR = "#9b2f73"
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
    figure.add_traces(rival_traces(verdict, most))
    return figure


def rival_traces(verdict: Verdict, most: int = 7) -> list[dict[str, Any]]:
    """Return the curves of the best rivals as plain traces, which is quick; see `with_rivals`."""
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    at = sample(span.lowest, span.shown, is_log_axis(x), _POINTS)
    return [_trace(verdict, model, at) for model in verdict.rivals[:most]]


def _trace(verdict: Verdict, model: Model, at: NDArray[np.float64]) -> dict[str, Any]:
    y = np.asarray(model(at), dtype=float) * np.ones_like(at)
    label = growth_label(model.growth)
    return {
        "type": "scatter",
        "x": rounded(at),
        "y": rounded(y),
        "mode": "lines+text",
        "line": {"color": _COLOUR, "width": 2.2, "dash": "dashdot"},
        "text": [*[""] * (_POINTS - 2), label, ""],
        "textposition": "top left",
        "textfont": {"color": _COLOUR, "size": 13},
        "name": f"rival {label}",
        "hovertemplate": f"%{{x:.4~g}}: %{{customdata}} if {plain(model.growth)}<extra></extra>",
        "customdata": [quantity(v, verdict.unit) for v in y],
        "visible": False,
        "showlegend": False,
        "meta": {"growth": str(model.growth)},
    }
