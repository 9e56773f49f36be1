"""Curves of the models that lost, hidden in the figures of one function until one of them is asked for."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.judge import Verdict
from scalkit.judge.fit import Model
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.style import growth_label, is_log_axis, plain, quantity, rounded, safe
from scalkit.plots.verdicts.curves import reach, sample
from scalkit.plots.verdicts.fit import draw_fit
from scalkit.plots.verdicts.several import Line, axis_name, panels_of
from scalkit.support.arrays import Floats
from scalkit.support.colours import light

RIVAL = light("rival")
"""Colour of what lost."""

_POINTS, _MOST, _MOST_LINES, _EVERY = 17, 7, 3, 4


def fit_with_rivals(verdict: Verdict, most: int = _MOST) -> dict[str, Any]:
    """Return data and layout of the fit with the curves of the best rivals, not visible.

    Each curve says in ``meta["growth"]`` what it is, as do those of the model.
    """
    figure = draw_fit(verdict).plain()
    for trace in figure["data"]:
        if trace.get("legendgroup") == "model":
            trace["meta"] = {"growth": str(verdict.model.growth)}
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    at = sample(span.lowest, span.shown, is_log_axis(x), _POINTS)
    rivals = [_trace(verdict, model, at) for model in verdict.rivals[:most]]
    return {**figure, "data": [*figure["data"], *rivals]}


def plain_with(figure: go.Figure, traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return data and layout of a figure as plotly.js takes them, with more traces."""
    plain: dict[str, Any] = json.loads(figure.to_json())
    return {"data": [*plain["data"], *traces], "layout": plain["layout"]}


def hidden(model: Model) -> dict[str, Any]:
    """Return what every trace has that is not visible until somebody points at its model."""
    return {"type": "scatter", "visible": False, "showlegend": False, "meta": {"growth": term_of(model)}}


def term_of(model: Model) -> str:
    """Return what views call a model: its growth; over several parameters all its terms, as these tell it from others."""
    return str(model.growth) if len(model.parameters) == 1 else " + ".join(str(term.growth) for term in model.terms)


_LINE = {"color": RIVAL, "width": 2.2, "dash": "dashdot"}


def _trace(verdict: Verdict, model: Model, at: Floats) -> dict[str, Any]:
    """Return the hidden curve of a rival, with its label near the end."""
    y = np.asarray(model(at), dtype=float) * np.ones_like(at)
    label = growth_label(model.growth)
    above = bool(y[-2] >= float(verdict.model(at[-2])))
    return hidden(model) | {
        "x": rounded(at),
        "y": rounded(y),
        "mode": "lines+text",
        "line": _LINE,
        "text": [*[""] * (len(at) - 2), label, ""],
        "textposition": "top left" if above else "bottom center",
        "textfont": {"color": RIVAL, "size": 13},
        "name": f"rival {label}",
        "hovertemplate": f"%{{x:.4~g}}: %{{customdata}} if {plain(model.growth)}<extra></extra>",
        "customdata": [quantity(v, verdict.unit) for v in y],
    }


def rivals_along(verdict: SeveralVerdict, most: int = _MOST) -> list[dict[str, Any]]:
    """Return curves of the best rivals, for the figure of `scalkit.plots.several`.

    `most`: number of rivals.
    Returns: plain traces, not visible, which say in ``meta["growth"]`` whose they are: in each panel the curves beside
    the lowest, middle and highest line.
    """
    panels = panels_of(verdict, verdict.parameters)
    return [
        _curves(verdict, model, panel.lines) | {"xaxis": axis_name("x", number), "yaxis": axis_name("y", number)}
        for model in verdict.rivals[:most]
        for number, panel in enumerate(panels)
    ]


def _curves(verdict: SeveralVerdict, model: Model, lines: Sequence[Line]) -> dict[str, Any]:
    """Return one trace with gaps beside some of the lines of a panel."""
    kept = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), _MOST_LINES)).round().astype(int))
    x, y = [], []
    for line in (lines[i] for i in kept):
        x += [*line.x[::_EVERY], np.nan]
        y += [*np.asarray(model(line.at[::_EVERY])), np.nan]
    return hidden(model) | {
        "x": rounded(x),
        "y": rounded(y),
        "mode": "lines",
        "line": _LINE,
        "text": [quantity(v, verdict.unit) if np.isfinite(v) else "" for v in y],
        "name": f"rival {term_of(model)}",
        "hovertemplate": f"%{{x:.4~g}}: %{{text}} if {safe(term_of(model))}<extra></extra>",
    }
