"""What figures are made of: lines, dots, spreads, areas and notes, as properties of plotly's traces and shapes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scalkit.plots.style import rounded

SILENT: Final = {"hoverinfo": "skip", "showlegend": False}
"""Of a trace that neither the pointer nor the legend names."""


def lines(x: Any, y: Any, colour: Any, width: float, dash: str | None = None) -> dict[str, Any]:
    """Return a line through points; `dash` as plotly names it. A list is taken as it is, anything else rounded."""
    stroke = {"color": colour, "width": width} | ({} if dash is None else {"dash": dash})
    return {"x": _values(x), "y": _values(y), "mode": "lines", "line": stroke}


def dots(
    x: Any, y: Any, colour: Any, size: int, symbol: Any = None, *, rim: float | None = None, rim_colour: Any = None
) -> dict[str, Any]:
    """Return points; `rim` in px is the width of the line around each, which has their colour if no other is given."""
    marker = {"color": colour, "size": size} | ({} if symbol is None else {"symbol": symbol})
    if rim is not None:
        marker["line"] = {"width": rim, "color": rim_colour or colour}
    return {"x": _values(x), "y": _values(y), "mode": "markers", "marker": marker}


def linked_dots(
    x: Any, y: Any, colour: Any, width: float, size: int, *, dash: str | None = None, **how: Any
) -> dict[str, Any]:
    """Return points with a line through them; `how` as for `dots`."""
    return dots(x, y, colour, size, **how) | lines(x, y, colour, width, dash) | {"mode": "lines+markers"}


def spread(below: Any, above: Any, colour: str, *, thickness: float = 1.2, width: float = 4) -> dict[str, Any]:
    """Return error bars that reach so far below and above their points."""
    low, high = (rounded(np.maximum(np.asarray(one, dtype=float), 0)) for one in (below, above))
    ends = {"array": high, "arrayminus": low, "thickness": thickness, "width": width, "color": colour}
    return {"type": "data", "symmetric": False, **ends}


def area(colour: str) -> dict[str, Any]:
    """Return a filled rectangle without a border, below everything."""
    return {"type": "rect", "fillcolor": colour, "line": {"width": 0}, "layer": "below"}


def note(text: str, colour: str, size: int = 11) -> dict[str, Any]:
    """Return a text without an arrow."""
    return {"text": text, "showarrow": False, "font": {"size": size, "color": colour}}


def _values(given: Any) -> Any:
    return given if isinstance(given, list) else rounded(given)
