"""A rooted operation over the position of its root: one line for each placement of the processes."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from scalkit.perfmodels import RootedTimes
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import Drawing
from scalkit.plots.style import PALETTE, quantity, rounded, safe, value_axis, x_axis

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def roots(times: RootedTimes) -> go.Figure:
    """Return the modelled time over the rank of the root, a line for each placement.

    Parameters
    ----------
    times : RootedTimes
        As `scalkit.perfmodels.over_roots` returns it.
    """
    where = f"{times.operation} by {times.algorithm}, {times.P} processes, {format_value(times.S, 'B')}"
    worst = ", ".join(
        f"{placement}: root {times.roots[int(np.argmax(row))]} is slowest with {quantity(float(row.max()), 's')}"
        for placement, row in zip(times.placements, times.times, strict=True)
    )
    figure = Drawing(300, f"Modelled time of {where}, over the rank of the root. {worst}.")
    x = np.array(times.roots, dtype=float)
    for k, (placement, row) in enumerate(zip(times.placements, times.times, strict=True)):
        figure.add_scatter(
            x=rounded(x),
            y=rounded(row),
            mode="lines+markers",
            marker={"size": 5},
            line={"color": PALETTE[k % len(PALETTE)], "width": 1.8, "dash": _DASHES[k % len(_DASHES)]},
            text=[quantity(float(one), "s") for one in row],
            hovertemplate=f"root %{{x}}: %{{text}}<extra>{safe(str(placement))}</extra>",
            name=safe(str(placement)),
        )
    ends = x_axis(
        np.linspace(x[0], x[-1] if len(x) > 1 else x[0] + 1, 9).round(), float(x[0]), float(x[-1]), "rank of the root"
    )
    low, high = float(x[0]), float(x[-1])
    pad = 0.03 * (high - low or 1.0)
    figure.update_xaxes(ends | {"type": "linear", "range": [low - pad, high + pad]})
    figure.update_yaxes(value_axis(float(times.times.min()), float(times.times.max()), "s", "time, model"))
    return figure.figure()
