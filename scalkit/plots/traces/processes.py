"""When each process is done: one line for each operation over the processes, and when the last one of a repetition is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.measure.process_times import ProcessTimes
from scalkit.plots.drawing import Drawing
from scalkit.plots.marks import lines, linked_dots, spread
from scalkit.plots.style import PALETTE, quantity, rounded, safe, value_axis, x_axis

_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x")
_MOST = 8
_LEAST_S = 1e-9


def processes(times: Sequence[ProcessTimes]) -> go.Figure:
    """Return when each process is done, a line for each operation and setting.

    Parameters
    ----------
    times : sequence of ProcessTimes
        As `scalkit.measure.process_times` returns them; chosen ones, 8 at most.

    Returns
    -------
    plotly.graph_objects.Figure
        Medians over the repetitions, then over the runs; bars from the smallest to the largest run. A dotted line is the
        completion: the end of the last process in each repetition, whichever it was.

    Raises
    ------
    DataError
        If there are none, or too many to tell apart.
    """
    chosen = list(times)
    if not 0 < len(chosen) <= _MOST:
        raise DataError(f"a plot of processes takes 1 to {_MOST} operations, got {len(chosen)}; choose some of them.")
    alone = len({(one.parameter, one.x) for one in chosen}) == 1
    drawing = Drawing(340, " ".join(map(str, chosen)))
    most = max(one.times.shape[1] for one in chosen)
    for place, one in enumerate(chosen):
        _add(drawing, one, place, alone=alone, end=most - 1)
    ranks = np.arange(most, dtype=float)
    axis = x_axis(np.linspace(0, max(most - 1, 1), min(most, 9)).round(), 0.0, float(max(most - 1, 1)), "process")
    drawing.update_xaxes(axis | {"type": "linear", "range": [-0.03 * most - 0.05, ranks[-1] + 0.03 * most + 0.05]})
    values = [value for one in chosen for value in (*one.times[np.isfinite(one.times)], one.completion)]
    low, high = max(_LEAST_S, min(values)), max(_LEAST_S, *values)
    title = f"done after, {chosen[0].parameter} = {chosen[0].x:g}" if alone else "done after"
    drawing.update_yaxes(value_axis(low, high, "s", safe(title)))
    return drawing.figure()


def _add(drawing: Drawing, one: ProcessTimes, place: int, *, alone: bool, end: int) -> None:
    colour = PALETTE[place % len(PALETTE)]
    name = safe(one.function if alone else f"{one.function}, {one.parameter} = {one.x:g}")
    each = np.maximum(one.of_each, _LEAST_S)
    low, high = (np.maximum(f(one.times, axis=0), _LEAST_S) for f in (np.nanmin, np.nanmax))
    ranks = np.arange(len(each), dtype=float)
    share = [
        f"{quantity(float(t), 's')}, the last in {100 * s:.0f} %" for t, s in zip(each, one.share_last, strict=True)
    ]
    drawing.add_scatter(
        **linked_dots(ranks, each, colour, 1.6, 7, symbol=_SYMBOLS[place % len(_SYMBOLS)]),
        name=name,
        text=share,
        hovertemplate=f"<b>{name}</b><br>process %{{x}}: %{{text}}<extra></extra>",
        error_y=spread(each - low, high - each, colour, thickness=1, width=3),
    )
    drawing.add_scatter(
        **lines([0, max(end, 1)], rounded([one.completion, one.completion]), colour, 1.2, "dot"),
        name="dotted: the last of all",
        showlegend=place == 0,
        hovertemplate=f"<b>{name}</b><br>last of all: {quantity(one.completion, 's')}<extra></extra>",
    )
