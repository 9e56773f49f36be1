"""Where a divergence leaves its limits: the crossing point p*."""

from __future__ import annotations

import math
from collections.abc import Callable

from scalkit.growth import Growth
from scalkit.validation.expectation import Expectation

__all__ = ["NEAR", "crossing", "last_sign_change", "place_of"]

NEAR = 16.0
_STEPS = 4000
_LOG2_X_MAX = 1e6
_LOG2_X_MAX_EXPONENTIAL = 1000.0


def crossing(model: Growth, expectation: Expectation) -> float:
    """Return the largest x where the divergence model/expectation, coefficients stripped, meets a deviation limit.

    Returns
    -------
    float
        1 if it is outside for all x > 1; NaN if the model is inside the limits; infinite beyond every number that can be
        represented.
    """
    if expectation.rank(model) != "none":
        return math.nan
    divergence = model / expectation.growth
    grows = expectation.direction(model) == "grows faster"
    excess = (divergence if grows else divergence**-1) / expectation.deviation
    parameter = expectation.parameter
    limit = _LOG2_X_MAX_EXPONENTIAL if excess.exponential(parameter) else _LOG2_X_MAX
    root = last_sign_change(lambda log2_x: _log2_of(excess, parameter, log2_x), 1e-9, limit)
    if math.isnan(root):
        return 1.0
    return math.inf if root > 1023 else 2.0**root


def _log2_of(growth: Growth, parameter: str, log2_x: float) -> float:
    e = growth.exponents(parameter)
    value = float(e.power) * log2_x + float(e.log) * math.log2(log2_x)
    return value + float(e.exponential) * 2.0**log2_x if e.exponential else value


def last_sign_change(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the largest root of `function` where it turns positive between `low` and `high`; NaN if there is none."""
    ratio = (high / low) ** (1.0 / _STEPS)
    above = high
    for _ in range(_STEPS):
        below = max(low, above / ratio)
        if function(below) <= 0.0:
            return _bisect(function, below, above)
        above = below
    return math.nan


def _bisect(function: Callable[[float], float], below: float, above: float) -> float:
    for _ in range(200):
        middle = (below + above) / 2
        if middle in (below, above):
            break
        if function(middle) <= 0.0:
            below = middle
        else:
            above = middle
    return below if function(below) == 0.0 else above


def place_of(x: float, smallest: float, largest: float) -> str:
    """Return where a point lies against the measured range, in words."""
    if x <= largest:
        return "inside the measured range" if x >= smallest else "before the measured range"
    return "near the measured range" if x <= NEAR * largest else "far beyond the measured range"
