"""The arithmetic of `fit_models` on a block of series: which tick explains most, and the fits themselves.

Arrays are points first, (points, series) or (ticks, series), so that every sum runs over contiguous rows. A missing point has
weight zero. Weights are normalised to sum to 1 and values are taken from their weighted mean, so that with
``u = t - t(first point)`` the share of the variation that a tick explains needs only the sums ``Su``, ``Suu`` and ``Suv`` of
all ticks, three matrix products:

    R^2 = Suv^2 / (Suu - Su^2)

and where the constant c would be negative, R^2 falls by ``c^2 * (Suu - Su^2) / Stt``, the price of a fit through zero. The
variance keeps its digits because ``Suu - Su^2 >= w_first * Suu``: series whose first point hardly counts are left to the
full fits, as are near ties.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.fit.linear import ROUNDING, TINIEST, error_scale, unit_of

_IN_RANGE = 2.0**150
_LEAST_FIRST_WEIGHT = 1e-5
_NEAR = 1e-8
_LEAST_R2 = 1e-6
_ONE_THREAD = 1 << 18  # multiplications


@dataclass(frozen=True, eq=False)
class Ticks:
    """The values of the ticks that are finite and not constant at the points.

    `index`, shape (H,): their places in the search space.
    `log2_scales` of shape (H,): log2 of the largest value of each.
    `t` of shape (H, points): the values over the largest.
    `first`: the first point that any of the series has.
    `u`, `uu`, `tt` of shape (H, points): the distance from the value at the first point, its square, and that of `t`.
    """

    index: Ints
    log2_scales: Floats
    t: Floats
    first: int
    u: Floats
    uu: Floats
    tt: Floats

    @classmethod
    def at(cls, log2: Floats, first: int = 0) -> "Ticks":
        """Return the ticks whose logarithms, of shape (ticks, points), are usable."""
        scales = np.max(log2, axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            t = np.exp2(log2 - scales[:, None])
        usable = np.flatnonzero(np.isfinite(t).all(axis=1) & (np.ptp(t, axis=1) > 0))
        t = np.ascontiguousarray(t[usable])
        u = t - t[:, first : first + 1]
        return cls(usable, scales[usable], t, first, u, u * u, t * t)


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of series, ready for the sums.

    `y` of shape (points, series), in `unit`: finite everywhere; what stands at a missing point has no weight.
    `w` of shape (points, series): weights, their sum is 1.
    `deviation` of shape (points, series), in `unit`: `y` less its mean.
    `unit`, `mean`, `total`, `variation` of shape (series,): a power of two near the values; the weighted mean, in
    `unit`; the sum of the weights before normalisation; the sum of the weighted squares of the deviations.
    `n_points`, shape (series,).
    `lowest`, `highest` of shape (series,): the extreme values, not in `unit`.
    """

    y: Floats
    w: Floats
    deviation: Floats
    unit: Floats
    mean: Floats
    total: Floats
    variation: Floats
    n_points: Ints
    lowest: Floats
    highest: Floats

    def only(self, chosen: Any) -> "Rows":
        """Return some of the series."""
        return Rows(*(getattr(self, name)[..., chosen] for name in self.__dataclass_fields__))


def prepare(y: Floats, is_relative: bool) -> Rows:
    """Return the weights and moments of values of shape (points, series), NaN where missing, at least one in each series.

    With relative weights the error of a value is its size, that of a zero the smallest size in its series.
    """
    lowest, highest = np.fmin.reduce(y, axis=0), np.fmax.reduce(y, axis=0)
    n_points = np.full(y.shape[1], len(y))
    unit = np.ones(y.shape[1])
    is_easy = bool((lowest > 1 / _IN_RANGE).all() and (highest < _IN_RANGE).all())
    there = None
    if np.isnan(y).any():
        there = ~np.isnan(y)
        n_points = there.sum(axis=0)
        y = np.where(there, y, highest)
    if not is_easy:
        unit = _unit(y, is_relative)
        y = y / unit
    if is_relative:
        scale = y if is_easy else error_scale(np.abs(y), 0)
        w = scale * scale
        np.divide(1.0, w, out=w)
    else:
        w = np.ones_like(y)
    if there is not None:
        w *= there
    total = w.sum(axis=0)
    w /= total
    mean = (w * y).sum(axis=0)
    deviation = y - mean
    rest = (w * deviation).sum(axis=0)
    deviation -= rest
    weighted = w * deviation
    weighted *= deviation
    return Rows(y, w, deviation, unit, mean + rest, total, weighted.sum(axis=0), n_points, lowest, highest)


