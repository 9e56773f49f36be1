"""What the models that lost say of several parameters, hidden in the figures until one of them is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scalkit.fit.several_model import SeveralModel
from scalkit.plots.style import is_log_axis, quantity, rounded, safe
from scalkit.plots.verdicts.curves import sample
from scalkit.plots.verdicts.effects import effect_bars
from scalkit.plots.verdicts.rival_curves import RIVAL, hidden, term_of
from scalkit.plots.verdicts.several import Line, axis_name, panels_of
from scalkit.plots.verdicts.surface import ColourScale, line_along
from scalkit.validation.several.verdict import SeveralVerdict

_MOST, _MOST_LINES, _EVERY, _GRID = 7, 3, 4, 13
_LINE = {"color": RIVAL, "width": 2.2, "dash": "dashdot"}


def rivals_along(verdict: SeveralVerdict, most: int = _MOST) -> list[dict[str, Any]]:
    """Return curves and effects of the best rivals, for the figure of `scalkit.plots.several`.

    `most`: number of rivals.
    Returns: plain traces, not visible, which say in ``meta["growth"]`` whose they are: in each panel the curves beside
    the lowest, middle and highest line, and below a second bar.
    """
    panels = panels_of(verdict, verdict.parameters)
    low, high = (getattr(verdict.fit.points.x, end)(axis=0).tolist() for end in ("min", "max"))
    k = len(panels) + 1
    found: list[dict[str, Any]] = []
    for model in verdict.rivals[:most]:
        for number, panel in enumerate(panels):
            axes = {"xaxis": axis_name("x", number), "yaxis": axis_name("y", number)}
            found.append(_curves(verdict, model, panel.lines) | axes)
        bars = _named(effect_bars(verdict.parameters, [model.effects(low, high)], [1], [f"if {term_of(model)}"]))
        outline = {"line": {"color": RIVAL, "width": 2}}
        found += [
            bar | hidden(model) | {"type": "bar", "xaxis": f"x{k}", "yaxis": f"y{k}",
                                          "marker": bar["marker"] | outline}
            for bar in bars
        ]  # fmt: skip
    return found


def rivals_on_map(verdict: SeveralVerdict, most: int = _MOST) -> list[dict[str, Any]]:
    """Return contours of the best rivals, at the values of those of the model, for `scalkit.plots.surface`."""
    first, second = verdict.parameters
    series = verdict.series
    across, up = (
        sample(float(v[0]), float(v[-1]), is_log_axis(v), _GRID) for v in (series.along(first), series.along(second))
    )
    points = np.stack([one.ravel() for one in np.meshgrid(across, up)], axis=1)
    scale = ColourScale.of(verdict)
    return [
        hidden(model) | {
            "type": "contour",
            "x": rounded(across),
            "y": rounded(up),
            "z": [rounded(row) for row in scale.place(np.asarray(model(points)).reshape(_GRID, _GRID))],
            "contours": {"coloring": "none", "showlines": True, **scale.steps},
            "line": _LINE,
            "showscale": False,
            "hoverinfo": "skip",
            "name": f"rival {term_of(model)}",
        }
        for model in verdict.rivals[:most]
    ]  # fmt: skip


def rivals_on_slice(verdict: SeveralVerdict, along: str, at: float, most: int = _MOST) -> list[dict[str, Any]]:
    """Return the curves of the best rivals along one parameter at a value of the other one, for `scalkit.plots.slice_of`."""
    found = []
    for model in verdict.rivals[:most]:
        x, y = line_along(verdict, model, along, at)
        found.append(_curve(model, x[::2], y[::2], verdict.unit))
    return found


def _named(bars: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say whose bars these are, before the first text in them."""
    first = next((bar for bar in bars if bar["text"][0]), None)
    return [bar | {"text": [f"rival: {bar['text'][0]}"]} if bar is first else bar for bar in bars]


def _curves(verdict: SeveralVerdict, model: SeveralModel, lines: Sequence[Line]) -> dict[str, Any]:
    """Return one trace with gaps beside some of the lines of a panel."""
    kept = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), _MOST_LINES)).round().astype(int))
    x, y = [], []
    for line in (lines[i] for i in kept):
        x += [*line.x[::_EVERY], np.nan]
        y += [*np.asarray(model(line.at[::_EVERY])), np.nan]
    return _curve(model, np.asarray(x), np.asarray(y), verdict.unit)


def _curve(model: SeveralModel, x: Any, y: Any, unit: str) -> dict[str, Any]:
    return hidden(model) | {
        "x": rounded(x),
        "y": rounded(y),
        "mode": "lines",
        "line": _LINE,
        "text": [quantity(v, unit) if np.isfinite(v) else "" for v in y],
        "name": f"rival {term_of(model)}",
        "hovertemplate": f"%{{x:.4~g}}: %{{text}} if {safe(term_of(model))}<extra></extra>",
    }
