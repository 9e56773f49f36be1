"""What all figures share: Okabe-Ito colours with one meaning each, marks with words, axes, template, escaping."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go

from scalkit.growth import Growth
from scalkit.support.arrays import Floats
from scalkit.support.colours import light
from scalkit.support.toml.tables import table_beside
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    from scalkit.judge import Verdict

DATA: Final = light("ink")
MODEL: Final = light("model")
EXPECTED: Final = light("expected")
TROUBLE: Final = light("trouble")
QUIET: Final = light("quiet")
BAND: Final = light("band")

SHADES = ("#1d4e89", "#2a7ab8", "#1b998b", "#5a9e3a", "#c08a1e", "#d1642b", "#a02c4f")
"""Of lines in the order of a quantity, from blue to red."""

#: Okabe-Ito without yellow, which disappears on white.
PALETTE: Final = tuple(light(name) for name in ("model", "trouble", "expected", "cannot-tell", "warning", "slower", "ink"))

STATE_COLOURS: Final = {"fix": TROUBLE, "warning": light("warning"), "cannot tell": light("cannot-tell"), "fine": EXPECTED}
"""Colour of each answer, and of what is no answer but should be looked at."""

_LOOKS = table_beside(__file__, "looks.toml")
METRIC_WORDS: Final[Mapping[str, str]] = _LOOKS["metrics"]

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def metric_word(subject: Any) -> str:
    """Return what a verdict or series is about, in words; of values that are simulated, or in virtual time, it says so."""
    word = METRIC_WORDS.get(subject.metric, str(subject.metric))
    series = getattr(subject, "series", subject)
    if getattr(series, "virtual", False):
        return f"{word}, virtual"
    return f"{word}, simulated" if getattr(series, "simulated", False) else word


def shade_of(k: int, n: int) -> str:
    """Return the colour of the k-th of n lines in order."""
    return SHADES[round(k * (len(SHADES) - 1) / max(1, n - 1))] if n > 1 else SHADES[1]


def without_variants(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts without variants, named ``f[variant]``, of functions that are there themselves."""
    names = {(v.metric, v.function) for v in verdicts}
    return [v for v in verdicts if "[" not in v.function or (v.metric, v.function.partition("[")[0]) not in names]


def safe(text: str) -> str:
    """Return `text` such that plotly shows it letter by letter: no tag, entity or ``%{...}`` of it takes effect."""
    return html.escape(text, quote=False).replace("%{", "&#37;{").replace("\n", " ")


def plain(growth: Growth) -> str:
    """Return the growth as a person would write it in a line of text: ``p^(1/2) · log p``."""
    text = str(growth)
    text = re.sub(r"log\((\w+)\)", r"log \1", text)
    return text.replace("*", " · ")


def growth_label(growth: Growth) -> str:
    """Return the growth in plotly's markup, exponents raised: ``p<sup>1/2</sup> log p``."""
    text = re.sub(r"\^\(([^()]+)\)|\^(\w+)", r"<sup>\1\2</sup>", safe(str(growth)))
    text = re.sub(r"log\((\w+)\)(<sup>.*?</sup>)?", r"log\2 \1", text)
    return text.replace("*", " ")


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """Return `value` with prefix and unit, without needless zeros: ``10 µs``."""
    number, blank, prefixed = format_quantity(value, unit, digits).partition(" ")
    if "." in number and "e" not in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number}{blank}{prefixed}".replace(" us", " µs")


def number(value: float) -> str:
    """Return a pure number as plotly's markup: 65536 as a power of two, 1.2e9 in short, 40 as it is."""
    if value > 0 and math.isfinite(value):
        exponent = math.log2(value)
        if exponent.is_integer() and exponent >= 14:
            return f"2<sup>{int(exponent)}</sup>"
        decade = math.log10(value)
        if abs(decade) >= 5 and abs(decade - round(decade)) < 1e-9:
            return f"10<sup>{round(decade)}</sup>".replace("-", "−")
    if abs(value) >= 1e6:
        return f"{value:.2g}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rounded(values: Iterable[float] | Floats) -> list[float | None]:
    """Return `values` with six digits, as a list that is small in JSON; what is not finite becomes a gap."""
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in np.asarray(values, dtype=float).ravel()]


def is_log_axis(x: Floats) -> bool:
    """Return whether the parameter spans enough (a factor of eight, all positive) to be drawn on a log axis."""
    return bool(x.min() > 0 and x.max() / x.min() >= 8)


def blank(height: int, alt: str) -> go.Figure:
    """Return an empty figure in scalkit's style.

    `height` in px.
    `alt`: one sentence that says what the figure shows; it travels in ``layout.meta["alt"]`` for screen readers.
    """
    figure = go.Figure()
    figure.update_layout(template="none", **layout_of(height, alt))
    return figure


