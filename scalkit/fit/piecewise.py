"""Piecewise models: the range of the parameter cut where the behaviour changes, each segment one tick or a constant.

The cut is exact: dynamic programming over all segments finds, for every number of segments, the least residual; the
Bayesian information criterion chooses the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.fit.linear import fit_ticks
from scalkit.fit.model import Model
from scalkit.fit.pure_error import Noise, pure_error
from scalkit.growth import Growth
from scalkit.measure import Series

__all__ = [
    "MIN_SETTINGS",
    "ChangePoint",
    "Cuts",
    "Piecewise",
    "Segment",
    "best_cuts",
    "fit_piecewise",
    "fit_piecewise_series",
]

MIN_SETTINGS = 3
MAX_SEGMENTS = 6
_CHANGE_POINT = 3
_MAX_POINTS = 200

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Segment:
    """One piece: the settings from `first` to `last`, both included, and their model."""

    first: float
    last: float
    n_points: int
    model: Model


@dataclass(frozen=True)
class ChangePoint:
    """The behaviour changes after `after` and no later than `before`, which are neighbouring settings.

    Attributes
    ----------
    after, before : float
    jump : float
        Model of the right piece over that of the left one, both at `before`; 1.2 means 20 % more.
    """

    after: float
    before: float
    jump: float


@dataclass(frozen=True)
class Piecewise:
    """Segments in ascending order, and how much better they are than one.

    Attributes
    ----------
    segments : tuple of Segment
    bic, bic_single : float
        Bayesian information criterion of this model and of the best single piece; the lower, the better.
    noise : float
        Relative standard error of a value that entered the fit.
    """

    segments: tuple[Segment, ...]
    bic: float
    bic_single: float
    noise: float

    @property
    def is_single(self) -> bool:
        """Whether there is no change point."""
        return len(self.segments) == 1

    @property
    def change_points(self) -> tuple[ChangePoint, ...]:
        """Where the behaviour changes, ascending."""
        return tuple(_change(left, right) for left, right in pairwise(self.segments))

    def segment_at(self, x: float) -> Segment:
        """Return the segment of `x`; between two segments the one that is nearer on a logarithmic scale."""
        return self.segments[int(np.searchsorted(self._borders, x))]

    def __call__(self, x: ArrayLike) -> Floats:
        """Return the model at `x`, in its unit; same shape as `x`. The outer segments continue beyond the data."""
        at = np.asarray(x, dtype=np.float64)
        which = np.searchsorted(self._borders, at)
        return np.asarray(np.choose(which, [segment.model(at) for segment in self.segments]))

    @property
    def _borders(self) -> list[float]:
        return [math.sqrt(left.last * right.first) for left, right in pairwise(self.segments)]

    def __str__(self) -> str:
        name = self.segments[0].model.parameter
        return "; ".join(f"{name} = {s.first:g} to {s.last:g}: {s.model}" for s in self.segments)


def _change(left: Segment, right: Segment) -> ChangePoint:
    log2_jump = right.model.log2_value(right.first) - left.model.log2_value(right.first)
    return ChangePoint(left.last, right.first, float(np.exp2(log2_jump)))


def fit_piecewise(
    x: ArrayLike,
    y: ArrayLike,
    ticks: Sequence[Growth],
    noise: Noise,
    *,
    max_segments: int = MAX_SEGMENTS,
    switches: Sequence[float] = (),
    parameter: str = "p",
    unit: str = "",
) -> Piecewise:
    """Return the piecewise model of one series with the least Bayesian information criterion.

    Parameters
    ----------
    x : array_like of shape (points,)
        Ascending.
    y : array_like of shape (points,), in `unit`
        Positive.
    ticks : sequence of Growth
        What a segment may grow as, beside a constant; the more there are, the more evidence a change point needs.
    noise : Noise
        From `pure_error`.
    max_segments : int
        At most so many; each has at least three settings.
    switches : sequence of float
        Change points that are known, for example the largest size of an eager message: no segment reaches across one.
    parameter, unit : str
        For the models.

    Raises
    ------
    DataError
        If there are fewer than three settings or more than 200, they do not ascend, or a value is not positive.

    Notes
    -----
    The residuals of a segmentation are squared relative errors over the squared standard error of a value. Their
    likelihood is Student's, because the noise itself is estimated; with much pure error it is chi-squared. Each coefficient
    costs ``ln(points)`` and each change point three times that, because it may lie anywhere (the plain criterion, with one,
    finds change points in noise); a segment that grows also pays for the choice of its tick, ``2 ln(ticks)``.

    References
    ----------
    Bellman, On the approximation of curves by line segments using dynamic programming, CACM 4 (1961).
    Zhang and Siegmund, A modified Bayes information criterion with applications to the analysis of comparative genomic
    hybridization data, Biometrics 63 (2007): 3 ln n for a change point.
    """
    at, values = _checked(x, y, parameter)
    growing = tuple(tick for tick in ticks if not tick.is_constant)
    cuts = best_cuts(at, values[np.newaxis], growing, [noise], max_segments=max_segments, switches=switches)[0]
    segments = []
    for (i, _), (j, is_grown) in pairwise([(0, False), *cuts.pieces]):
        model = _model(at[i:j], values[i:j], growing if is_grown else (), parameter, unit)
        segments.append(Segment(float(at[i]), float(at[j - 1]), j - i, model))
    return Piecewise(tuple(segments), cuts.bic, cuts.bic_single, noise.error)


def fit_piecewise_series(series: Series, ticks: Sequence[Growth], statistic: str = "q1", **options: Any) -> Piecewise:
    """Return the piecewise model of a series; the noise is that between its runs, see `fit_piecewise` for `options`."""
    noise = pure_error(series.replicates, statistic, exact=series.exact, resolution=series.resolution)
    return fit_piecewise(series.x, series.y, ticks, noise, parameter=series.parameter, unit=series.unit, **options)


def _checked(x: ArrayLike, y: ArrayLike, parameter: str) -> tuple[Floats, Floats]:
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if at.ndim != 1 or at.shape != values.shape:
        raise DataError(f"a piecewise model needs one value a setting, got shapes {at.shape} and {values.shape}.")
    if not MIN_SETTINGS <= len(at) <= _MAX_POINTS:
        raise DataError(
            f"a piecewise model needs {MIN_SETTINGS} to {_MAX_POINTS} values of '{parameter}', got {len(at)}; "
            "measure more or thin them out."
        )
    if not (np.diff(at) > 0).all():
        raise DataError(f"the values of '{parameter}' must ascend, each once; sort them and merge repetitions.")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if bad.size:
        raise DataError(
            f"the value at {parameter} = {at[bad[0]]:g} is {values[bad[0]]:g}; it must be positive and finite. "
            "Drop that point or measure it again."
        )
    return at, values


@dataclass(frozen=True)
class Cuts:
    """A segmentation: for each segment the index after its last setting, and whether it grows.

    Attributes
    ----------
    pieces : tuple of (int, bool)
    bic, bic_single : float
        Criterion of this segmentation and of the best single segment, which is infinite if a known change point forbids it.
    """

    pieces: tuple[tuple[int, bool], ...]
    bic: float
    bic_single: float


def best_cuts(
    x: Floats,
    y: Floats,
    ticks: Sequence[Growth],
    noise: Sequence[Noise],
    *,
    max_segments: int = MAX_SEGMENTS,
    switches: Sequence[float] = (),
) -> list[Cuts]:
    """Return the best segmentation of many series over the same settings, without models.

    Parameters
    ----------
    x : ndarray of shape (points,)
    y : ndarray of shape (series, points)
        Positive.
    ticks : sequence of Growth
        None of them constant.
    noise : sequence of Noise, length series

    Returns
    -------
    list of Cuts, length series
    """
    n_series, n = y.shape
    most = max(1, min(max_segments, n // MIN_SETTINGS))
    costs = _segment_costs(x, y, ticks, _inner(x, switches))
    table, back = _least(costs, n, n_series, most)
    found = []
    for s, one in enumerate(noise):
        bic = _criterion(table[:, :, s, n], one, n, len(ticks))
        m, g = np.unravel_index(int(np.argmin(bic)), bic.shape)
        if not np.isfinite(bic[m, g]):
            raise DataError(
                f"the known change points leave a segment of fewer than {MIN_SETTINGS} settings, or need more than "
                f"{max_segments} segments; measure more around them, leave one out, or raise max_segments."
            )
        found.append(Cuts(_pieces(back, s, int(m), int(g), n), float(bic[m, g]), float(bic[1].min())))
    return found


def _inner(x: Floats, switches: Sequence[float]) -> Floats:
    """Return for each setting in which of the ranges between known change points it lies."""
    return np.searchsorted(np.sort(np.asarray(switches, dtype=np.float64)), x).astype(np.float64)


def _segment_costs(x: Floats, y: Floats, ticks: Sequence[Growth], part: Floats) -> Floats:
    """Return the squared relative residuals of segments i to j - 1: of shape (2, series, n + 1, n + 1), constant and grown."""
    n_series, n = y.shape
    costs = np.full((2, n_series, n + 1, n + 1), np.inf)
    for i in range(n - MIN_SETTINGS + 1):
        for j in range(i + MIN_SETTINGS, n + 1):
            if part[i] != part[j - 1]:
                break
            fits = fit_ticks(x[i:j], y[:, i:j], ticks)
            costs[0, :, i, j] = fits.tss
            if ticks:
                costs[1, :, i, j] = fits.rss.min(axis=1)
    return costs


def _least(costs: Floats, n: int, n_series: int, most: int) -> tuple[Floats, dict[tuple[int, int, int], Any]]:
    """Return the least residual of m segments, g of them growing, over the first j settings, and how it came about."""
    table = np.full((most + 1, most + 1, n_series, n + 1), np.inf)
    table[0, 0, :, 0] = 0.0
    back: dict[tuple[int, int, int], Any] = {}
    for m in range(1, most + 1):
        for g in range(m + 1):
            for grown in (0, 1):
                if g - grown < 0:
                    continue
                totals = table[m - 1, g - grown][:, :, np.newaxis] + costs[grown]
                start = np.argmin(totals, axis=1)
                least = np.take_along_axis(totals, start[:, np.newaxis], axis=1)[:, 0]
                better = least < table[m, g]
                table[m, g] = np.where(better, least, table[m, g])
                back[m, g, grown] = (start, better)
    return table, back


def _pieces(back: dict[tuple[int, int, int], Any], s: int, m: int, g: int, end: int) -> tuple[tuple[int, bool], ...]:
    pieces = []
    while m:
        grown = 1 if (m, g, 1) in back and back[m, g, 1][1][s, end] else 0
        pieces.append((end, bool(grown)))
        end = int(back[m, g, grown][0][s, end])
        m, g = m - 1, g - grown
    return tuple(reversed(pieces))


def _criterion(residuals: Floats, noise: Noise, n: int, n_ticks: int) -> Floats:
    """Return the criterion for every number of segments and of growing ones; infinite where there is none."""
    m, g = np.ogrid[: residuals.shape[0], : residuals.shape[1]]
    freedom = noise.freedom
    misfit = (freedom + n) * np.log1p(residuals / noise.error**2 / freedom)
    penalty = (m + g + _CHANGE_POINT * (m - 1)) * math.log(n) + 2 * g * math.log(max(n_ticks, 1))
    return np.where(np.isfinite(residuals) & (m > 0), misfit + penalty, np.inf)


def _model(x: Floats, y: Floats, ticks: Sequence[Growth], parameter: str, unit: str) -> Model:
    """Return the model of one segment: the tick that fits best, or the constant if there are no ticks."""
    fits = fit_ticks(x, y[np.newaxis], ticks)
    if not ticks:
        return Model(
            constant=float(fits.means[0]),
            coefficient=0.0,
            growth=Growth.constant(),
            parameter=parameter,
            unit=unit,
            adjusted_r2=math.nan,
            rss=float(fits.tss[0]),
            log2_coefficient=-math.inf,
        )
    best = int(np.argmin(fits.rss[0]))
    log2 = math.log2(float(fits.scaled[0, best])) - float(fits.log2_scales[best])
    return Model(
        constant=float(fits.constants[0, best]),
        coefficient=float(np.exp2(log2)) if log2 < 1024 else math.inf,
        growth=ticks[best],
        parameter=parameter,
        unit=unit,
        adjusted_r2=float(fits.adjusted_r2[0, best]),
        rss=float(fits.rss[0, best]),
        log2_coefficient=log2,
    )
