"""Where the growth changes: measured values, the pieces of the model as lines, change points as vertical lines."""

import math

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.judge import Verdict
from scalkit.judge.fit.piecewise import ChangePoint, Piecewise, Segment
from scalkit.judge.pieces import piecewise
from scalkit.measure import Series
from scalkit.plots.drawing import SILENT, crowd, dots, lines, note
from scalkit.plots.style import (
    DATA,
    PALETTE,
    QUIET,
    TROUBLE,
    blank,
    growth_label,
    is_log_axis,
    metric_word,
    number,
    quantity,
    safe,
    value_axis,
    x_axis,
)
from scalkit.plots.verdicts.curves import sample

_COLOURS = tuple(colour for colour in PALETTE if colour not in (DATA, TROUBLE))
_LABEL_ROOM = 22
_POINTS = 25


def pieces(subject: Verdict | Series | Piecewise, model: Piecewise | None = None) -> go.Figure:
    """Return measured values, the pieces of a piecewise model, and its change points as a plotly figure.

    Parameters
    ----------
    subject : Verdict, Series or Piecewise
        What was measured; a `Piecewise` brings the values that were fitted.
    model : Piecewise, optional
        By default `scalkit.piecewise` of the subject.

    Returns
    -------
    plotly.graph_objects.Figure
        Both axes logarithmic where the values allow it. The band at a change point lies between the two settings that it is
        known to lie between.

    Raises
    ------
    DataError
        If the subject is none of these.
    """
    if not isinstance(subject, Verdict | Series | Piecewise):
        raise DataError(f"a picture of pieces needs a verdict, a series or a piecewise model, got {type(subject).__name__}.")
    found = model or (subject if isinstance(subject, Piecewise) else piecewise(subject))
    series = subject if isinstance(subject, Series) else getattr(subject, "series", None)
    x, y = np.array(found.x), np.array(found.y)
    log = is_log_axis(x)
    figure = blank(330 + _LABEL_ROOM, _sentence(found, series))
    figure.update_layout(margin={"t": 12 + _LABEL_ROOM}, legend={"y": 1.1})
    for index, change in enumerate(found.change_points):
        _add_change(figure, change, log, is_low=index % 2 == 1)
    for index, segment in enumerate(found.segments):
        _add_piece(figure, segment, _COLOURS[index % len(_COLOURS)], log)
    _add_values(figure, found, series)
    seen = y if series is None else np.asarray(series.values, dtype=float)
    seen = np.concatenate([seen[np.isfinite(seen) & (seen > 0)], y, found(x)])
    metric = "value" if series is None else metric_word(series)
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), found.parameter))
    figure.update_yaxes(value_axis(float(seen.min()), float(seen.max()), found.unit, safe(metric)))
    return figure


def _sentence(found: Piecewise, series: Series | None) -> str:
    name = "" if series is None else f"{series.function}: "
    return f"{name}{len(found.segments)} piece{'s' * (not found.is_single)}. {found.sentence}"


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


def _add_values(figure: go.Figure, found: Piecewise, series: Series | None) -> None:
    if series is not None and series.values.shape[1] > 1:
        figure.add_scatter(**crowd(series.x, series.values, QUIET, 0.5), **SILENT)
    figure.add_scatter(
        **dots(found.x, found.y, DATA, 8),
        text=[quantity(v, found.unit, 4) for v in found.y],
        hovertemplate=f"{safe(found.parameter)} = %{{x:.6~g}}: %{{text}}<extra></extra>",
        name="measured",
    )