def layout_of(height: int, alt: str) -> dict[str, Any]:
    """Return the layout that all figures begin with."""
    return {
        "autosize": True,
        "height": height,
        "margin": {"l": 62, "r": 14, "t": 12, "b": 44},
        "paper_bgcolor": light("paper"),  # where nothing follows the theme, as in cells; pages of scalkit put theirs in its place
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 12, "color": DATA},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom", "font": {"size": 11}},
        "hoverlabel": {"font": {"family": _FONT, "size": 12}, "align": "left"},
        "meta": {"alt": alt},
        "modebar": {"remove": ["sendChartToCloud"]},  # wherever it is shown, no button uploads it
        "showlegend": True,
    }


def x_axis(measured: Sequence[float] | Floats, lowest: float, highest: float, name: str) -> dict[str, Any]:
    """Return the axis of the parameter, from `lowest` to `highest`, with ticks at the measured points."""
    points = np.asarray(measured, dtype=float)
    axis = _axis(safe("processes p" if name == "p" else name))
    ticks = sorted(set(points.tolist()))
    if is_log_axis(points):
        ticks += _continued(ticks, highest)
        pad = 0.03 * math.log10(highest / lowest)
        axis |= {"type": "log", "range": [math.log10(lowest) - pad, math.log10(highest) + pad]}
    else:
        pad = 0.03 * (highest - lowest)
        axis |= {"range": [lowest - pad, highest + pad]}
    step = -(-len(ticks) // 9)
    ticks = ticks[::step]
    return axis | {"tickmode": "array", "tickvals": rounded(ticks), "ticktext": [number(t) for t in ticks]}


def _continued(ticks: Sequence[float], highest: float) -> list[float]:
    """Return ticks beyond the measured ones, in the ratio of the last two, at most as many as fit."""
    ratio = max(2.0, ticks[-1] / ticks[-2]) if len(ticks) > 1 else 2.0
    steps = math.floor(math.log(highest / ticks[-1], ratio) + 1e-9)
    return [ticks[-1] * ratio**k for k in range(1, max(0, steps) + 1)]


def value_axis(lowest: float, highest: float, unit: str, title: str) -> dict[str, Any]:
    """Return the value axis: logarithmic with prefixed ticks, linear where `lowest` is not positive.

    `title` is plotly's markup, not plain text.
    """
    axis = _axis(title) | {"automargin": True}
    if not lowest > 0:
        pad = 0.06 * (highest - lowest or 1.0)
        ticks = _linear_ticks(lowest - pad, highest + pad)
        axis |= {"range": [lowest - pad, highest + pad]}
    else:
        lowest, highest = max(lowest, 1e-140), min(highest, 1e140)  # their ratio is a number, too
        if highest / lowest < 1.6:
            middle = math.sqrt(lowest * highest)
            lowest, highest = middle / 1.35, middle * 1.35
        pad = 0.05 * math.log10(highest / lowest)
        low, high = math.log10(lowest) - pad, math.log10(highest) + pad
        ticks = _log_ticks(10**low, 10**high)
        axis |= {"type": "log", "range": [low, high]}
    return axis | {"tickmode": "array", "tickvals": rounded(ticks), "ticktext": [_tick_label(t, unit, max(ticks)) for t in ticks]}


def _tick_label(value: float, unit: str, largest: float) -> str:
    if not unit:
        return number(value)
    if unit == "B" and 1e3 <= value < 1e5 and largest >= 1e4:
        return f"{value / 1e3:g} kB"
    return quantity(value, unit)


def axis_title(text: str, standoff: int = 8) -> dict[str, Any]:
    """Return the title of an axis."""
    return {"text": text, "standoff": standoff, "font": {"size": 12}}


def look(kind: str) -> dict[str, Any]:
    """Return how a kind of axis or bar of ``looks.toml`` looks."""
    return {key: light(value) if key.endswith("color") else value for key, value in _LOOKS[kind].items()}


def _axis(title: str) -> dict[str, Any]:
    return {"title": axis_title(title), **look("axis")}


def _log_ticks(lowest: float, highest: float) -> list[float]:
    decades = math.log10(highest / lowest)
    if decades < 0.5:
        return _linear_ticks(lowest, highest)
    mantissas = (1, 2, 5) if decades < 2.2 else (1, 3) if decades < 3.2 else (1,)
    step = max(1, round(decades / 6)) if decades >= 3.2 else 1
    first, last = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    found = [m * 10.0**e for e in range(first, last + 1) if e % step == 0 for m in mantissas]
    return [t for t in found if lowest <= t <= highest]


def _linear_ticks(lowest: float, highest: float) -> list[float]:
    raw = (highest - lowest) / 5
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(m for m in (1, 2, 2.5, 5, 10) if m * scale >= raw) * scale
    first = math.ceil(lowest / step)
    return [k * step for k in range(first, math.floor(highest / step) + 1)]
