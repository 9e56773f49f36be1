"""Measured values without a claim: one line for each function."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure import Series, SeveralSeries, series, several_series
from scalkit.measure.schema import parameters_of
from scalkit.plots.drawing import SYMBOLS, linked_dots
from scalkit.plots.style import PALETTE, blank, metric_word, quantity, safe, value_axis, x_axis
from scalkit.plots.verdicts.curves import groups_along


def measured(data: xr.Dataset) -> go.Figure:
    """Return the measured values of all functions over the first parameter, of the first metric.

    Parameters
    ----------
    data : Dataset of measurements

    Returns
    -------
    plotly.graph_objects.Figure
        Both axes logarithmic where the values allow it. Over several parameters the points at each
        set of values of the others are joined.

    Raises
    ------
    DataError
        If nothing was measured.
    """
    names = parameters_of(data)
    found: list[Series | SeveralSeries] = list(several_series(data) if len(names) > 1 else series(data))
    if not found:
        raise DataError("there is nothing to plot: the measurements have no values.")
    shown = [one for one in found if one.metric == found[0].metric]
    first = shown[0]
    functions = ", ".join(one.function for one in shown)
    over = " and ".join(names)
    figure = blank(400 + 22 * len(shown), f"{metric_word(first)} of {functions} over {over}.")
    for place, one in enumerate(shown):
        _add(figure, one, place)
    x = np.unique(np.concatenate([one.points[:, 0] for one in shown]))
    y = np.concatenate([one.y for one in shown])
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), first.parameters[0]))
    low, high = float(np.nanmin(y)), float(np.nanmax(y))
    figure.update_yaxes(value_axis(low, high, first.unit, safe(metric_word(first))))
    figure.update_layout(legend={"y": -0.16, "yanchor": "top"})
    return figure


def _add(figure: go.Figure, one: Series | SeveralSeries, place: int) -> None:
    """Add the points of a function; lines join those that differ in the first parameter only."""
    colour, symbol = PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)]
    x: list[float | None] = []
    y: list[float | None] = []
    for rows in groups_along(one.points, 0):
        # A missing value ends the line before those at other values begin.
        x += [*one.points[rows, 0].tolist(), None]
        y += [*one.y[rows].tolist(), None]
    figure.add_scatter(
        **linked_dots(x, y, colour, 1.4, 8, symbol=symbol, rim=1.6),
        text=["" if value is None else quantity(value, one.unit) for value in y],
        name=safe(one.function),
        hovertemplate=f"<b>{safe(one.function)}</b><br>%{{x}}: %{{text}}<extra></extra>",
    )
