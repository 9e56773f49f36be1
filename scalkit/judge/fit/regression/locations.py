"""Standard errors of the values of a series, from the repetitions behind them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from scalkit.support.arrays import Floats, Ints

_ENOUGH = 4
"""So many repetitions have quartiles; below, the variance is taken."""
_BIAS = 1.2
"""The median of few estimates of a variance is below their mean by about so much."""
_OWN = 0.5
"""Share of a point's own variance beside that of all points: few repetitions tell little."""
_EFFICIENCY = np.pi / 2
"""Quantiles of normal errors need so many times more repetitions than the mean."""


@lru_cache
def _normal_range(count: int) -> float:
    """Return the root mean square of the interquartile range of standard normal values."""
    values = np.random.default_rng(0).normal(size=(50_000, count))
    low, high = np.quantile(values, (0.25, 0.75), axis=1)
    return float(np.sqrt(((high - low) ** 2).mean()))


def standard_errors(repetitions: Floats, y: Floats) -> Floats:
    """Return the relative standard error of the value of each point.

    The spread is the interquartile range, because one slow repetition of five, such as a warm-up,
    moves neither the value nor the quartiles. Half of the spread of a point is its own, half that
    of all points. With fewer than four repetitions it is the standard deviation of all points.
    Where values repeat, the clock is coarse: its step counts as an error of rounding.

    Parameters
    ----------
    repetitions : array of shape (points, repetitions), positive
        NaN marks a repetition that is missing.
    y : array of shape (points,), positive
        The values that stand for them.

    Returns
    -------
    array of shape (points,)
        0 where there is one repetition only.
    """
    with np.errstate(invalid="ignore"):
        logs = np.log(np.where(repetitions > 0, repetitions, np.nan))
    count = np.isfinite(logs).sum(axis=1)
    repeated = count >= 2
    if not repeated.any():
        return np.zeros(len(y))
    logs = logs[repeated]
    n = count[repeated]
    if n.min() >= _ENOUGH:
        normal = np.array([_normal_range(int(each)) for each in n])
        variance = (_interquartile_range(logs, n) / normal) ** 2
        own = _OWN
    else:
        variance, own = np.nanvar(logs, axis=1, ddof=1), 0.0
    pooled = _BIAS * float(np.median(variance))
    squared = np.full(len(y), pooled)
    squared[repeated] = own * variance + (1 - own) * pooled
    efficiency = np.where(count > 2, _EFFICIENCY, 1.0)
    step = clock_step(repetitions)
    found = squared * efficiency / np.maximum(count, 1) + (step / y) ** 2 / 12
    return np.asarray(np.sqrt(found))


def _interquartile_range(values: Floats, count: Ints) -> Floats:
    """Return the interquartile range of each row, of which so many values are not NaN."""
    ordered = np.sort(values, axis=1)  # NaN goes last

    def quantile(probability: float) -> Floats:
        place = probability * (count - 1)
        below = place.astype(np.int64)
        rows = np.arange(len(values))
        low, high = ordered[rows, below], ordered[rows, np.minimum(below + 1, count - 1)]
        return np.asarray(low + (place - below) * (high - low))

    return quantile(0.75) - quantile(0.25)


def clock_step(repetitions: Floats) -> float:
    """Return the step of a coarse clock, else 0.

    A clock is coarse if at least half of the repetitions repeat others of their point, or if the
    repetitions of each point agree and half of the points agree with others.
    """
    ordered = np.sort(repetitions, axis=1)  # NaN goes last
    steps = np.diff(ordered, axis=1)
    positive = steps[steps > 0]
    n_repeated = int((steps == 0).sum())
    if positive.size:
        return float(positive.min()) if n_repeated >= np.isfinite(repetitions).sum() / 2 else 0.0
    distinct = np.unique(ordered[:, 0])
    if not n_repeated or not 1 < len(distinct) <= len(ordered) / 2:
        return 0.0
    return float(np.diff(distinct).min())