def _unit(y: Floats, is_relative: bool) -> Floats:
    size = np.abs(y)
    if is_relative:
        (unit,) = unit_of(size, 0)
        return np.asarray(unit)
    return np.asarray(np.exp2(np.floor(np.log2(np.maximum(size.max(axis=0), TINIEST)))))


class Buffers:
    """Memory for the arrays of shape (ticks, series), so that every block of a call uses the same pages of the cache."""

    def __init__(self, n_ticks: int, n_series: int) -> None:
        self._memory = np.empty((6, n_ticks * n_series))

    def arrays(self, n_ticks: int, n_series: int) -> list[Floats]:
        """Return six contiguous arrays of shape (n_ticks, n_series)."""
        return [flat[: n_ticks * n_series].reshape(n_ticks, n_series) for flat in self._memory]


def most_explained(rows: Rows, ticks: Ticks, buffers: Buffers, nonnegative: bool) -> tuple[Ints, Flags]:
    """Return for each series which of `ticks` explains most of its variation, and whether that is in doubt.

    `ticks`: at least one.
    `nonnegative`: whether constant and coefficient must not be negative.
    """
    u, uu, uv, variance, slope, explained = buffers.arrays(len(ticks.t), rows.y.shape[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        norm = np.where(rows.variation > 0, 1.0 / np.sqrt(rows.variation), 0.0)
        target = rows.w * rows.deviation
        target *= norm
        _multiply(ticks.u, rows.w, u)
        _multiply(ticks.uu, rows.w, uu)
        _multiply(ticks.u, target, uv)
        if nonnegative:
            np.maximum(uv, 0.0, out=uv)
        np.multiply(u, u, out=variance)
        np.subtract(uu, variance, out=variance)
        np.divide(uv, variance, out=slope)
        np.multiply(slope, uv, out=explained)
        if nonnegative:
            tt = _multiply(ticks.tt, rows.w, uu)
            u += ticks.t[:, ticks.first, None]
            u *= slope
            lack = np.subtract(rows.mean * norm, u, out=u)  # the constant
            np.minimum(lack, 0.0, out=lack)
            lack *= lack
            lack *= variance
            lack /= tt
            explained -= lack
        most = np.maximum.reduce(explained, axis=0)
        matters = most > _LEAST_R2
        near = explained >= np.where(matters, most - _NEAR, np.inf)
        doubt = ~(np.isfinite(most) & (rows.w[ticks.first] >= _LEAST_FIRST_WEIGHT))
    if np.count_nonzero(near) > np.count_nonzero(matters):
        doubt |= near.sum(axis=0) > 1
    # Where one flag is set, the sum of the flagged places is its place: quicker than argmax over a short first axis.
    kind = np.min_scalar_type(len(explained))
    places = np.multiply(near.view(np.uint8), np.arange(len(explained), dtype=kind)[:, None], dtype=kind)
    best = np.where(doubt, 0, np.add.reduce(places, axis=0, dtype=kind))
    return best.astype(np.int64), doubt


def _multiply(left: Floats, right: Floats, out: Floats) -> Floats:
    """Return the matrix product in `out`, in parts so small that no BLAS library starts threads for them."""
    width = max(8, _ONE_THREAD // left.size)
    for start in range(0, right.shape[1], width):
        part = slice(start, start + width)
        np.matmul(left, right[:, part], out=out[:, part])
    return out


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit for each series, all of shape (series,).

    `constant`, `slope` in the unit of the rows: the slope is the coefficient times the largest value of the tick.
    `rss`: residual sum of squares in terms of the weights before normalisation; infinite where the tick does not fit.
    """

    constant: Floats
    slope: Floats
    rss: Floats


def fit_each(t: Floats, rows: Rows, nonnegative: bool) -> Fit:
    """Return the least-squares fit of one tick to each series, in full precision. `t` of shape (points, series)."""
    w, y = rows.w, rows.y
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wt = w * t
        mean_t = wt.sum(axis=0)
        dt = t - mean_t
        wdt = w * dt
        variance = np.einsum("ns,ns->s", wdt, dt)
        slope = np.einsum("ns,ns->s", wdt, rows.deviation) / variance
        constant = rows.mean - slope * mean_t
        fits = variance > 0
        if nonnegative:
            fits &= slope > 0
            is_negative = constant < ROUNDING * rows.mean
            if is_negative.any():
                through_zero = np.einsum("ns,ns->s", wt, y) / np.einsum("ns,ns->s", wt, np.broadcast_to(t, y.shape))
                slope = np.where(is_negative, through_zero, slope)
                constant = np.where(is_negative, 0.0, constant)
        residual = y - constant
        residual -= slope * t
        rss = rows.total * np.einsum("ns,ns,ns->s", residual, residual, w)
    return Fit(constant, slope, np.where(fits, rss, np.inf))
