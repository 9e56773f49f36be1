"""Where a divergence leaves its limits: the crossing point p*."""

import math
from collections.abc import Callable

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.expectation import Expectation
from scalkit.support.arrays import Floats

NEAR = 16.0  # four doublings beyond the data; benchmarks/judging.py tries predictions to there
_STEPS = 4000
_LOWEST = 1e-9
_LOG2_X_MAX = 1e6
_LOG2_X_MAX_EXPONENTIAL = 1000.0
_SNAP = 1e-9
"""Relative distance from a whole number that rounding alone explains."""


def crossing(model: Growth, expectation: Expectation) -> float:
    """Return the largest x where the divergence model/expectation, coefficients stripped, meets a deviation limit.

    Returns: 1 if the divergence is outside for all x > 1; NaN if the model is inside the limits; infinite beyond every
    number that can be represented. For the divergence ``p^(-3/4)*log(p)`` and the deviation ``p^(1/2)`` it is 65536.
    """
    if expectation.match(model) != "none":
        return math.nan
    divergence = model / expectation.growth
    if expectation.direction(model) == "grows slower":
        divergence = divergence**-1
    root = _last_root(divergence / expectation.deviation, expectation.parameter)
    return 1.0 if math.isnan(root) else root


def _last_root(excess: Growth, parameter: str) -> float:
    """Return the largest x > 1 where `excess` is 1; NaN if there is none."""
    e = excess.exponents(parameter)
    exponential, power, log = float(e.exponential), float(e.power), float(e.log)

    def log2_of(log2_x: Floats) -> Floats:
        value = power * log2_x + log * np.log2(log2_x)
        return np.asarray(value + exponential * np.exp2(log2_x) if exponential else value)

    highest = _LOG2_X_MAX_EXPONENTIAL if exponential else _LOG2_X_MAX
    grid = np.geomspace(_LOWEST, highest, _STEPS)
    turning = -log / (power * math.log(2)) if power and not exponential else 0.0
    if _LOWEST < turning < highest:
        grid = np.union1d(grid, [turning])
    root = last_sign_change(log2_of, grid)
    if math.isnan(root):
        return root
    x = math.inf if root > 1023 else 2.0**root
    return float(round(x)) if x < math.inf and abs(x - round(x)) <= _SNAP * x else x


def last_sign_change(function: Callable[[Floats], Floats], grid: Floats) -> float:
    """Return the largest root where `function` turns positive.

    `function`: from and to an ndarray of shape (n,).
    `grid` of shape (n,): ascending; fine enough to separate the roots.
    Returns: NaN if `function` is positive on all of `grid`; infinite if it is not positive at the end.
    """
    low = np.flatnonzero(function(grid) <= 0.0)
    if not low.size:
        return math.nan
    if low[-1] == grid.size - 1:
        return math.inf
    below, above = float(grid[low[-1]]), float(grid[low[-1] + 1])
    while below < (middle := (below + above) / 2) < above:
        if function(np.array([middle]))[0] <= 0.0:
            below = middle
        else:
            above = middle
    return below


def place_of(x: float, largest: float) -> str:
    """Return where a point lies against the end of the measured range, in words; near is up to 16 times that."""
    if x <= largest:
        return "inside the measured range"
    return "near the measured range" if x <= NEAR * largest else "far beyond the measured range"


def shown_scale(x: float) -> str:
    """Return a setting of the parameter as a person would write it: 65,536, 5.66, 1.3e+12."""
    if math.isinf(x):
        return "more than 2^1000"
    if x >= 1e7:
        return f"{x:.3g}"
    return f"{x:,.0f}" if x >= 1000 or x == round(x) else f"{x:.3g}"
