"""What figures of performance models share: an axis of message sizes or processes, and values along it."""

import math
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.style import number, quantity, rounded, x_axis

_TITLES = {"S": "message size S", "P": "processes P", "R": "queued receives R"}
_UNITS = {"S": "B", "P": "processes", "R": "requests"}
_MOST_TICKS = 9


def in_words(name: str, value: float) -> str:
    """Return a parameter at a value, as in ``S = 64 KiB``."""
    unit = _UNITS.get(name, "1")
    return f"{name} = {format_value(value, unit) if unit != 'B' or value >= 1024 else quantity(value, 'B')}"


def model_axis(name: str, values: Floats) -> dict[str, Any]:
    """Return the axis of a parameter, with ticks at some of its values, sizes in KiB and MiB."""
    shown = np.unique(values)
    axis = x_axis(shown, float(shown[0]), float(shown[-1]), name)
    axis["title"] = {**axis["title"], "text": _TITLES.get(name, name)}
    ticks = shown if len(shown) <= _MOST_TICKS else _powers(float(shown[0]), float(shown[-1]))
    if not len(ticks):
        ticks = shown[:: -(-len(shown) // _MOST_TICKS)]
    if name != "S":
        axis |= {"tickvals": rounded(ticks), "ticktext": [number(one) for one in ticks]}
    else:
        axis |= {"tickvals": rounded(ticks), "ticktext": [in_words("S", float(one)).removeprefix("S = ") for one in ticks]}
    return axis


def _powers(low: float, high: float) -> Floats:
    """Return powers of two between two ends, every one, every second, and so on."""
    if low < 0 or high < 8 * max(low, 1.0):
        return np.empty(0)
    first, last = math.ceil(math.log2(max(low, 1.0))), math.floor(math.log2(high))
    return np.asarray(2.0 ** np.arange(first, last + 1, -(-(last - first + 1) // _MOST_TICKS)))


def places(low: float, high: float, *, whole: bool, points: int = 121) -> Floats:
    """Return values from `low` to `high`, on a logarithmic scale where it is wide; whole numbers where asked."""
    spaced = np.geomspace(low, high, points) if low > 0 and high >= 8 * low else np.linspace(low, high, points)
    return np.unique(np.round(spaced)) if whole else np.unique(np.concatenate([[low], spaced, [high]]))
