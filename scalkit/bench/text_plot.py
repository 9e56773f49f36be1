"""Draws measured and expected values as text, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scalkit.errors import DataError
from scalkit.units import format_quantity

__all__ = ["text_plot"]

_LEFT = 9


def text_plot(
    x: ArrayLike,
    y: ArrayLike,
    expected: ArrayLike,
    *,
    parameter: str = "n",
    unit: str = "s",
    width: int = 72,
    height: int = 14,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Return a scatter plot in ASCII: ``o`` measured, ``.`` expected, both axes logarithmic.

    Parameters
    ----------
    x : array_like of shape (points,)
        Values of the parameter, ascending and positive.
    y : array_like of shape (points,), in `unit`
        Measured values; only positive ones are drawn.
    expected : array_like of shape (points,), in `unit`
        Drawn as straight pieces between the points.
    parameter, unit : str
        Of the axes.
    width, height : int
        Columns of the widest line, and lines of the plot itself.
    labels : mapping, optional
        Legend by character.

    Raises
    ------
    DataError
        If there is no positive value, or the shapes differ.
    """
    at, measured, curve = (np.asarray(v, dtype=np.float64) for v in (x, y, expected))
    if not at.ndim == measured.ndim == curve.ndim == 1 or not len(at) == len(measured) == len(curve):
        raise DataError(
            f"x, y and expected have shapes {at.shape}, {measured.shape}, {curve.shape}; one is needed for all."
        )
    if not ((at > 0) & (measured > 0)).any():
        raise DataError("there is no positive value to draw on logarithmic axes; pass some.")
    columns = width - _LEFT - 2
    across = _Axis.of(at, columns)
    up = _Axis.of(np.concatenate([measured, curve]), height)
    canvas = [[" "] * columns for _ in range(height)]
    for column, value in _between(at, curve, across):
        canvas[height - 1 - up.place(value)][column] = "."
    for place, value in zip(at, measured, strict=True):
        if place > 0 and value > 0:
            canvas[height - 1 - up.place(value)][across.place(place)] = "o"
    return "\n".join(_framed(canvas, at, up, parameter, unit, labels or {"o": "measured", ".": "expected"}))


class _Axis:
    """Places on a logarithmic axis of `cells` cells."""

    def __init__(self, low: float, high: float, cells: int) -> None:
        self.low, self.high, self.cells = low, high, cells

    @classmethod
    def of(cls, values: NDArray[np.float64], cells: int) -> _Axis:
        there = values[np.isfinite(values) & (values > 0)]
        low, high = math.log(there.min()), math.log(there.max())
        middle, half = (low + high) / 2, max((high - low) / 2, math.log(2) / 2)
        return cls(middle - half, middle + half, cells)

    def place(self, value: float) -> int:
        share = (math.log(value) - self.low) / (self.high - self.low)
        return min(max(round(share * (self.cells - 1)), 0), self.cells - 1)

    def value(self, place: float) -> float:
        return math.exp(self.low + (self.high - self.low) * place / (self.cells - 1))


def _between(x: NDArray[np.float64], y: NDArray[np.float64], across: _Axis) -> list[tuple[int, float]]:
    """Return (column, value) along the curve, straight in the logarithms between the points."""
    there = np.isfinite(y) & (y > 0) & (x > 0)
    if not there.any():
        return []
    log_x, log_y = np.log(x[there]), np.log(y[there])
    first, last = across.place(float(x[there][0])), across.place(float(x[there][-1]))
    columns = range(first, last + 1)
    return [(c, float(np.exp(np.interp(math.log(across.value(c)), log_x, log_y)))) for c in columns]


def _framed(
    canvas: Sequence[Sequence[str]],
    x: NDArray[np.float64],
    up: _Axis,
    parameter: str,
    unit: str,
    labels: Mapping[str, str],
) -> list[str]:
    height, columns = len(canvas), len(canvas[0])
    ticks = {
        0: up.value(height - 1),
        (height - 1) // 2: up.value(height - 1 - (height - 1) // 2),
        height - 1: up.value(0),
    }
    lines = []
    for row, cells in enumerate(canvas):
        label = format_quantity(ticks[row], unit, 2) if row in ticks else ""
        lines.append(f"{label[:_LEFT]:>{_LEFT}} |{''.join(cells)}".rstrip())
    lines.append(f"{'':>{_LEFT}} +{'-' * columns}")
    left, right = f"{parameter} = {x[0]:g}"[: columns // 2], f"{x[-1]:g}"
    lines.append(f"{'':>{_LEFT}}  {left}{right:>{columns - len(left)}}")
    legend = "   ".join(f"{mark} {text}" for mark, text in labels.items())
    lines.append(f"{'':>{_LEFT}}  {legend[:columns]}")
    return lines
