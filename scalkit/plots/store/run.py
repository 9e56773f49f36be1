"""The measurements of one run of a store with their quartiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scalkit.errors import DataError
from scalkit.plots.drawing import Drawing
from scalkit.plots.marks import linked_dots, spread
from scalkit.plots.store.suites import parameter_axis
from scalkit.plots.style import METRIC_WORDS, PALETTE, quantity, rounded, safe, value_axis
from scalkit.stats.samples import Floats, Integers

if TYPE_CHECKING:
    import plotly.graph_objects as go


_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star")


@dataclass(frozen=True, eq=False)
class Quartiles:
    """A suite of one run, as it is drawn.

    `name`: for the legend.
    `x_name`, `metric`, `unit`: unit without prefix.
    `x` of shape (points,): ascending.
    `least`, `q1`, `median`, `q3` of shape (points,), in `unit`.
    `root` of shape (points,), in `unit`: median of what root alone needed; NaN where that is unknown.
    `is_hollow`: whether it is simulated, or more processes than cores took part.
    """

    name: str
    x_name: str
    metric: str
    unit: str
    x: Integers
    least: Floats
    q1: Floats
    median: Floats
    q3: Floats
    root: Floats
    is_hollow: bool


def quartiles(suites: Sequence[Quartiles]) -> go.Figure:
    """Return suites over the same parameter as one plotly figure.

    Returns: symbols are medians, bars reach from the first to the third quartile, dots are the least values; a dotted
    line is what root alone needed.
    Raises DataError if there is no suite.
    """
    if not suites:
        raise DataError("a figure of quartiles needs a suite, got none.")
    first = suites[0]
    every = np.concatenate([np.concatenate([one.least, one.q3]) for one in suites])
    drawing = Drawing(300 + 20 * len(suites), _alt(suites))
    for place, one in enumerate(suites):
        _add(drawing, one, place)
    x = np.unique(np.concatenate([one.x for one in suites])).astype(float)
    drawing.update_xaxes(parameter_axis(x, first.x_name))
    word = METRIC_WORDS.get(first.metric, first.metric)
    drawing.update_yaxes(value_axis(float(np.nanmin(every)), float(np.nanmax(every)), first.unit, safe(word)))
    figure = drawing.figure()
    figure.update_layout(legend={"orientation": "v", "y": -0.24, "yanchor": "top"}, showlegend=True)
    return figure


def _add(drawing: Drawing, one: Quartiles, place: int) -> None:
    colour, symbol = PALETTE[place % len(PALETTE)], _SYMBOLS[place % len(_SYMBOLS)]
    x = rounded(np.maximum(one.x, 1) if one.x_name == "msg_By" else one.x)
    texts = [
        f"{quantity(float(med), one.unit)} ({quantity(float(low), one.unit)} to {quantity(float(high), one.unit)})"
        for med, low, high in zip(one.median, one.q1, one.q3, strict=True)
    ]
    drawing.add_scatter(
        **linked_dots(x, one.median, colour, 1.6, 7, symbol=f"{symbol}-open" if one.is_hollow else symbol, rim=1.4),
        name=safe(one.name),
        legendgroup=str(place),
        text=texts,
        hovertemplate=f"<b>{safe(one.name)}</b><br>{safe(one.x_name)} = %{{x}}: %{{text}}<extra></extra>",
        error_y=spread(one.median - one.q1, one.q3 - one.median, colour),
    )
    quiet = {"x": x, "showlegend": False, "legendgroup": str(place), "hoverinfo": "skip"}
    drawing.add_scatter(
        **quiet, y=rounded(one.least), mode="markers", marker={"color": colour, "size": 4, "symbol": "circle"}
    )
    if np.isfinite(one.root).any():
        drawing.add_scatter(
            **quiet, y=rounded(one.root), mode="lines", line={"color": colour, "width": 1, "dash": "dot"}
        )


def _alt(suites: Sequence[Quartiles]) -> str:
    first = suites[0]
    axis = "message size" if first.x_name == "msg_By" else first.x_name
    word = METRIC_WORDS.get(first.metric, first.metric)
    named = "; ".join(one.name for one in suites)
    return f"Medians, quartiles and least values of the {word} over {axis}: {named}."
