"""Fits a constant plus a slope, neither negative, to values with relative noise, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.fit.pure_error import Noise

_ROUNDS = 20
"""The most rounds of reweighting; the loop ends when the line no longer changes."""

_SMALL = 1e-300
"""Keeps a division by a model that is zero finite."""

_ROUNDING = 1e-9
"""Relative; below this a part of the line is rounding, and no part."""


@dataclass(frozen=True)
class Affine:
    """``constant + slope * x`` with intervals of both.

    `constant`, `slope`: not negative.
    `constant_interval`, `slope_interval`: confidence intervals; they begin at zero for what is held there.
    `covariance`: of constant and slope.
    `bounded`: which of ``"constant"`` and ``"slope"`` came out negative and are held at zero.
    """

    constant: float
    slope: float
    constant_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    covariance: tuple[tuple[float, float], tuple[float, float]]
    bounded: tuple[str, ...]

    def __call__(self, x: ArrayLike) -> Floats:
        """Return the line at `x`."""
        return np.asarray(self.constant + self.slope * np.asarray(x, dtype=np.float64))


def fit_affine(
    x: Floats, y: Floats, noise: Noise, kind: Literal["relative", "log-normal"] = "relative", level: float = 0.9
) -> Affine:
    """Return the line of least relative, or logarithmic, squares without negative coefficients.

    `x` of shape (points,): not negative.
    `y` of shape (points,): positive.
    `noise`: of the values; the residuals count where they are larger.
    `level`: of the intervals.
    """
    scale_x, scale_y = float(x.max()) or 1.0, float(np.median(y))
    columns = np.stack([np.ones_like(x), x / scale_x], axis=1)
    values = y / scale_y
    best = _least(columns, values, values, kind)
    free = _solved(columns / values[:, None], np.ones_like(values))
    bounded = tuple(
        name for name, b, f in zip(("constant", "slope"), best, free, strict=True) if b == 0 and f < -_ROUNDING
    )
    model = np.maximum(columns @ best, _SMALL)
    weighted = columns / model[:, None]
    dof = max(1, len(x) - 2)
    residual = values / model - 1 if kind == "relative" else np.log(values / model)
    scatter = float(residual @ residual) / dof
    variance, freedom = max((noise.error**2, noise.freedom), (scatter, float(dof)))
    covariance = variance * np.linalg.pinv(weighted.T @ weighted)
    unit = np.array([scale_y, scale_y / scale_x])
    intervals = _intervals(best, np.sqrt(np.diag(covariance)), freedom, level) * unit[:, None]
    scaled = covariance * np.outer(unit, unit)
    return Affine(
        float(best[0] * unit[0]),
        float(best[1] * unit[1]),
        (float(intervals[0, 0]), float(intervals[0, 1])),
        (float(intervals[1, 0]), float(intervals[1, 1])),
        ((float(scaled[0, 0]), float(scaled[0, 1])), (float(scaled[1, 0]), float(scaled[1, 1]))),
        bounded,
    )


def fit_line(x: Floats, y: Floats, errors: Floats, level: float = 0.9) -> Affine:
    """Return the line of least squares, neither coefficient negative, of values with standard errors of their own.

    `x`, `y`, `errors` of shape (points,): the errors are positive; where the residuals are larger than they say, the
    intervals follow the residuals.
    `level`: of the intervals.
    """
    from scipy.optimize import nnls

    scale = float(np.abs(x).max()) or 1.0
    columns = np.stack([np.ones_like(x), x / scale], axis=1) / errors[:, None]
    size = np.maximum(np.linalg.norm(columns, axis=0), _SMALL)
    target = y / errors
    best = nnls(columns / size, target)[0] / size if (target > 0).any() else np.zeros(2)
    free, low = _solved(columns, target), -_ROUNDING * float(np.abs(y).max())
    bounded = tuple(name for name, b, f in zip(("constant", "slope"), best, free, strict=True) if b == 0 and f < low)
    dof = max(1, len(x) - 2)
    residual = target - columns @ best
    covariance = max(1.0, float(residual @ residual) / dof) * np.linalg.pinv(columns.T @ columns)
    unit = np.array([1.0, 1 / scale])
    intervals = _intervals(best, np.sqrt(np.diag(covariance)), float(dof), level) * unit[:, None]
    scaled = covariance * np.outer(unit, unit)
    return Affine(
        float(best[0]),
        float(best[1] / scale),
        (float(intervals[0, 0]), float(intervals[0, 1])),
        (float(intervals[1, 0]), float(intervals[1, 1])),
        ((float(scaled[0, 0]), float(scaled[0, 1])), (float(scaled[1, 0]), float(scaled[1, 1]))),
        bounded,
    )


def _intervals(best: Floats, errors: Floats, freedom: float, level: float) -> Floats:
    from scipy.stats import t

    far = float(t.ppf((1 + level) / 2, freedom)) * errors
    return np.stack([np.maximum(best - far, 0.0), best + far], axis=1)


def _solved(columns: Floats, target: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(columns, target, rcond=None)[0])


def _least(columns: Floats, y: Floats, weights: Floats, kind: str) -> Floats:
    """Return the coefficients, by least squares with the weights of the fit before, until they settle."""
    from scipy.optimize import nnls

    best = nnls(columns / weights[:, None], y / weights)[0]
    for _ in range(_ROUNDS):
        model = np.maximum(columns @ best, _SMALL)
        # one step of Gauss and Newton for logarithms: log y is linearised around the model
        target = y if kind == "relative" else model * (1 + np.log(y / model))
        step = nnls(columns / model[:, None], target / model)[0]
        if np.allclose(step, best, rtol=1e-12, atol=0):
            break
        best = step
    return np.asarray(best) if math.isfinite(float(best.sum())) else np.zeros(2)
