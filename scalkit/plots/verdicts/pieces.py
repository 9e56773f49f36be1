"""Where the growth changes: measured values, the pieces of the model as lines, change points as vertical lines."""

import math

import numpy as np
import plotly.graph_objects as go

from scalkit.judge.fit.piecewise import ChangePoint, Piecewise, Segment
from scalkit.plots.drawing import dots, lines, note
from scalkit.plots.style import (
    DATA,
    PALETTE,
    TROUBLE,
    blank,
    growth_label,
    is_log_axis,
    number,
    quantity,
    safe,
    value_axis,
    x_axis,
)
from scalkit.plots.verdicts.curves import sample
from scalkit.support.text import counted

_COLOURS = tuple(colour for colour in PALETTE if colour not in (DATA, TROUBLE))
_LABEL_ROOM = 22
_POINTS = 25


def pieces(model: Piecewise) -> go.Figure:
    """Return measured values, the pieces of a piecewise model, and its change points as a plotly figure.

    Parameters
    ----------
    model : Piecewise
        Result of `scalkit.piecewise`, with the values that were fitted.

    Returns
    -------
    plotly.graph_objects.Figure
        Both axes logarithmic where the values allow it. The band at a change point lies between the two settings that it is
        known to lie between.
    """
    x, y = np.array(model.x), np.array(model.y)
    log = is_log_axis(x)
    figure = blank(330 + _LABEL_ROOM, f"{counted(len(model.segments), 'piece')}. {model.sentence}")
    figure.update_layout(margin={"t": 12 + _LABEL_ROOM}, legend={"y": 1.1})
    for index, change in enumerate(model.change_points):
        _add_change(figure, change, log, is_low=index % 2 == 1)
    for index, segment in enumerate(model.segments):
        _add_piece(figure, segment, _COLOURS[index % len(_COLOURS)], log)
    figure.add_scatter(
        **dots(model.x, model.y, DATA, 8),
        text=[quantity(v, model.unit, 4) for v in model.y],
        hovertemplate=f"{safe(model.parameter)} = %{{x:.6~g}}: %{{text}}<extra></extra>",
        name="measured",
    )
    seen = np.concatenate([y, model(x)])
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), model.parameter))
    figure.update_yaxes(value_axis(float(seen.min()), float(seen.max()), model.unit, "value"))
    return figure


def _add_change(figure: go.Figure, change: ChangePoint, log: bool, *, is_low: bool) -> None:
    """Add the line of a change point, the band in which it lies, and its label; every second label stands lower."""
    at, scale = change.at, math.log10 if log else float
    figure.add_vrect(x0=change.after, x1=change.before, fillcolor=TROUBLE, opacity=0.1, line_width=0, layer="below")
    figure.add_vline(x=at, line={"color": TROUBLE, "width": 1.5, "dash": "dot"})
    figure.add_annotation(
        **note(f"{safe(change.right.parameters[0])} = {number(at)}", TROUBLE),
        x=scale(at),
        y=1,
        yref="paper",
        yanchor="top" if is_low else "bottom",
        yshift=-4 if is_low else 2,
        bgcolor="rgba(255,255,255,0.8)",
    )


def _add_piece(figure: go.Figure, segment: Segment, colour: str, log: bool) -> None:
    x = sample(segment.first, segment.last, log, _POINTS)
    y = np.asarray(segment.model(x), dtype=float)
    growth = growth_label(segment.model.growth)
    where = f"{segment.first:g} to {segment.last:g}"
    figure.add_scatter(
        **lines(x, y, colour, 2.6),
        text=[quantity(v, segment.model.unit) for v in y],
        name=f"{where}: {'constant' if segment.model.growth.is_constant else growth}",
        hovertemplate="%{x:.4~g}: model %{text}<extra></extra>",
    )
