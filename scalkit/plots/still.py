"""Figures that stay where no script draws them: in exported notebooks and on GitHub a still picture stands for them."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.plots.still_marks import INK, TAG, bars, boxes, fits, further, one_of, spreads, stacked, text_of

_WIDTH, _HEIGHT, _LOW = 900, 360, 200
_MARGIN = {"l": 76, "r": 16, "t": 46, "b": 52}
_QUIET, _GRID = "#777777", "#dddddd"
_DASHES = {"dot": "2 3", "dash": "8 5", "longdash": "12 6", "dashdot": "8 4 2 4"}
_LETTER = 6.4
_UNDRAWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML may have."""


class Figure(go.Figure):  # type: ignore[misc]
    """A figure of plotly that brings a still picture of itself along."""

    def _ipython_display_(self) -> None:
        import plotly.io as pio

        if pio.renderers.default != "plotly_mimetype":
            super()._ipython_display_()
            return
        ipython: Any = importlib.import_module("IPython.display")
        ipython.display({**self._repr_mimebundle_(), "image/svg+xml": svg_of(self)}, raw=True)


def svg_of(figure: go.Figure) -> str:
    """Return a figure as SVG: lines, points, areas, bars, boxes and matrices of colours, with axes and legend."""
    layout = figure.layout.to_plotly_json()
    traces = [one.to_plotly_json() for one in figure.data if one.visible in (None, True)]
    width, height = layout.get("width") or _WIDTH, layout.get("height") or _HEIGHT
    given = layout.get("margin") or {}
    least = _MARGIN if height > _LOW else dict.fromkeys(_MARGIN, 0)
    margin = {side: max(room, given.get(side) or 0) for side, room in least.items()}
    axes = Axes(layout, traces, (margin["l"], margin["t"], width - margin["l"] - margin["r"], height - margin["t"] - margin["b"]))
    said = escape(str((layout.get("meta") or {}).get("alt", "figure")), quote=True)
    ends = stacked(traces, layout.get("barmode"))
    groups = list(dict.fromkeys(str(one.get("offsetgroup", "")) for one in traces if one.get("type") == "box"))
    parts = [*_shapes(layout, axes), *axes.frames()]
    for k, trace in enumerate(traces):
        if k in ends:
            parts += bars(trace, axes, ends[k])
        elif trace.get("type") == "box":
            parts += boxes(trace, axes, 12 * (groups.index(str(trace.get("offsetgroup", ""))) - (len(groups) - 1) / 2))
        parts += _drawn(trace, axes)
    parts += [*_notes(layout, axes), *(_legend(traces, margin["l"], width) if layout.get("showlegend") is not False else ())]
    return _UNDRAWABLE.sub(
        "\ufffd",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{said}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="#ffffff"/>'
        f"{''.join(parts)}</svg>",
    )


def _shapes(layout: Mapping[str, Any], axes: Axes) -> Iterator[str]:
    """Yield rectangles and lines."""
    for one in layout.get("shapes") or ():
        x0, x1, y0, y1 = (axes.spot_of(one, end) for end in ("x0", "x1", "y0", "y1"))
        if not (fits(x0, y0) and fits(x1, y1)):
            continue
        line = one.get("line") or {}
        stroke = f'stroke="{escape(str(line.get("color", _QUIET)))}" stroke-width="{line.get("width", 2)}"'
        if one.get("type") == "line":
            yield f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" {stroke}/>'
        elif one.get("type") == "rect":
            where = f'x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" height="{abs(y1 - y0):.1f}"'
            yield f'<rect {where} fill="{escape(str(one.get("fillcolor", "none")))}" opacity="{one.get("opacity", 1)}" {stroke}/>'


