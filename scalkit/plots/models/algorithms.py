"""Which algorithm an implementation seems to use, for each message size and number of processes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.perfmodels.collectives.identify import Cell, Identified
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import dots
from scalkit.plots.models.measured import in_words
from scalkit.plots.style import DATA, PALETTE, QUIET, blank, look, safe
from scalkit.support.text import percent

_ROW, _WIDE = 44, 13
_LIGHT = 0.35


def algorithms(found: Identified) -> go.Figure:
    """Return a map of the algorithms that were identified, over message size and processes.

    Parameters
    ----------
    found : Identified
        As `scalkit.perfmodels.collectives.identify` returns it.

    Returns
    -------
    plotly.graph_objects.Figure
        Colour and text say the most probable algorithm, paler where it is less sure, the hover text also those that predict the
        same there. A white dot marks where another one is predicted to be faster by more than 10 %.
    """
    sizes = sorted({cell.S for cell in found.cells})
    processes = sorted({cell.P for cell in found.cells})
    used = {cell.likeliest for cell in found.cells}
    names = [name for name in found.names if name in used]
    figure = blank(110 + _ROW * len(processes), _sentence(found))
    slower = {(cell.S, cell.P) for cell in found.better()}
    for k, name in enumerate(names):
        mine = [cell for cell in found.cells if cell.likeliest == name]
        colour = QUIET if name == "other" else PALETTE[k % len(PALETTE)]
        opacity = [max(_LIGHT, cell.probability) for cell in mine]
        figure.add_scatter(
            x=[sizes.index(cell.S) for cell in mine],
            y=[processes.index(cell.P) for cell in mine],
            mode="markers",
            marker={"symbol": "square", "size": 30, "color": colour, "opacity": opacity, "line": {"width": 0}},
            text=[_hover(cell) for cell in mine],
            hovertemplate="%{text}<extra></extra>",
            name=safe(name),
        )
    ringed = [cell for cell in found.cells if (cell.S, cell.P) in slower]
    if ringed:
        x, y = [sizes.index(cell.S) for cell in ringed], [processes.index(cell.P) for cell in ringed]
        ring = dots(x, y, "#ffffff", 11, "circle", rim=2, rim_colour=DATA)
        figure.add_scatter(**ring, hoverinfo="skip", name="another is predicted to be faster")
    figure.update_xaxes(
        _axis("message size S", [in_words("S", one).removeprefix("S = ") for one in sizes], -(-len(sizes) // _WIDE))
    )
    figure.update_yaxes(_axis("processes P", [f"{one:g}" for one in processes]))
    return figure


def _axis(title: str, texts: list[str], step: int = 1) -> dict[str, Any]:
    """Return an axis with a place for each text, of which some are shown."""
    ticks = {"tickvals": list(range(0, len(texts), step)), "ticktext": texts[::step], "range": [-0.6, len(texts) - 0.4]}
    return {**look("cells"), "title": {"text": title, "font": {"size": 12}}, **ticks}


def _hover(cell: Cell) -> str:
    others = [name for name in cell.algorithms if name != cell.likeliest]
    same = f" or {', '.join(others)}, which predict the same here" if others else ""
    lines = [
        f"<b>{safe(cell.likeliest)}</b>{safe(same)}, {percent(cell.probability)}",
        f"{in_words('S', cell.S)}, P = {cell.P:g}",
        f"measured {format_value(cell.time, 's')}",
    ]
    if np.isfinite(cell.predicted):
        lines.append(f"predicted {format_value(cell.predicted, 's')}")
    if cell.best not in cell.algorithms and np.isfinite(cell.best_time):
        lines.append(f"{safe(cell.best)} would take {format_value(cell.best_time, 's')}")
    return "<br>".join(lines)


def _sentence(found: Identified) -> str:
    counts: dict[str, int] = {}
    for cell in found.cells:
        counts[" or ".join(cell.algorithms)] = counts.get(" or ".join(cell.algorithms), 0) + 1
    said = ", ".join(f"{name} in {n}" for name, n in sorted(counts.items(), key=lambda one: -one[1]))
    return (
        f"Algorithms of {found.operation} in {len(found.cells)} cells of message size and processes: {said}; in "
        f"{len(found.better())} another one is predicted to be faster by more than 10 %."
    )
