"""A small picture of a verdict on one parameter, for tables: values, model and the band of the limits."""

import numpy as np

from scalkit.judge.measured import AnyVerdict
from scalkit.judge.told.curves import anchored_curves
from scalkit.judge.verdict import Verdict
from scalkit.support.arrays import Floats

_PAD = 3


def picture(verdict: AnyVerdict, width: int = 72, height: int = 26) -> str:
    """Return values, model and the band of the limits as SVG, both axes logarithmic.

    `width`, `height`: in px.
    Returns: empty over several parameters, and where something is not positive.
    """
    if not isinstance(verdict, Verdict):
        return ""
    x, y = np.asarray(verdict.series.x, dtype=float), np.asarray(verdict.series.y, dtype=float)
    curves = anchored_curves(verdict, x)
    lines = [y, curves.model, curves.lower, curves.upper]
    every = np.concatenate([x, *lines])
    if not np.all(np.isfinite(every)) or float(every.min()) <= 0:
        return ""
    across = _spread(np.log2(x), width)
    measured, line, low, high = np.split(height - _spread(np.log2(np.concatenate(lines)), height), 4)
    path = _path(across, line)
    area = f"{_path(across, high)}L{_path(across[::-1], low[::-1])[1:]}Z"
    dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(across, measured, strict=True))  # round ends make them dots
    grows = ' class="bad"' if verdict.answer == "fix" else ""
    return (
        f'<svg class="spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-hidden="true">'
        f'<path class="band" d="{area}"/>'
        f'<path{grows} d="{path}"/><path class="dots" d="{dots}"/></svg>'
    )


def _path(across: Floats, heights: Floats) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, heights, strict=True))


def _spread(values: Floats, size: int) -> Floats:
    """Return the values spread over a length; those that hardly differ lie near its middle."""
    low, high = float(values.min()), float(values.max())
    extent = max(high - low, 0.5)
    return _PAD + ((values - (low + high) / 2) / extent + 0.5) * (size - 2 * _PAD)
