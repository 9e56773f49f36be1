"""Fits ``constant + coefficient * tick(x)`` for every tick at once, in closed form, with relative weights.

The weight of a point is 1/y^2, so relative errors count; both coefficients are non-negative, because a run time or a size
is a sum of costs. Ticks are scaled by their largest value at the settings, so that 2^x never overflows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.fit.model import Model
from scalkit.growth import Growth

ROUNDING = 1e-13
SPREAD = 400  # binary digits between the largest value and the least that still counts by its own size
TINIEST = 5e-324


@dataclass(frozen=True, eq=False)
class Fits:
    """The fits of all ticks to all series.

    `log2_scales` (shape (H,)): log2 of each tick's largest value at the settings.
    `constants`, `scaled` (shape (series, H)): the constant, and the coefficient times ``2**log2_scale``.
    `rss` (shape (series, H)): residual sum of squares, relative to the measured values; infinite where a tick falls while
    the data rise.
    `tss` (shape (series,)): the same for the best constant.
    `means` (shape (series,)): the best constant itself.
    `adjusted_r2` (shape (series, H)): -inf where the tick does not fit at all; NaN where all values of a series are equal.
    """

    ticks: tuple[Growth, ...]
    log2_scales: Floats
    constants: Floats
    scaled: Floats
    rss: Floats
    tss: Floats
    means: Floats
    adjusted_r2: Floats

    def model(self, index: int, parameter: str, unit: str, *, is_rough: bool = False, weight: float = math.nan) -> Model:
        """Return the model of a tick and the first series; of the best constant where `index` is negative."""
        if index < 0:
            constant, tss = float(self.means[0]), float(self.tss[0])
            return Model(constant, 0.0, Growth.constant(), parameter, unit, math.nan, tss, -math.inf, is_rough, weight)
        log2 = math.log2(float(self.scaled[0, index])) - float(self.log2_scales[index])
        return Model(
            constant=float(self.constants[0, index]),
            coefficient=float(np.exp2(log2)) if log2 < 1024 else math.inf,
            growth=self.ticks[index],
            parameter=parameter,
            unit=unit,
            adjusted_r2=float(self.adjusted_r2[0, index]),
            rss=float(self.rss[0, index]),
            log2_coefficient=log2,
            is_rough=is_rough,
            weight=weight,
        )

    def of(self, index: int) -> "Fits":
        """Return the fits of one series alone."""
        one = slice(index, index + 1)
        return replace(
            self,
            constants=self.constants[one],
            scaled=self.scaled[one],
            rss=self.rss[one],
            tss=self.tss[one],
            means=self.means[one],
            adjusted_r2=self.adjusted_r2[one],
        )


def fit_ticks(x: Floats, y: Floats, ticks: Sequence[Growth]) -> Fits:
    """Return the weighted least-squares fits of every tick to every series.

    `x` (shape (points,)): settings of the parameter, at least three.
    `y` (shape (series, points)): non-negative and finite; a zero is weighted as the smallest positive value of its series.
    `ticks`: None of them constant.

    Source: Shudler et al. 2015, sections 2.3 and 3.3 (docs/references.md); the adjusted coefficient of determination is the
    selection criterion.
    """
    n = len(x)
    t, scales, usable = _scaled_ticks(tuple(x.tolist()), tuple(ticks))
    unit = unit_of(y, 1)
    y = y / unit
    scale = error_scale(y, 1)
    w = 1.0 / scale**2
    total = w.sum(axis=1)
    mean_y = (w * y).sum(axis=1) / total
    mean_t = np.einsum("sn,hn->sh", w, t) / total[:, None]  # unlike a matrix product the same for any number of series
    dt = t[None, :, :] - mean_t[:, :, None]
    dy = (y - mean_y[:, None])[:, None, :]
    variance = np.einsum("sn,shn->sh", w, dt * dt)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(variance > 0, np.einsum("sn,shn->sh", w, dt * dy) / variance, -1.0)
        constant = mean_y[:, None] - slope * mean_t
        through_zero = np.einsum("sn,hn->sh", w * y, t) / np.einsum("sn,hn->sh", w, t * t)
    negative = constant < ROUNDING * mean_y[:, None]
    slope = np.where(negative & (slope > 0), through_zero, slope)
    constant = np.where(negative, 0.0, constant)
    fits = (slope * unit > 0) & usable[None, :]
    with np.errstate(over="ignore", invalid="ignore"):
        residual = (y[:, None, :] - constant[:, :, None] - slope[:, :, None] * t[None, :, :]) / scale[:, None, :]
        rss = np.where(fits, np.einsum("shn,shn->sh", residual, residual), np.inf)
    with np.errstate(over="ignore"):
        tss = np.sum((dy[:, 0, :] / scale) ** 2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(tss[:, None] > 0, 1.0 - (rss / (n - 2)) / (tss[:, None] / (n - 1)), np.nan)
    return Fits(tuple(ticks), scales, constant * unit, slope * unit, rss, tss, mean_y * unit[:, 0], r2)


@lru_cache(maxsize=64)
def log2_values(settings: tuple[float, ...], ticks: tuple[Growth, ...]) -> Floats:
    """Return log2 of each tick at each setting, of shape (ticks, settings); kept, as many series share both."""
    x = np.array(settings)
    found = np.array([tick.log2_value(x) for tick in ticks]).reshape(len(ticks), len(x))
    found.flags.writeable = False
    return found


@lru_cache(maxsize=64)
def _scaled_ticks(settings: tuple[float, ...], ticks: tuple[Growth, ...]) -> tuple[Floats, Floats, Flags]:
    """Return ticks over their largest value, of shape (H, points), log2 of that, and whether all values are finite."""
    log2 = log2_values(settings, ticks)
    scales = np.max(log2, axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        t = np.exp2(log2 - scales[:, None])
    usable = np.isfinite(t).all(axis=1)
    t = np.where(usable[:, None], t, 0.0)
    for array in (t, scales, usable):
        array.flags.writeable = False
    return t, scales, usable


def unit_of(size: Floats, axis: int) -> Floats:
    """Return a power of two near the sizes of each series, so that squares stay in range and no digit is lost."""
    smallest = np.log2(error_scale(size, axis).min(axis=axis, keepdims=True))
    largest = np.log2(np.maximum(size.max(axis=axis, keepdims=True), TINIEST))
    return np.asarray(np.exp2(np.floor(np.maximum(smallest, largest - SPREAD))))


def error_scale(size: Floats, axis: int) -> Floats:
    """Return the size of each value, of a zero the smallest one of its series, which lies along an axis."""
    smallest = np.min(np.where(size > 0, size, np.inf), axis=axis, keepdims=True)
    scale = np.where(size > 0, size, np.where(np.isfinite(smallest), smallest, 1.0))
    return np.asarray(np.maximum(scale, np.max(size, axis=axis, keepdims=True) * 2.0**-SPREAD))


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
