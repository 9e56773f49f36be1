"""The curves of a fit: model, expectation and deviation limits."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.verdict import Verdict
from scalkit.support.arrays import Floats


@dataclass(frozen=True)
class Curves:
    """Values at the points `x`, each of shape (points,), in the unit of the metric; gaps are NaN."""

    x: Floats
    model: Floats
    expected: Floats
    lower: Floats
    upper: Floats


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
    anchor = anchor_of(verdict, growth, deviation)
    base, above = met_at(verdict, anchor)
    shape = relative(growth, x, anchor) * above
    tolerance = relative(deviation, x, anchor)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        lower, upper = base + shape / tolerance, base + shape * tolerance
    model = np.asarray(verdict.model(x), dtype=float)
    return Curves(x, model, base + shape, np.minimum(lower, upper), np.maximum(lower, upper))


def met_at(verdict: Verdict, anchor: float) -> tuple[float, float]:
    """Return the constant that the curves have, and how far the model lies above it where they meet it."""
    base = 0.0 if verdict.model.growth.is_constant else float(verdict.model.constant)
    value = float(np.asarray(verdict.model(anchor)))
    return (base, value - base) if value > base else (0.0, value)


def anchor_of(verdict: Verdict, *growths: Growth) -> float:
    """Return the first measured point where every growth has a positive value (log p has none at p = 1)."""
    x: tuple[float, ...] = tuple(verdict.series.x.tolist())
    usable = [all(one) for one in zip(*(_has_values(growth, x) for growth in growths), strict=True)]
    return x[usable.index(True)] if any(usable) else x[-1]


@lru_cache(4096)
def _has_values(growth: Growth, x: tuple[float, ...]) -> list[bool]:
    """Return where a growth has a positive value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.asarray(growth.log2_value(np.asarray(x, dtype=float)), dtype=float) * np.ones(len(x))
    return list(np.isfinite(logs).tolist())


def relative(growth: Growth, x: Floats, anchor: float) -> Floats:
    """Return growth(x) / growth(anchor) without overflow on the way."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at = np.asarray(growth.log2_value(np.asarray([anchor], dtype=float)), dtype=float).ravel()[0]
        return np.asarray(np.exp2(np.asarray(growth.log2_value(x), dtype=float) - at) * np.ones_like(x), dtype=float)
