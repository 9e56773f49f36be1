"""Curves of the models that lost, hidden in the figures of one function until one of them is asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from scalkit.colours import light
from scalkit.fit import Model
from scalkit.fit.several_model import SeveralModel
from scalkit.plots.style import growth_label, is_log_axis, plain, quantity, rounded, safe
from scalkit.plots.verdicts.curves import reach, sample
from scalkit.plots.verdicts.divergence import divergence_points, divergence_range, divergence_values
from scalkit.validation import Verdict

RIVAL = light("rival")
"""Colour of what lost."""

_POINTS = 17

Floats = NDArray[np.float64]


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


def rival_divergences(verdict: Verdict, most: int = 7) -> list[dict[str, Any]]:
    """Return the divergences of the best rivals from the expectation as plain traces, for the figure of divergences.

    `most`: number of rivals.
    """
    at, (low, high) = divergence_points(verdict, _POINTS), divergence_range(verdict)
    found = []
    for model in verdict.rivals[:most]:
        divergence = model.growth / verdict.expectation.growth
        y = divergence_values(divergence, at)
        label = growth_label(divergence)
        inside = np.flatnonzero((y >= low) & (y <= high))
        place = int(inside[2 * len(inside) // 3]) if len(inside) else 0
        above = bool(y[place] >= divergence_values(verdict.divergence, at)[place])
        trace = _curve(model, at, y, label, place, f"{'top' if above else 'bottom'} center")
        where = f"{safe(verdict.parameter)} = %{{x:.4~g}}"
        said = f"{where}: %{{y:.3~g}} times if {plain(model.growth)}<extra></extra>"
        found.append(trace | {"name": f"rival's divergence {label}", "hovertemplate": said})
    return found


def plain_with(figure: go.Figure, traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return data and layout of a figure as plotly.js takes them, with more traces."""
    plain: dict[str, Any] = json.loads(figure.to_json())
    return {"data": [*plain["data"], *traces], "layout": plain["layout"]}


def hidden(model: Model | SeveralModel) -> dict[str, Any]:
    """Return what every trace has that is not visible until somebody points at its model."""
    return {"type": "scatter", "visible": False, "showlegend": False, "meta": {"growth": term_of(model)}}


def term_of(model: Model | SeveralModel) -> str:
    """Return what views call a model: its growth; over several parameters all its terms, as these tell it from others."""
    return str(model.growth) if isinstance(model, Model) else " + ".join(str(term.growth) for term in model.terms)


def _curve(model: Model, x: Floats, y: Floats, label: str, place: int, side: str) -> dict[str, Any]:
    """Return a hidden curve with its label at one of its points."""
    text = [""] * len(x)
    text[place] = label
    return hidden(model) | {
        "x": rounded(x),
        "y": rounded(y),
        "mode": "lines+text",
        "line": {"color": RIVAL, "width": 2.2, "dash": "dashdot"},
        "text": text,
        "textposition": side,
        "textfont": {"color": RIVAL, "size": 13},
    }


def _trace(verdict: Verdict, model: Model, at: Floats) -> dict[str, Any]:
    y = np.asarray(model(at), dtype=float) * np.ones_like(at)
    label = growth_label(model.growth)
    above = bool(y[-2] >= float(verdict.model(at[-2])))
    return _curve(model, at, y, label, len(at) - 2, "top left" if above else "bottom center") | {
        "name": f"rival {label}",
        "hovertemplate": f"%{{x:.4~g}}: %{{customdata}} if {plain(model.growth)}<extra></extra>",
        "customdata": [quantity(v, verdict.unit) for v in y],
    }
