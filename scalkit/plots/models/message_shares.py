"""What messages cost beside their size, with intervals: overlap with work, strided data, the histogram of the bisection."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.perfmodels import Flow
from scalkit.perfmodels.fits.bisection import BisectionFit
from scalkit.perfmodels.fits.overlap import OverlapFit
from scalkit.perfmodels.fits.strides import StrideFit
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import Drawing, linked_dots, spread
from scalkit.plots.style import DATA, PALETTE, TROUBLE, blank, quantity, rounded, safe, value_axis

_COLOURS = tuple(colour for colour in PALETTE if colour not in (DATA, TROUBLE))
_BINS = 25


def message_shares(fit: OverlapFit | StrideFit | BisectionFit | Sequence[OverlapFit], *, simulated: bool = False) -> go.Figure:
    """Return shares of overlap over sizes, factors of strides, or the histogram of bandwidths in random matchings.

    Parameters
    ----------
    fit : OverlapFit or sequence of these, StrideFit, or BisectionFit
    simulated : bool
        Whether a simulator made the times; the axis says so.

    Raises
    ------
    UsageError
        If it is no such fit.
    """
    more = ", simulated" if simulated else ""
    if isinstance(fit, StrideFit):
        return _strides(fit, more)
    if isinstance(fit, BisectionFit):
        return _histogram(fit, more)
    fits = [fit] if isinstance(fit, OverlapFit) else list(fit) if isinstance(fit, Sequence) else []
    if not fits or not all(isinstance(one, OverlapFit) for one in fits):
        raise UsageError(f"a picture of shares needs a fit of overlap, strides or the bisection, got {type(fit).__name__}.")
    return _overlap(fits, more)


def _overlap(fits: Sequence[OverlapFit], more: str) -> go.Figure:
    said = "; ".join(str(one) for one in fits)
    figure = blank(300, f"Share of a transfer{more} that goes on while a process works: {said}.")
    for k, one in enumerate(fits):
        _points(figure, one, one.sizes, one.shares, f"the {one.side} works", _COLOURS[k])
    ticks = sorted({size for one in fits for size in one.sizes})
    figure.update_layout(
        xaxis={
            "type": "log",
            "title": {"text": "message size"},
            "tickmode": "array",
            "tickvals": ticks,
            "ticktext": [format_value(one, "B") for one in ticks],
        },
        yaxis={"title": {"text": f"hidden behind work{more}"}, "range": [-0.05, 1.05], "tickformat": ".0%"},
    )
    return figure


def _strides(fit: StrideFit, more: str) -> go.Figure:
    figure = blank(300, f"Time of strided messages over a contiguous one{more}: {fit}.")
    _points(figure, fit, fit.strides, fit.factors, format_value(fit.size, "B"), _COLOURS[0])
    figure.add_hline(y=1, line={"color": DATA, "width": 1, "dash": "dot"})
    ticks = [2**k for k in range(20) if 2**k <= max(fit.strides)]
    figure.update_layout(
        xaxis={"type": "log", "title": {"text": "stride, in blocks of 8 B"}, "tickmode": "array", "tickvals": ticks},
        yaxis=value_axis(min(*fit.low, 1.0), max(fit.high), "", f"times a contiguous message{more}"),
    )
    return figure


def _histogram(fit: BisectionFit, more: str) -> go.Figure:
    figure = blank(300, f"How often which bandwidth{more} was seen in random matchings, by number of processes.")
    edges = np.histogram_bin_edges(np.concatenate([one.ravel() for one in fit.bandwidths]), bins=_BINS)
    for k, p in enumerate(fit.processes):
        counts = np.histogram(fit.bandwidths[k], edges)[0]
        middle = (edges[1:] + edges[:-1]) / 2
        figure.add_bar(
            x=rounded(middle), y=(counts / counts.sum()).tolist(), width=np.diff(edges).tolist(), name=f"{p} processes",
            marker={"color": _COLOURS[k % len(_COLOURS)], "opacity": 0.6},
            text=[quantity(one, "B/s") for one in middle], textposition="none",
            hovertemplate=f"{p} processes, %{{text}}: %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="overlay",
        xaxis={"title": {"text": f"bandwidth of a process{more}"}, "ticksuffix": "B/s", "exponentformat": "SI"},
        yaxis={"title": {"text": "share of processes and rounds"}, "tickformat": ".0%"},
    )
    return figure


def _points(
    figure: go.Figure, fit: OverlapFit | StrideFit, x: Sequence[float], y: Sequence[float], name: str, colour: str
) -> None:
    low, high = fit.low, fit.high
    figure.add_scatter(
        **linked_dots(x, y, colour, 1.5, 7),
        name=name,
        text=[f"{a:g}: {b:.3g} ({c:.3g} to {d:.3g})" for a, b, c, d in zip(x, y, low, high, strict=True)],
        hovertemplate="%{text}<extra></extra>",
        error_y=spread(np.subtract(y, low), np.subtract(high, y), colour),
    )


_ROW_PX, _LEAST_PX, _MOST_PX = 18, 240, 900


def message_flow(flow: Flow) -> go.Figure:
    """Return a diagram of processes over virtual time, with the messages of each round in a colour of their own.

    Parameters
    ----------
    flow : Flow
        As `scalkit.perfmodels.name_messages` returns it.
    """
    figure = Drawing(min(_MOST_PX, _LEAST_PX + _ROW_PX * flow.P), flow.sentence)
    by_round = sorted(zip(flow.rounds, flow.messages, strict=True), key=lambda one: one[0])
    for number, members in groupby(by_round, key=lambda one: one[0]):
        x: list[float | None] = []
        y: list[int | None] = []
        text: list[str] = []
        for _, (source, to, n_bytes, sent, arrival) in members:
            x += [1e-6 * sent, 1e-6 * arrival, None]
            y += [source, to, None]
            said = f"{source} to {to}: {format_value(n_bytes, 'B')}, {1e-6 * sent:.2f} to {1e-6 * arrival:.2f} us"
            text += [said, said, ""]
        name = f"round {number}" if number else "protocol"
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            marker={"size": 9, "symbol": "arrow", "angleref": "previous"} if flow.P <= 64 else {"size": 3},
            line={
                "color": PALETTE[(number - 1) % len(PALETTE)] if number else "#98a3ae",
                "width": 1.6 if number else 1,
                "dash": "solid" if number else "dot",
            },
            text=text,
            hovertemplate=f"%{{text}}<extra>{safe(name)}</extra>",
            name=safe(name),
        )
    figure.update_xaxes({"title": {"text": "virtual time [us]"}, "rangemode": "tozero"})
    rows = {"title": {"text": "process"}, "range": [flow.P - 0.5, -0.5], "dtick": max(1, flow.P // 16), "zeroline": False}
    figure.update_yaxes(rows)
    figure.layout(showlegend=True)
    return figure.figure()
