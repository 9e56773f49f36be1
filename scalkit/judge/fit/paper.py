"""The paper's choice of a growth: least-squares fits of all, the best one by adjusted R^2.

A fit is a constant plus a coefficient times a growth, in closed form. The weight of a point is
1/y^2, so relative errors count; no coefficient is negative, because a time or a size is a sum of
costs.

Source: Shudler et al. 2015, sections 2.3 and 3.3 (docs/references.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import fdtrc

from scalkit.growth import Growth
from scalkit.growth.growth import log2_values
from scalkit.judge.fit.checks import check_series
from scalkit.judge.fit.model import Model, Term
from scalkit.measure import Series
from scalkit.support.arrays import Flags, Floats
from scalkit.support.options import MIN_POINTS

SIGNIFICANCE = 0.05
"""Of the test against a constant, which has no adjusted R^2: one constant in twenty seems to grow."""
_FEWEST_OF_RUN = 3
"""Values of a run that rise twice."""
_TIE = 1e-12
"""Residual sums of squares within this part of the total one are equal but for rounding."""
_ROUNDING = 1e-13
"""Constants below this part of the mean come from rounding."""
_DIGITS = 400
"""Binary digits below the largest value at which sizes end, so that no square overflows."""
_SMALLEST_FLOAT = 5e-324


@dataclass(frozen=True, eq=False)
class Fits:
    """The fits of all growths to all series.

    Attributes
    ----------
    growths : tuple of Growth
    log2_scales : ndarray of shape (growths,)
        log2 of each growth's largest value at the points. Growths are divided by that value, so
        that 2^x never overflows.
    constants, scaled : ndarray of shape (series, growths)
        The constant, and the coefficient times ``2**log2_scale``.
    rss : ndarray of shape (series, growths)
        Residual sum of squares, relative to the measured values; infinite where a growth falls
        while the values rise.
    tss, means : ndarray of shape (series,)
        The same for the best constant, and this constant.
    adjusted_r2 : ndarray of shape (series, growths)
        -inf where the growth does not fit; NaN where all values of a series are equal.
    """

    growths: tuple[Growth, ...]
    log2_scales: Floats
    constants: Floats
    scaled: Floats
    rss: Floats
    tss: Floats
    means: Floats
    adjusted_r2: Floats

    def model(self, place: int, parameter: str, unit: str) -> Model:
        """Return the model of the first series, of the constant if `place` is negative."""
        if place < 0:
            terms: tuple[Term, ...] = (Term.of(Growth(), float(self.means[0])),)
            return Model((parameter,), terms, unit, float(self.tss[0]))
        log2 = math.log2(float(self.scaled[0, place])) - float(self.log2_scales[place])
        terms = (Term.of(Growth(), float(self.constants[0, place])), Term(self.growths[place], log2))
        terms = terms if self.constants[0, place] else terms[1:]
        return Model((parameter,), terms, unit, float(self.rss[0, place]), float(self.adjusted_r2[0, place]))


def fit_growths(x: Floats, y: Floats, growths: Sequence[Growth]) -> Fits:
    """Return the weighted least-squares fits of every growth to every series.

    Parameters
    ----------
    x : ndarray of shape (points,)
        At least three.
    y : ndarray of shape (series, points)
        Finite and not negative; a zero has the weight of the smallest positive value of its series.
    growths : sequence of Growth
        None of them constant.
    """
    n = len(x)
    t, log2_scales, is_usable = _scaled_growths(tuple(x.tolist()), tuple(growths))
    unit = _unit_of(y)
    y = y / unit
    error = _sizes(y)
    constants, slopes, means = _least_squares(y, t, 1.0 / error**2)
    with np.errstate(over="ignore", invalid="ignore"):
        values = constants[:, :, None] + slopes[:, :, None] * t[None, :, :]
        residuals = (y[:, None, :] - values) / error[:, None, :]
        squares = np.einsum("shn,shn->sh", residuals, residuals)
        tss = np.sum(((y - means[:, None]) / error) ** 2, axis=1)
    rss = np.where((slopes * unit > 0) & is_usable[None, :], squares, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1.0 - (rss / (n - 2)) / (tss[:, None] / (n - 1))
    return Fits(
        growths=tuple(growths),
        log2_scales=log2_scales,
        constants=constants * unit,
        scaled=slopes * unit,
        rss=rss,
        tss=tss,
        means=means * unit[:, 0],
        adjusted_r2=np.where(tss[:, None] > 0, r2, np.nan),
    )


def _least_squares(y: Floats, t: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return constants and slopes, shape (series, growths), and means, the best constants alone.

    Where the constant would be negative, the line goes through zero.
    """
    total = weights.sum(axis=1)
    means = (weights * y).sum(axis=1) / total
    # Unlike a matrix product, einsum gives the same for any number of series.
    mean_t = np.einsum("sn,hn->sh", weights, t) / total[:, None]
    dt = t[None, :, :] - mean_t[:, :, None]
    dy = (y - means[:, None])[:, None, :]
    variance = np.einsum("sn,shn->sh", weights, dt * dt)
    through = np.einsum("sn,hn->sh", weights * y, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.einsum("sn,shn->sh", weights, dt * dy) / variance
        through = through / np.einsum("sn,hn->sh", weights, t * t)
    slopes = np.where(variance > 0, slopes, -1.0)
    constants = means[:, None] - slopes * mean_t
    is_negative = constants < _ROUNDING * means[:, None]
    slopes = np.where(is_negative & (slopes > 0), through, slopes)
    return np.where(is_negative, 0.0, constants), slopes, means


@lru_cache(maxsize=64)
def _scaled_growths(points: tuple[float, ...], growths: tuple[Growth, ...]) -> tuple[Floats, Floats, Flags]:
    """Return growths over their largest value, log2 of that, and whether all values are finite."""
    log2 = log2_values(points, growths)
    scales = np.max(log2, axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        t = np.exp2(log2 - scales[:, None])
    is_usable = np.isfinite(t).all(axis=1)
    t = np.where(is_usable[:, None], t, 0.0)
    for array in (t, scales, is_usable):
        array.flags.writeable = False
    return t, scales, is_usable


def _unit_of(y: Floats) -> Floats:
    """Return a power of two near the values of each series, so that no square overflows."""
    smallest = np.log2(_sizes(y).min(axis=1, keepdims=True))
    largest = np.log2(np.maximum(y.max(axis=1, keepdims=True), _SMALLEST_FLOAT))
    return np.asarray(np.exp2(np.floor(np.maximum(smallest, largest - _DIGITS))))


def _sizes(y: Floats) -> Floats:
    """Return the values of each series; in place of zeros the smallest positive one."""
    smallest = np.min(np.where(y > 0, y, np.inf), axis=1, keepdims=True)
    sizes = np.where(y > 0, y, np.where(np.isfinite(smallest), smallest, 1.0))
    return np.asarray(np.maximum(sizes, np.max(y, axis=1, keepdims=True) * 2.0**-_DIGITS))


def growing_of(growths: Sequence[Growth]) -> tuple[Growth, ...]:
    """Return the growths without the constant."""
    return tuple(growth for growth in growths if not growth.is_constant)


def best_growths(x: Floats, y: Floats, growths: Sequence[Growth]) -> list[Growth]:
    """Return the growth that the paper chooses for each series; the constant always competes.

    `x`, `y`: as in `fit_growths`.
    """
    growing = growing_of(growths)
    if not growing:
        return [Growth()] * len(y)
    fits = fit_growths(x, y, growing)
    places = fits.rss.argmin(axis=1).tolist()
    least, tss = fits.rss.min(axis=1).tolist(), fits.tss.tolist()
    return [
        growing[place] if _beats_constant(rss, total, len(x)) else Growth()
        for place, rss, total in zip(places, least, tss, strict=True)
    ]


def fit_series(
    series: Series, growths: Sequence[Growth], expected: Growth | None = None, min_points: int = MIN_POINTS
) -> tuple[Model, ...]:
    """Return all models of a series, the chosen one first, the others by falling adjusted R^2.

    A growth has to beat the constant, which always competes: it fits exactly, or by an F test at
    5 %, or every run of an exact metric shows it. Equal values are constant. Ties go to the
    expectation, then to the slower growth. An expectation that is nowhere further from the values
    than the resolution of the metric ties with the best.

    Parameters
    ----------
    series : Series
    growths : sequence of Growth
        The search space.
    expected : Growth, optional
        Wins ties.
    min_points : int
        Fewest points, at least 3.

    Raises
    ------
    DataError
        As `check_series` does.
    """
    check_series(series, min_points)
    fits = fit_growths(series.x, series.y[np.newaxis], growing_of(growths))
    constant = fits.model(-1, series.parameter, series.unit)
    if not np.ptp(series.y):
        return (replace(constant, terms=(Term.of(Growth(), float(series.y[0])),), rss=0.0),)  # without rounding
    models = [fits.model(k, series.parameter, series.unit) for k in _order(fits, expected)]
    models.sort(key=lambda one: one.growth != expected or not _is_within_resolution(series, one))
    best = models[0] if models else constant
    n, tss = len(series.x), float(fits.tss[0])
    if models and (_beats_constant(best.rss, tss, n) or _every_run_grows(series)):
        return (*models, constant)
    return (constant, *models)


def _order(fits: Fits, expected: Growth | None) -> list[int]:
    """Return the places of the growths that fit the first series, best first."""
    rss: list[float] = fits.rss[0].tolist()
    least = min(rss, default=0.0) + _TIE * float(fits.tss[0])

    def key(place: int) -> tuple[float, bool, Growth]:
        growth = fits.growths[place]
        return max(rss[place], least), growth != expected, growth

    return sorted((place for place, squares in enumerate(rss) if squares < math.inf), key=key)


def _is_within_resolution(series: Series, model: Model) -> bool:
    """Return whether a model is nowhere further from the values than their resolution, if any."""
    if series.resolution <= 0:
        return False
    return bool((np.abs(series.y - model(series.x)) <= series.resolution).all())


def _beats_constant(rss: float, tss: float, n: int) -> bool:
    """Return whether a growth fits exactly, or is better than the constant by an F test."""
    if rss <= _TIE * tss:
        return tss > 0
    return rss < tss and bool(fdtrc(1, n - 2, (tss - rss) / (rss / (n - 2))) < SIGNIFICANCE)


def _every_run_grows(series: Series) -> bool:
    """Return whether the values of every run never fall and rise at least twice, in an exact metric.

    A single step is no growth yet.
    """
    runs = [run[np.isfinite(run)] for run in series.values.T]
    steps = [np.diff(run) for run in runs if len(run) >= _FEWEST_OF_RUN]
    rises = [(step >= 0).all() and np.count_nonzero(step) >= 2 for step in steps]
    return series.exact and bool(rises) and all(rises)
