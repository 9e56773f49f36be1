"""Curves of rival models, hidden in the figure of one function until one is selected."""

from typing import Any

import numpy as np

from scalkit.judge import Verdict
from scalkit.judge.fit import Model
from scalkit.plots.drawing import Drawing
from scalkit.plots.style import growth_label, is_log_axis, plain, quantity, rounded
from scalkit.plots.verdicts.curves import reach, sample
from scalkit.plots.verdicts.fit import draw_fit
from scalkit.support.arrays import Floats
from scalkit.support.colours import light

RIVAL = light("rival")
"""Colour of what lost."""

_POINTS, _MOST = 17, 7


def fit_with_rivals(verdict: Verdict) -> Drawing:
    """Return the fit with the curves of the best rivals, not visible.

    Each curve says in ``meta["growth"]`` what it is, as do those of the model.
    """
    figure = draw_fit(verdict)
    for trace in figure.plain()["data"]:
        if trace.get("legendgroup") == "model":
            trace["meta"] = {"growth": str(verdict.model.growth)}
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    at = sample(span.lowest, span.shown, is_log_axis(x), _POINTS)
    for model in verdict.rivals[:_MOST]:
        figure.add_scatter(**_trace(verdict, model, at))
    return figure


def term_of(model: Model) -> str:
    """Return what views call a model: its growth; over several parameters all its terms, as these tell it from others."""
    return str(model.growth) if len(model.parameters) == 1 else " + ".join(str(term.growth) for term in model.terms)


def _trace(verdict: Verdict, model: Model, at: Floats) -> dict[str, Any]:
    """Return the hidden curve of a rival, with its label near the end."""
    y = np.asarray(model(at), dtype=float) * np.ones_like(at)
    label = growth_label(model.growth)
    above = bool(y[-2] >= float(verdict.model(at[-2])))
    return {
        "visible": False,
        "showlegend": False,
        "meta": {"growth": term_of(model)},
        "x": rounded(at),
        "y": rounded(y),
        "mode": "lines+text",
        "line": {"color": RIVAL, "width": 2.2, "dash": "dashdot"},
        "text": [*[""] * (len(at) - 2), label, ""],
        "textposition": "top left" if above else "bottom center",
        "textfont": {"color": RIVAL, "size": 13},
        "name": f"rival {label}",
        "hovertemplate": f"%{{x:.4~g}}: %{{customdata}} if {plain(model.growth)}<extra></extra>",
        "customdata": [quantity(v, verdict.unit) for v in y],
    }
