"""A figure while it is made: plain dictionaries, which cost a twentieth of what plotly's checked objects do."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from scalkit.plots.style import layout_of, rounded

SYMBOLS: Final = ("circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star")
"""Of points, by which curves are told apart."""

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


def linked_dots(x: Any, y: Any, colour: Any, width: float, size: int, *, dash: str | None = None, **how: Any) -> dict[str, Any]:
    """Return points with a line through them; `how` as for `dots`."""
    return dots(x, y, colour, size, **how) | lines(x, y, colour, width, dash) | {"mode": "lines+markers"}


def crowd(x: Any, values: Any, colour: Any, opacity: float) -> dict[str, Any]:
    """Return all values at each place, of shape (places, values), as small pale points."""
    at = np.repeat(x, np.shape(values)[1])
    return {"x": rounded(at), "y": rounded(values), "mode": "markers", "marker": {"size": 4, "color": colour, "opacity": opacity}}


def band(x: Any, low: Any, high: Any, colour: str) -> dict[str, Any]:
    """Return the filled room between two curves over the same places."""
    edge = {"x": rounded(np.concatenate([x, x[::-1]])), "y": rounded(np.concatenate([low, high[::-1]])), "mode": "lines"}
    return edge | {"fill": "toself", "fillcolor": colour, "line": {"width": 0}}


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


_NO_TEMPLATE = {"data": {"scatter": [{"type": "scatter"}]}}


class Drawing:
    """Takes traces and layout as a plotly figure does, unchecked until `figure` is asked for.

    `height` in px.
    `alt`: one sentence that says what the figure shows.
    """

    def __init__(self, height: int, alt: str) -> None:
        self._data: list[dict[str, Any]] = []
        self._layout: dict[str, Any] = {**layout_of(height, alt), "template": _NO_TEMPLATE}

    def add_scatter(self, **trace: Any) -> None:
        """Add a trace of points or lines."""
        self._data.append({"type": "scatter", **trace})

    def add_heatmap(self, **trace: Any) -> None:
        """Add a matrix of colours."""
        self._data.append({"type": "heatmap", **trace})

    def layout(self, **properties: Any) -> None:
        """Set properties of the layout."""
        self._layout |= properties

    def add_shape(self, **shape: Any) -> None:
        """Add a line or a rectangle."""
        self._layout.setdefault("shapes", []).append(shape)

    def add_annotation(self, **annotation: Any) -> None:
        """Add a text."""
        self._layout.setdefault("annotations", []).append(annotation)

    def update_xaxes(self, axis: Mapping[str, Any]) -> None:
        """Set properties of the x axis."""
        self._layout["xaxis"] = {**self._layout.get("xaxis", {}), **axis}

    def update_yaxes(self, axis: Mapping[str, Any]) -> None:
        """Set properties of the y axis."""
        self._layout["yaxis"] = {**self._layout.get("yaxis", {}), **axis}

    def plain(self) -> dict[str, Any]:
        """Return data and layout as plotly.js takes them."""
        return {"data": self._data, "layout": self._layout}

    def figure(self) -> go.Figure:
        """Return a plotly figure, which checks every property."""
        return go.Figure(self.plain())
