"""Fits on a logarithmic scale, for values that no tick follows closely.

Weights of 1/y^2 make a model follow the smallest values when others are off by orders of magnitude: a model that is far
too low costs at most 100 %, one that is too high costs any amount. On a logarithmic scale both cost the same.
"""

from collections.abc import Sequence

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit.linear import Fits, log2_values
from scalkit.growth import Growth

_LEAST, _BEYOND = -14.0, 14.0
_COARSE = np.linspace(0.0, 1.0, 256)
_FINE = np.linspace(-1.0, 1.0, 101)
_LEAST_GAIN = 1e-9


def fit_log_scale(x: Floats, y: Floats, ticks: Sequence[Growth]) -> Fits:
    """Return the fits of every tick to one series that minimise the squares of ``log(y / model)``.

    `x`, `y` of shape (points,): all positive.
    `ticks`: None of them constant.
    Returns: of one series; rss and tss are in squared natural logarithms, which are squared relative errors where
    small.
    """
    n, log_y = len(x), np.log(y)
    log_ticks, scales = _scaled_logs(x, ticks)
    usable = np.asarray(np.isfinite(log_ticks).any(axis=1) & ~np.isnan(log_ticks).any(axis=1))
    log_ticks = np.where(usable[:, None], log_ticks, 0.0)
    odds = np.concatenate([_best_odds(log_ticks[k : k + 1], log_y) for k in range(len(ticks))])  # one by one: memory
    offsets = log_y - _log_shapes(log_ticks, odds[:, None])[:, 0]
    level = offsets.mean(axis=1)
    with np.errstate(over="ignore"):
        rss = ((offsets - level[:, None]) ** 2).sum(axis=1)
    tss = float(((log_y - log_y.mean()) ** 2).sum())
    rss = np.where(usable & (rss < (1 - _LEAST_GAIN) * tss), rss, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1.0 - (rss / (n - 2)) / (tss / (n - 1))
    return Fits(
        ticks=tuple(ticks),
        log2_scales=scales,
        constants=np.exp(level - np.logaddexp(0.0, odds))[None],
        scaled=np.exp(level - np.logaddexp(0.0, -odds))[None],
        rss=rss[None],
        tss=np.array([tss]),
        means=np.array([np.exp(log_y.mean())]),
        adjusted_r2=r2[None],
    )


def _scaled_logs(x: Floats, ticks: Sequence[Growth]) -> tuple[Floats, Floats]:
    """Return the natural logarithm of every tick over its largest value, and log2 of that value."""
    log2 = log2_values(tuple(x.tolist()), tuple(ticks))
    scales = np.max(log2, axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        return (log2 - scales[:, None]) * np.log(2.0), scales


def _log_shapes(log_ticks: Floats, odds: Floats) -> Floats:
    """Return the logarithm of ``(1 - share) + share * tick``, of shape (ticks, odds, points), for log odds of the share."""
    low, high = -np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)
    return np.asarray(np.logaddexp(low[:, :, None], high[:, :, None] + log_ticks[:, None, :]))


def _best_odds(log_ticks: Floats, log_y: Floats) -> Floats:
    """Return for each tick the log odds of its share at the largest point, by a coarse and a fine search."""

    def best(odds: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = (log_y - _log_shapes(log_ticks, odds)).var(axis=2)
        spread = np.where(np.isnan(spread), np.inf, spread)
        return np.asarray(np.take_along_axis(odds, np.argmin(spread, axis=1)[:, None], axis=1)[:, 0])

    smallest = np.min(np.where(np.isfinite(log_ticks), log_ticks, 0.0), axis=1)
    width = (_BEYOND - _LEAST - smallest)[:, None]
    all_of_it = np.full_like(width, np.inf)
    found = best(np.concatenate([_LEAST + width * _COARSE, all_of_it], axis=1))
    return best(found[:, None] + width / len(_COARSE) * _FINE)