def _notes(layout: Mapping[str, Any], axes: Axes) -> Iterator[str]:
    """Yield annotations."""
    for one in layout.get("annotations") or ():
        x, y = axes.spot_of(one, "x"), axes.spot_of(one, "y")
        if fits(x, y) and one.get("text"):
            anchor = {"left": "start", "right": "end"}.get(one.get("xanchor", ""), "middle")
            shift = {"top": 10, "bottom": -3}.get(one.get("yanchor", ""), 4)
            yield text_of(x + (one.get("xshift") or 0), y - (one.get("yshift") or 0) + shift, str(one["text"]), anchor)


class Axes:
    """Where values lie in the picture, for each pair of axes."""

    def __init__(
        self, layout: Mapping[str, Any], traces: Sequence[Mapping[str, Any]], area: tuple[float, float, float, float]
    ) -> None:
        self._layout, self._area = layout, area
        self._pairs = sorted({(one.get("xaxis", "x"), one.get("yaxis", "y")) for one in traces})
        self._values: dict[str, list[Any]] = {}
        for one in traces:
            for letter in "xy":
                values = one.get(letter)
                of = self._values.setdefault(one.get(f"{letter}axis", letter), [])
                of.extend([*([] if values is None else list(values)), *further(one, letter)])
        self._range = {name: self._range_of(name) for name in self._values}

    def of(self, name: str) -> Mapping[str, Any]:
        """Return the layout of an axis, as ``"x2"``."""
        found: Mapping[str, Any] = self._layout.get(f"{name[0]}axis{name[1:]}", {})
        return found

    def number(self, name: str, value: Any) -> float:
        """Return a value as its axis counts: logarithms, places of words."""
        if isinstance(value, str):
            words = list(dict.fromkeys(one for one in self._values[name] if isinstance(one, str)))
            return float(words.index(value)) if value in words else math.nan
        if value is None or (self.of(name).get("type") == "log" and not value > 0):
            return math.nan
        return math.log10(value) if self.of(name).get("type") == "log" else float(value)

    def place(self, name: str, value: Any) -> float:
        """Return where a value lies, in px."""
        return self._at(name, self.number(name, value))

    def spot_of(self, one: Mapping[str, Any], end: str) -> float:
        """Return where an end of a shape or a note is, as ``"x0"``: on an axis, or at a share of the whole; NaN if unknown.

        Of axes with logarithms plotly takes values for shapes, and logarithms for notes.
        """
        of, value = str(one.get(f"{end[0]}ref", end[0])), one.get(end)
        if value is None or isinstance(value, str):
            return math.nan
        left, top, wide, tall = self._area
        if not of.strip("xy0123456789"):
            return math.nan if of not in self._range else self.place(of, value) if len(end) > 1 else self._at(of, float(value))
        share = float(value)
        return left + share * wide if end[0] == "x" else top + (1 - share) * tall

    def _at(self, name: str, number: float) -> float:
        low, high = self._range[name]
        first, last = self.span(name)
        return first + (number - low) / ((high - low) or 1.0) * (last - first)

    def wide(self, name: str, value: float, width: float) -> float:
        """Return how wide, in px, what has a width around a value is."""
        return max(abs(self.place(name, value + width / 2) - self.place(name, value - width / 2)), 1.0)

    def span(self, name: str) -> tuple[float, float]:
        """Return where an axis begins and ends, in px."""
        left, top, wide, tall = self._area
        low, high = self.of(name).get("domain", (0, 1))
        return (left + low * wide, left + high * wide) if name[0] == "x" else (top + (1 - low) * tall, top + (1 - high) * tall)

    def _range_of(self, name: str) -> tuple[float, float]:
        given: Any = self.of(name).get("range") or (None, None)
        low, high = (None if one is None else float(one) for one in given)
        if low is not None and high is not None:
            return low, high
        numbers = [one for value in self._values[name] if math.isfinite(one := self.number(name, value))] or [0.0, 1.0]
        is_word = any(isinstance(one, str) for one in self._values[name])
        room = 0.5 if is_word else 0.05 * (max(numbers) - min(numbers)) or 0.5
        low, high = min(numbers) - room if low is None else low, max(numbers) + room if high is None else high
        return (high, low) if self.of(name).get("autorange") == "reversed" else (low, high)

    def _ticks(self, name: str) -> Iterator[tuple[float, str]]:
        axis, (low, high) = self.of(name), sorted(self._range[name])
        if (values := axis.get("tickvals")) is not None:
            texts = axis.get("ticktext")
            for value, text in zip(values, values if texts is None else texts, strict=False):
                yield self.number(name, value), str(text)
        elif any(isinstance(one, str) for one in self._values[name]):
            for word in dict.fromkeys(one for one in self._values[name] if isinstance(one, str)):
                yield self.number(name, word), word
        elif axis.get("type") == "log":
            for decade in range(math.ceil(low), math.floor(high) + 1):
                yield float(decade), f"{10.0**decade:g}"
        else:
            raw = (high - low) / 5 or 1.0
            step = next(
                m * 10 ** math.floor(math.log10(raw)) for m in (1, 2, 5, 10) if m * 10 ** math.floor(math.log10(raw)) >= raw
            )
            for k in range(math.ceil(low / step), math.floor(high / step) + 1):
                yield k * step, f"{k * step:g}"

    def frames(self) -> Iterator[str]:
        """Yield grids, ticks and titles."""
        for x, y in self._pairs:
            (left, right), (bottom, top) = self.span(x), self.span(y)
            if self.of(y).get("visible") is False:
                continue
            for number, text in self._ticks(x):
                if (at := self._at(x, number)) >= left - 1 and at <= right + 1:
                    yield f'<path d="M{at:.1f} {bottom:.1f}V{top:.1f}" stroke="{_GRID}"/>' + text_of(
                        at, bottom + 15, text, "middle"
                    )
            for number, text in self._ticks(y):
                if (at := self._at(y, number)) <= bottom + 1 and at >= top - 1:
                    yield f'<path d="M{left:.1f} {at:.1f}H{right:.1f}" stroke="{_GRID}"/>' + text_of(
                        left - 6, at + 4, text, "end"
                    )
            yield f'<path d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}" fill="none" stroke="{_QUIET}"/>'
            if title := (self.of(x).get("title") or {}).get("text"):
                yield text_of((left + right) / 2, bottom + 34, title, "middle")
            if title := (self.of(y).get("title") or {}).get("text"):
                where = f"translate({left - 62:.0f} {(top + bottom) / 2:.0f}) rotate(-90)"
                yield f'<g transform="{where}">{text_of(0, 0, title, "middle")}</g>'


