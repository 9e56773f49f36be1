"""Fits a constant plus a slope, neither negative, to values with relative noise, with intervals."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from scalkit.stats.pure_error import Noise
from scalkit.support.arrays import Floats

_Form = TypeVar("_Form", bound=Hashable)
_ROUNDS = 20
"""The most rounds of reweighting; the loop ends when the line no longer changes."""

_SMALL = 1e-300
"""Keeps a division by the norm of a column of zeros finite."""

_ROUNDING = 1e-9
"""Relative; below this a part of the line is rounding, and no part."""

LEVEL = 0.9
"""Of all intervals, as of verdicts: nine times in ten the value is inside."""


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


def fit_affine(x: Floats, y: Floats, noise: Noise) -> Affine:
    """Return the line of least relative squares without negative coefficients.

    The errors are relative to the line itself, which is fitted again until it no longer changes.

    `x` of shape (points,): not negative.
    `y` of shape (points,): positive.
    `noise`: of the values; the residuals count where they are larger.
    """
    least = _ROUNDING * float(np.median(y))
    errors = y
    for _ in range(_ROUNDS):
        line = _fit(x, y, errors, noise.error**2, noise.freedom)
        model = np.maximum(line(x), least)
        if np.allclose(model, errors, rtol=1e-12, atol=0):
            break
        errors = model
    return line


def fit_line(x: Floats, y: Floats, errors: Floats) -> Affine:
    """Return the line of least squares, neither coefficient negative, of values with standard errors of their own.

    `x`, `y`, `errors` of shape (points,): the errors are positive; where the residuals are larger than they say, the
    intervals follow the residuals.
    """
    return _fit(x, y, errors, 1.0, _freedom(x))


def _fit(x: Floats, y: Floats, errors: Floats, variance: float, freedom: float) -> Affine:
    """Return the line of least squares in units of `errors`.

    `variance`, `freedom`: the least variance of a value in these units, and its degrees of freedom.
    """
    from scipy.stats import t

    scale = float(np.abs(x).max()) or 1.0
    columns = np.stack([np.ones_like(x), x / scale], axis=1) / errors[:, None]
    target = y / errors
    best = _without_negatives(columns, target)[0] if (target > 0).any() else np.zeros(2)
    free, low = np.linalg.lstsq(columns, target, rcond=None)[0], -_ROUNDING * float(np.abs(y).max())
    bounded = tuple(name for name, b, f in zip(("constant", "slope"), best, free, strict=True) if b == 0 and f < low)
    residual = target - columns @ best
    scatter = float(residual @ residual) / _freedom(x)
    variance, freedom = max((variance, freedom), (scatter, _freedom(x)))
    covariance = variance * np.linalg.pinv(columns.T @ columns)
    unit = np.array([1.0, 1 / scale])
    far = float(t.ppf((1 + LEVEL) / 2, freedom)) * np.sqrt(np.diag(covariance))
    intervals = np.stack([np.maximum(best - far, 0.0), best + far], axis=1) * unit[:, None]
    (constant, slope), (of_constant, of_slope) = (best * unit).tolist(), intervals.tolist()
    pairs = tuple(tuple(row) for row in (covariance * np.outer(unit, unit)).tolist())
    return Affine(constant, slope, tuple(of_constant), tuple(of_slope), pairs, bounded)  # type: ignore[arg-type]


def _freedom(x: Floats) -> float:
    """Return the degrees of freedom of the residuals."""
    return float(max(1, len(x) - 2))


def relative_squares(columns: Floats, y: Floats) -> tuple[Floats, float]:
    """Return the coefficients of least relative squares, none negative, and the root of the sum of squares."""
    return _without_negatives(columns / y[:, None], np.ones_like(y))


def _without_negatives(columns: Floats, target: Floats) -> tuple[Floats, float]:
    """Return the coefficients of least squares, none negative, and the root of the sum of squares."""
    from scipy.optimize import nnls

    scale = np.maximum(np.linalg.norm(columns, axis=0), _SMALL)
    found, distance = nnls(columns / scale, target)
    return np.asarray(found / scale), float(distance)


def shares_of(criterion: Mapping[_Form, float]) -> dict[_Form, float]:
    """Return the probability of each form from its information criterion."""
    least = min(criterion.values())
    likely = {form: math.exp(-min(value - least, 1400.0) / 2) for form, value in criterion.items()}
    total = sum(likely.values())
    return {form: value / total for form, value in likely.items()}
