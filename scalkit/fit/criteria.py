"""Criteria by which a tick is chosen among the fits of all ticks; the smallest score wins.

Leaving one point out needs no further fit: the weighted sums without it follow from the sums with it.
"""

from typing import Any, Literal, get_args

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.fit.batch_kernel import Fit, Rows, Ticks

Criterion = Literal["adjusted_r2", "aicc", "loo", "smape"]

_TIE = 1e-12
_ROUNDING = 1e-13
_LEAST_REST = 1e-10
_FEWEST_FOR_AICC = 5


def require_criterion(criterion: str, min_points: int) -> None:
    """Raise a DataError if the criterion is unknown, or undefined for the fewest points that are allowed."""
    if criterion not in get_args(Criterion):
        raise DataError(f"the criterion {criterion!r} is unknown; choose one of {', '.join(get_args(Criterion))}.")
    if criterion == "aicc" and min_points < _FEWEST_FOR_AICC:
        raise DataError(
            f"the criterion 'aicc' needs {_FEWEST_FOR_AICC} points, min_points is {min_points}; "
            "choose 'adjusted_r2', 'loo' or 'smape' for fewer."
        )


def scores(criterion: Criterion, rows: Rows, ticks: Ticks, fits: list[Fit], nonnegative: bool) -> tuple[Floats, Floats]:
    """Return the score of every tick, and by how much scores may differ that count as equal.

    `criterion`: ``"adjusted_r2"`` is the residual sum of squares, as all ticks have as many coefficients. ``"aicc"``: a
    constant at its limit of zero is no coefficient. ``"loo"``: the sum of squares of the errors at the points left out.
    ``"smape"``: the mean over the points left out of ``2 |y - m| / (|y| + |m|)``.
    `fits`: one for each tick.
    The result is of shape (ticks, series).
    Returns: infinite where a tick does not fit.
    The result is of shape (series,).

    Source: Hurvich and Tsai, Regression and time series model selection in small samples, Biometrika 76 (1989): AICc.
    """
    rss = np.array([fit.rss for fit in fits])
    spread = rows.variation * rows.total
    if criterion == "adjusted_r2":
        return rss, _TIE * spread
    if criterion == "aicc":
        return _aicc(rss, np.array([fit.constant for fit in fits]), spread, rows.n_points), np.full(len(spread), 1e-9)
    is_squared = criterion == "loo"
    found = np.array([_left_out(t[:, None], rows, nonnegative, is_squared) for t in ticks.t])
    found = np.where(np.isfinite(rss) & ~np.isnan(found), found, np.inf)
    return found, _TIE * spread if is_squared else np.full(len(spread), _TIE)


def _aicc(rss: Floats, constants: Floats, spread: Floats, n: Any) -> Floats:
    k = 2.0 + (constants != 0)
    with np.errstate(divide="ignore"):
        deviance = n * np.log(np.maximum(rss, _TIE**2 * spread) / n)
    return np.where(np.isfinite(rss), deviance + 2 * k + 2 * k * (k + 1) / (n - k - 1), np.inf)


def _left_out(t: Floats, rows: Rows, nonnegative: bool, is_squared: bool) -> Floats:
    """Return the score of one tick, of shape (points, 1), for each series: every point predicted from the others."""
    w, y, v = rows.w, rows.y, rows.deviation
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean_t = (w * t).sum(axis=0)
        dt = t - mean_t
        others = 1.0 - w
        gone = w / others
        variance = (w * dt * dt).sum(axis=0)
        rest = variance - gone * dt * dt
        slope = ((w * dt * v).sum(axis=0) - gone * dt * v) / rest
        mean_y, mean_t = rows.mean - gone * v, mean_t - gone * dt
        slope = np.where(rest > _LEAST_REST * variance, slope, 0.0)
        if nonnegative:
            slope = np.maximum(slope, 0.0)
        constant = mean_y - slope * mean_t
        if nonnegative:
            wt = w * t
            through_zero = ((wt * y).sum(axis=0) - wt * y) / ((wt * t).sum(axis=0) - wt * t)
            is_negative = constant < _ROUNDING * mean_y
            slope = np.where(is_negative & (slope > 0), through_zero, slope)
            constant = np.where(is_negative, 0.0, constant)
        predicted = constant + slope * t
        error = y - predicted
        if is_squared:
            return np.asarray(rows.total * (w * error * error).sum(axis=0))
        size = np.abs(y) + np.abs(predicted)
        relative = np.where((w > 0) & (size > 0), 2 * np.abs(error) / size, 0.0)
        return np.asarray(relative.sum(axis=0) / rows.n_points)