def _drawn(trace: Mapping[str, Any], axes: Axes) -> Iterator[str]:
    kind, x, y = trace.get("type", "scatter"), trace.get("xaxis", "x"), trace.get("yaxis", "y")
    if kind in ("heatmap", "contour"):
        yield from _cells(trace, axes, x, y)
        return
    if kind not in ("scatter", "scattergl") or trace.get("x") is None or trace.get("y") is None:
        return
    points = [(axes.place(x, a), axes.place(y, b)) for a, b in zip(trace["x"], trace["y"], strict=False)]
    yield from spreads(trace, axes, points)
    mode, line = trace.get("mode", "lines"), trace.get("line") or {}
    path = _path(points)
    if trace.get("fill") == "toself":
        yield f'<path d="{path}Z" fill="{escape(str(trace.get("fillcolor", _GRID)))}" stroke="none"/>'
    if "lines" in mode and line.get("width", 2):
        dash = f' stroke-dasharray="{_DASHES[line["dash"]]}"' if line.get("dash") in _DASHES else ""
        colour = escape(str(line.get("color", INK)))
        yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{line.get("width", 2)}"{dash}/>'
    if "markers" in mode:
        yield from _markers(trace.get("marker") or {}, points)
    if "text" in mode and trace.get("text") is not None:
        for k, (a, b) in enumerate(points):
            if fits(a, b) and (text := one_of(trace["text"], k)) is not None:
                yield text_of(a, b - 7, str(text), "middle")


