"""Strided messages over their stride: figure 1(b) of the paper on performance models."""

import numpy as np
import plotly.graph_objects as go

from scalkit.perfmodels.fits.strides import StrideFit
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import lines, linked_dots, spread
from scalkit.plots.models.measured import model_axis
from scalkit.plots.style import DATA, MODEL, blank, quantity, value_axis
from scalkit.support.arguments import require_kind


def strides(fit: StrideFit, *, simulated: bool = False) -> go.Figure:
    """Return the time of strided messages over their stride, with the contiguous message and the worst case as lines.

    Parameters
    ----------
    fit : StrideFit
        As `scalkit.perfmodels.fits.strides.fit_strides` returns it, or ``card.fits["datatypes"]``.
    simulated : bool
        Whether a simulator made the times; the axis says so.
    """
    require_kind(fit, StrideFit, "the fit", "give card.fits['datatypes'] of a model card")
    times, low, high = (fit.contiguous * np.array(one) for one in (fit.factors, fit.low, fit.high))
    worst = fit.worst_case()
    more = ", simulated" if simulated else ""
    figure = blank(300, f"Time of strided messages over their stride{more}: {fit}.")
    figure.add_scatter(
        **linked_dots(np.array(fit.strides), times, DATA, 1.5, 7),
        text=[f"stride {k}: {quantity(t, 's')}, {f:.3g} times" for k, t, f in zip(fit.strides, times, fit.factors, strict=True)],
        hovertemplate="%{text}<extra></extra>",
        name=format_value(fit.size, "B"),
        error_y=spread(times - low, high - times, DATA),
    )
    ends = [fit.strides[0], fit.strides[-1]]
    for at, name, dash in ((worst(S=fit.size), f"worst case, {worst.statement}", "dash"), (fit.contiguous, "contiguous", "dot")):
        figure.add_scatter(**lines(ends, np.array([at, at]), MODEL, 1.5, dash), name=name, hoverinfo="skip")
    ticks = model_axis("stride", np.array(fit.strides, dtype=float))
    figure.update_xaxes(ticks | {"title": {"text": "stride, in blocks of 8 B"}})
    figure.update_yaxes(value_axis(min(*low, fit.contiguous), float(high.max()), "s", f"time, one way{more}"))
    return figure
