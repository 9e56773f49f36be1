"""A diagram of the messages of one operation: who sends what to whom, round by round."""

from itertools import groupby

import plotly.graph_objects as go

from scalkit.perfmodels.collectives.message_flow import Flow
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import Drawing
from scalkit.plots.style import PALETTE, safe
from scalkit.support.arguments import require_kind

_ROW_PX, _LEAST_PX, _MOST_PX = 18, 240, 900


def message_flow(flow: Flow) -> go.Figure:
    """Return a diagram of processes over virtual time, with the messages of each round in a colour of their own.

    Parameters
    ----------
    flow : Flow
        As `scalkit.perfmodels.name_messages` returns it.
    """
    require_kind(flow, Flow, "the messages", "give what scalkit.perfmodels.name_messages returns")
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