def _markers(marker: Mapping[str, Any], points: Sequence[tuple[float, float]]) -> Iterator[str]:
    for k, (a, b) in enumerate(points):
        if fits(a, b):
            colour, radius = escape(str(one_of(marker.get("color"), k))), float(one_of(marker.get("size", 6), k)) / 2
            how = (
                f'fill="none" stroke="{colour}" stroke-width="1.5"'
                if "open" in str(one_of(marker.get("symbol"), k))
                else f'fill="{colour}"'
            )
            yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:.1f}" {how} opacity="{marker.get("opacity", 1)}"/>'


def _cells(trace: Mapping[str, Any], axes: Axes, x: str, y: str) -> Iterator[str]:
    """Yield the cells of a matrix of colours."""
    z = np.asarray(trace["z"], dtype=float)
    if not np.isfinite(z).any():
        return
    across = [axes.place(x, one) for one in (range(z.shape[1]) if trace.get("x") is None else trace["x"])]
    down = [axes.place(y, one) for one in (range(z.shape[0]) if trace.get("y") is None else trace["y"])]
    low, high = (trace.get(name) for name in ("zmin", "zmax"))
    low, high = np.nanmin(z) if low is None else low, np.nanmax(z) if high is None else high
    wide, tall = (abs(at[-1] - at[0]) / max(len(at) - 1, 1) if len(at) > 1 else 20.0 for at in (across, down))
    for row, b in zip(z, down, strict=False):
        for value, a in zip(row, across, strict=False):
            if math.isfinite(value):
                colour = _shade(trace.get("colorscale"), (value - low) / ((high - low) or 1.0))
                size = f'width="{wide:.1f}" height="{tall:.1f}"'
                yield f'<rect x="{a - wide / 2:.1f}" y="{b - tall / 2:.1f}" {size} fill="{colour}"/>'


def _shade(scale: Any, share: float) -> str:
    """Return the colour of a scale at a share; that of the nearest stop, or mixed where both are written in hexadecimal."""
    stops = (
        [(0.0, "#f7fbff"), (1.0, "#08306b")]
        if scale is None or isinstance(scale, str)
        else [(float(a), str(b)) for a, b in scale]
    )
    share = min(max(share, 0.0), 1.0)
    around = (pair for pair in pairwise(stops) if pair[0][0] <= share <= pair[1][0])
    (a, low), (b, high) = next(around, (stops[0], stops[-1]))
    part = (share - a) / ((b - a) or 1.0)
    if not (low[:1] == high[:1] == "#" and len(low) == len(high) == 7):
        return escape(high if part > 0.5 else low)
    mixed = (round((1 - part) * int(low[k : k + 2], 16) + part * int(high[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{one:02x}" for one in mixed)


def _legend(traces: Sequence[Mapping[str, Any]], left: float, width: float) -> Iterator[str]:
    x, y = float(left), 14.0
    for trace in traces:
        if not trace.get("name") or trace.get("showlegend") is False or trace.get("type") in ("heatmap", "contour"):
            continue
        text = str(trace["name"])
        wide = _LETTER * len(TAG.sub("", unescape(text))) + 34
        if x + wide > width and x > left:
            x, y = float(left), y + 15
        mode = trace.get("mode", "lines")
        from_line = "lines" in mode and trace.get("type") != "bar"
        colour = one_of((trace.get("line" if from_line else "marker") or {}).get("color"), 0)
        colour = trace.get("fillcolor", colour) if trace.get("fill") == "toself" else colour
        tall = 7 if trace.get("fill") else 3
        yield f'<rect x="{x:.0f}" y="{y - 7:.0f}" width="18" height="{tall}" fill="{escape(str(colour))}"/>'
        yield text_of(x + 23, y, text, "start")
        x += wide


def _path(points: Sequence[tuple[float, float]]) -> str:
    found, is_gap = [], True
    for a, b in points:
        if fits(a, b):
            found.append(f"{'M' if is_gap else 'L'}{a:.1f} {b:.1f}")
        is_gap = not fits(a, b)
    return "".join(found) or "M0 0"
