"""A figure while it is made: plain dictionaries, which cost a twentieth of what plotly's checked objects do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from scalkit.plots.style import layout_of

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
