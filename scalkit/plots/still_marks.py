"""Pieces of still pictures: texts, bars, boxes, error bars."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scalkit.plots.still import Axes

INK = "#222222"
TAG = re.compile(r"<(/?)(sup|sub|b|i|br)\s*/?>")
_SHIFT = {"sup": (-4, 4), "sub": (3, -3)}


def further(trace: Mapping[str, Any], letter: str) -> list[float]:
    """Return what an axis shows beside the places of a trace: ends of error bars and boxes, and where bars begin."""
    if trace.get("type") == "bar":
        return [0.0] if letter == _along(trace) else []
    if trace.get("type") == "box" and letter == "y":
        return [*trace.get("lowerfence", ()), *trace.get("upperfence", ())]
    return [end for pair in _error_ends(trace, letter) for end in pair]


def _along(trace: Mapping[str, Any]) -> str:
    """Return the axis along which a bar is long."""
    return "x" if trace.get("orientation") == "h" else "y"


def stacked(traces: Sequence[Mapping[str, Any]], mode: str | None) -> dict[int, list[tuple[float, float]]]:
    """Return from where to where each bar of the traces of bars goes."""
    heights: dict[tuple[Any, ...], float] = {}
    found: dict[int, list[tuple[float, float]]] = {}
    for k, trace in enumerate(traces):
        if trace.get("type") == "bar":
            letter = _along(trace)
            places = zip(trace["xy".replace(letter, "")], trace[letter], strict=False)
            found[k] = []
            for place, value in places:
                at = (trace.get("xaxis", "x"), trace.get("yaxis", "y"), place)
                begin = heights.get(at, 0.0) if mode in ("stack", "relative") else 0.0
                heights[at] = begin + (value or 0.0)
                found[k].append((begin, heights[at] if mode in ("stack", "relative") else value or 0.0))
    return found


def bars(trace: Mapping[str, Any], axes: Axes, ends: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield the bars of a trace, with what is written in them."""
    letter, marker = _along(trace), trace.get("marker") or {}
    other = "xy".replace(letter, "")
    long, across = (str(trace.get(f"{one}axis", one)) for one in (letter, other))
    foot, opacity = axes.span(long)[0], marker.get("opacity", 1)
    for k, (place, (begin, end)) in enumerate(zip(trace[other], ends, strict=False)):
        at, low, high = axes.place(across, place), axes.place(long, begin), axes.place(long, end)
        low = low if math.isfinite(low) else foot
        if not (fits(at, low) and fits(at, high)) or begin == end:
            continue
        wide = 14.0 if trace.get("width") is None else axes.wide(across, float(place), float(one_of(trace["width"], k)))
        around = {letter: (min(low, high), abs(high - low)), other: (at - wide / 2, wide)}
        size = " ".join(
            f'{one}="{around[one][0]:.1f}" {name}="{around[one][1]:.1f}"' for one, name in (("x", "width"), ("y", "height"))
        )
        yield f'<rect {size} fill="{escape(str(one_of(marker.get("color"), k)))}" opacity="{opacity}"/>'
        if trace.get("text") is not None and trace.get("textposition") != "none" and (text := one_of(trace["text"], k)):
            x, y = ((low + high) / 2, at) if letter == "x" else (at, (low + high) / 2)
            yield text_of(x, y + 4, str(text), "middle")


def boxes(trace: Mapping[str, Any], axes: Axes, aside: float) -> Iterator[str]:
    """Yield boxes whose five numbers are given."""
    x, y, line = trace.get("xaxis", "x"), trace.get("yaxis", "y"), trace.get("line") or {}
    colour = escape(str(line.get("color", (trace.get("marker") or {}).get("color", INK))))
    five = [trace.get(name) for name in ("lowerfence", "q1", "median", "q3", "upperfence")]
    if any(one is None for one in [trace.get("x"), *five]):
        return
    for place, values in zip(trace["x"], zip(*five, strict=True), strict=False):
        at = axes.place(x, place) + aside
        least, low, middle, high, most = (axes.place(y, one) for one in values)
        if all(fits(at, one) for one in (least, low, middle, high, most)):
            box = f"M{at - 5:.1f} {low:.1f}H{at + 5:.1f}V{high:.1f}H{at - 5:.1f}ZM{at - 5:.1f} {middle:.1f}H{at + 5:.1f}"
            whiskers = f"M{at:.1f} {least:.1f}V{low:.1f}M{at:.1f} {high:.1f}V{most:.1f}"
            yield f'<path d="{box}{whiskers}" fill="none" stroke="{colour}" stroke-width="1.3"/>'


def _error_ends(trace: Mapping[str, Any], letter: str) -> list[tuple[float, float]]:
    """Return the lower and the upper end of each error bar along an axis."""
    error, values = trace.get(f"error_{letter}") or {}, trace.get(letter)
    if error.get("array") is None or values is None or error.get("visible") is False:
        return []
    above = list(error["array"])
    below = above if error.get("arrayminus") is None else list(error["arrayminus"])
    return [
        (math.nan, math.nan) if None in (one, less, more) else (one - less, one + more)
        for one, less, more in zip(values, below, above, strict=False)
    ]


def spreads(trace: Mapping[str, Any], axes: Axes, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield error bars; those that reach below an axis of logarithms end at its begin."""
    for letter in "xy":
        name = str(trace.get(f"{letter}axis", letter))
        colour = (trace.get(f"error_{letter}") or {}).get("color") or (trace.get("marker") or {}).get("color")
        for k, ((a, b), ends) in enumerate(zip(points, _error_ends(trace, letter), strict=False)):
            low, high = (axes.place(name, end) for end in ends)
            low = low if math.isfinite(low) else axes.span(name)[0]
            if fits(a, b) and fits(low, high):
                path = f"M{low:.1f} {b:.1f}H{high:.1f}" if letter == "x" else f"M{a:.1f} {low:.1f}V{high:.1f}"
                yield f'<path d="{path}" stroke="{escape(str(one_of(colour, k)))}" stroke-width="1.2"/>'


def fits(a: float, b: float) -> bool:
    """Return whether a place is one in the picture, or near it."""
    return math.isfinite(a) and math.isfinite(b) and abs(a) < 1e5 and abs(b) < 1e5


def one_of(values: Any, k: int) -> Any:
    """Return the k-th of several values, or the one that stands for all."""
    if values is None:
        return INK
    if isinstance(values, str) or np.ndim(values) == 0:
        return values
    return values[k] if k < len(values) else INK


def text_of(x: float, y: float, text: str, anchor: str) -> str:
    """Return a text of plotly's markup."""
    found, at = [], 0
    for tag in TAG.finditer(text):
        found.append(escape(unescape(text[at : tag.start()])))
        at = tag.end()
        closing, name = tag.groups()
        if name in _SHIFT:
            found.append(
                f'</tspan><tspan dy="{_SHIFT[name][1]}">' if closing else f'</tspan><tspan dy="{_SHIFT[name][0]}" font-size="8">'
            )
        elif name == "br":
            found.append(" ")
    found.append(escape(unescape(text[at:])))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"><tspan>{"".join(found)}</tspan></text>'
