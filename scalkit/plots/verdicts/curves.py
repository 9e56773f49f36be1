"""The curves of a fit figure: model, expectation and deviation limits, anchored so that they can be compared by eye."""

from dataclasses import dataclass

import numpy as np

from scalkit.arrays import Floats
from scalkit.growth import Growth
from scalkit.plots.style import is_log_axis
from scalkit.validation import Verdict


@dataclass(frozen=True)
class Reach:
    """The range of the parameter that a figure shows, and the part of it that was measured."""

    lowest: float
    highest: float
    shown: float


@dataclass(frozen=True)
class Curves:
    """Values at the points `x`, each of shape (points,), in the unit of the metric; gaps are NaN."""

    x: Floats
    model: Floats
    expected: Floats
    lower: Floats
    upper: Floats


def reach(x: Floats, beyond: float = 4.0) -> Reach:
    """Return the measured range and how far the figure goes on: `beyond` times further on a log axis, else 30 %."""
    lowest, highest = float(x.min()), float(x.max())
    if is_log_axis(x):
        return Reach(lowest, highest, highest * beyond)
    return Reach(lowest, highest, highest + 0.3 * (highest - lowest or 1.0))


def sample(lowest: float, highest: float, is_log: bool, points: int = 49) -> Floats:
    """Return `points` values from `lowest` to `highest`, equally spaced on the axis that shows them."""
    spaced = np.geomspace if is_log else np.linspace
    return np.asarray(spaced(lowest, highest, points), dtype=float)


def anchored_curves(verdict: Verdict, x: Floats) -> Curves:
    """Return model, expectation and limits at `x`.

    The expectation has no coefficients of its own. It is drawn as ``c0 + s * E(x)``, with the model's constant ``c0``
    and ``s`` such that it meets the model at the first measured point ``a``; the limits are
    ``c0 + s * E(x) * (D(x) / D(a))**(-1, +1)``. So the model leaves the band exactly where the divergence, taken
    relative to the first point, leaves the deviation.

    `x` of shape (points,): points of the parameter, measured or beyond.
    Returns: in the unit of the verdict.
    """
    growth, deviation = verdict.expectation.growth, verdict.expectation.deviation
    anchor = _anchor(verdict, growth, deviation)
    base, above = _met_at(verdict, anchor)
    shape = _relative(growth, x, anchor) * above
    tolerance = _relative(deviation, x, anchor)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        lower, upper = base + shape / tolerance, base + shape * tolerance
    model = np.asarray(verdict.model(x), dtype=float)
    return Curves(x, model, base + shape, np.minimum(lower, upper), np.maximum(lower, upper))


def expected_curve(verdict: Verdict, growth: Growth, x: Floats) -> Floats:
    """Return at `x` what would be drawn if `growth` were expected, or were a limit; see `anchored_curves`."""
    anchor = _anchor(verdict, verdict.expectation.growth, verdict.expectation.deviation, growth)
    base, above = _met_at(verdict, anchor)
    return base + _relative(growth, x, anchor) * above


def _met_at(verdict: Verdict, anchor: float) -> tuple[float, float]:
    """Return the constant that the curves have, and how far the model lies above it where they meet it."""
    base = 0.0 if verdict.model.growth.is_constant else float(verdict.model.constant)
    value = float(np.asarray(verdict.model(anchor)))
    return (base, value - base) if value > base else (0.0, value)


def _anchor(verdict: Verdict, *growths: Growth) -> float:
    """Return the first measured point where every growth has a positive value (log p has none at p = 1)."""
    x = np.asarray(verdict.series.x, dtype=float)
    usable = np.ones(x.shape, dtype=bool)
    for growth in growths:
        with np.errstate(divide="ignore", invalid="ignore"):
            usable &= np.isfinite(np.asarray(growth.log2_value(x), dtype=float) * np.ones_like(x))
    return float(x[usable][0]) if usable.any() else float(x[-1])


def _relative(growth: Growth, x: Floats, anchor: float) -> Floats:
    """Return growth(x) / growth(anchor) without overflow on the way."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at = np.asarray(growth.log2_value(np.asarray([anchor], dtype=float)), dtype=float).ravel()[0]
        return np.asarray(np.exp2(np.asarray(growth.log2_value(x), dtype=float) - at) * np.ones_like(x), dtype=float)
