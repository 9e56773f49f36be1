"""The models of one block of series: groups that miss the same points, the best tick, the constant against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.errors import DataError
from scalkit.fit.batch_kernel import Buffers, Fit, Rows, Ticks, fit_each, most_explained, prepare
from scalkit.fit.linear import log2_values
from scalkit.fit.pure_error import student
from scalkit.fit.select import MIN_RUN, ROUGH, SIGNIFICANCE
from scalkit.growth import Growth

Criterion = Literal["adjusted_r2", "aicc", "loo", "smape"]

_TIE_OF_SCORES = 1e-12
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
        return rss, _TIE_OF_SCORES * spread
    if criterion == "aicc":
        return _aicc(rss, np.array([fit.constant for fit in fits]), spread, rows.n_points), np.full(len(spread), 1e-9)
    is_squared = criterion == "loo"
    found = np.array([_left_out(t[:, None], rows, nonnegative, is_squared) for t in ticks.t])
    found = np.where(np.isfinite(rss) & ~np.isnan(found), found, np.inf)
    return found, _TIE_OF_SCORES * spread if is_squared else np.full(len(spread), _TIE_OF_SCORES)


def _aicc(rss: Floats, constants: Floats, spread: Floats, n: Any) -> Floats:
    k = 2.0 + (constants != 0)
    with np.errstate(divide="ignore"):
        deviance = n * np.log(np.maximum(rss, _TIE_OF_SCORES**2 * spread) / n)
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


_TIE = 1e-12
_TAME = 256
_PLAIN = 1000


@dataclass(frozen=True)
class Options:
    """How to fit and choose, see `scalkit.fit.batch.fit_models`."""

    is_relative: bool
    nonnegative: bool
    criterion: Criterion
    exact: bool
    all_hypotheses: bool


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """The growths, the constant first, at the points.

    `log2` of shape (ticks, points): of all but the constant.
    `ranks`, shape (ticks,): of equal fits the least wins.
    """

    growths: tuple[Growth, ...]
    log2: Floats
    ranks: Ints

    @classmethod
    def of(cls, growths: tuple[Growth, ...], x: Floats, expected: Growth | None) -> "Hypotheses":
        """Return the hypotheses of growths that ascend after the constant."""
        ranks = [-1 if growth == expected else place for place, growth in enumerate(growths[1:])]
        return cls(growths, log2_values(tuple(x.tolist()), growths[1:]), np.array(ranks, dtype=np.int64))

    @cached_property
    def complete(self) -> Ticks:
        """The ticks for series that have every point."""
        return Ticks.at(self.log2)

    @cached_property
    def is_tame(self) -> bool:
        """Whether the values of each tick are of similar size, so that they can be scaled once for whatever is missing."""
        low = np.min(np.where(self.log2 == -np.inf, np.inf, self.log2), axis=1, initial=np.inf)
        high = np.max(self.log2, axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            return bool((high - low < _TAME).all())

    def groups(self, y: Floats) -> Iterator[tuple[Floats, Any, Ticks]]:
        """Yield groups of the series of a block, of shape (points, series): their values, their places and the ticks.

        Series of a group have the same first point or, where ticks are wild, the same points.
        """
        there = ~np.isnan(y)
        if there.all():
            yield y, slice(None), self.complete
            return
        keys, group = _distinct(there, self.is_tame)
        for place, key in enumerate(keys):
            rows = np.flatnonzero(group == place)
            if self.is_tame:
                yield np.ascontiguousarray(y[:, rows]), rows, Ticks.at(self.log2, int(key))
            else:
                points = there[:, rows[0]]
                yield np.ascontiguousarray(y[points][:, rows]), rows, Ticks.at(self.log2[:, points])


def _distinct(there: Flags, by_first: bool) -> tuple[Any, Any]:
    if by_first:
        return np.unique(np.argmax(there, axis=0), return_inverse=True)
    packed = np.packbits(there, axis=0)
    keys, group = np.unique(packed, axis=1, return_inverse=True)
    return keys.T, group.reshape(-1)


def fit_block(y: Floats, ticks: Ticks, known: Hypotheses, options: Options, buffers: Buffers) -> dict[str, Any]:
    """Return the arrays of `scalkit.fit.batch.FitModels` for some series.

    `y` of shape (points, series): NaN where missing.
    """
    rows = prepare(y, options.is_relative)
    n = rows.n_points
    is_flat = rows.lowest == rows.highest
    rises = _rises(y) if options.exact else np.zeros(len(n), dtype=bool)
    limit = _critical(n)
    all_fits = options.all_hypotheses or options.criterion != "adjusted_r2"
    every = [fit_each(t[:, None], rows, options.nonnegative) for t in ticks.t] if all_fits else []
    if not len(ticks.t):
        best = np.zeros(len(n), dtype=np.int64)
        fit = Fit(rows.mean, np.zeros(len(n)), np.full(len(n), np.inf))
    else:
        best = _best(rows, ticks, every, known, options) if every else _quick(rows, ticks, known, options, buffers)
        fit = fit_each(np.take(ticks.t.T, best, axis=1), rows, options.nonnegative)
    tss = rows.variation * rows.total
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        passes = (tss - fit.rss) / (fit.rss / (n - 2)) > limit
    grows = np.isfinite(fit.rss) & ~is_flat & (passes | rises | (fit.rss <= _TIE * tss))
    found = _chosen(rows, ticks, fit, best, grows, options)
    found["constant"] = np.where(is_flat, rows.highest, found["constant"])
    least_rss = np.min([fit.rss, *(one.rss for one in every)], axis=0)
    found["is_rough"] = (np.minimum(least_rss, tss) > n * ROUGH**2) & (rows.lowest > 0) & ~is_flat
    found["is_rough"] &= options.is_relative and len(known.growths) > 1
    if options.all_hypotheses:
        found |= _tables(rows, ticks, every, is_flat, len(known.growths))
    return found


def _quick(rows: Rows, ticks: Ticks, known: Hypotheses, options: Options, buffers: Buffers) -> Ints:
    """Return the tick with the least residual sum of squares, by sums where these tell."""
    best, in_doubt = most_explained(rows, ticks, buffers, options.nonnegative)
    if in_doubt.any():
        part = rows.only(in_doubt)
        fits = [fit_each(t[:, None], part, options.nonnegative) for t in ticks.t]
        best[in_doubt] = _best(part, ticks, fits, known, options)
    return best


def _best(rows: Rows, ticks: Ticks, fits: list[Fit], known: Hypotheses, options: Options) -> Ints:
    """Return the tick with the least score; of equals the expected one, then the slower growth."""
    score, tie = scores(options.criterion, rows, ticks, fits, options.nonnegative)
    with np.errstate(invalid="ignore"):
        tied = score - score.min(axis=0) <= tie
    ranks = known.ranks[ticks.index][:, None]
    return np.asarray(np.argmin(np.where(tied, ranks, len(known.growths)), axis=0))


def _critical(n: Ints) -> Floats:
    """Return the value that F with 1 and n - 2 degrees of freedom exceeds in 5 % of all cases."""
    counts, place = (n[:1], 0) if n.min() == n.max() else np.unique(n, return_inverse=True)
    values = np.array([student(1 - SIGNIFICANCE, int(count) - 2) ** 2 for count in counts])
    return np.broadcast_to(values[place], n.shape)


def _rises(y: Floats) -> Flags:
    """Return which series never fall from one value to the next and rise at least twice."""
    last, n_values = y[0], (~np.isnan(y)).sum(axis=0)
    n_rises, falls = np.zeros(y.shape[1], dtype=np.int64), np.zeros(y.shape[1], dtype=bool)
    for values in y[1:]:
        n_rises += values > last
        falls |= values < last
        last = np.where(np.isnan(values), last, values)
    return np.asarray((n_values >= MIN_RUN) & ~falls & (n_rises >= 2))


def _chosen(rows: Rows, ticks: Ticks, fit: Fit, best: Ints, grows: Flags, options: Options) -> dict[str, Any]:
    """Return the fields of the tick where it won, else of the constant."""
    n, tss = rows.n_points, rows.variation * rows.total
    index, scales = (ticks.index + 1, ticks.log2_scales) if len(ticks.t) else (np.zeros(1, int), np.zeros(1))
    coefficient, log2 = _unscaled(fit.slope, rows.unit, scales, best)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = 1.0 if options.is_relative else rows.unit**2
        return {
            "best": np.where(grows, index[best], 0),
            "constant": np.where(grows, fit.constant, rows.mean) * rows.unit,
            "coefficient": np.where(grows, coefficient, 0.0),
            "log2_coefficient": np.where(grows, log2, -np.inf),
            "adjusted_r2": np.where(grows, _adjusted(fit.rss, tss, n), np.nan),
            "rss": np.where(rows.lowest == rows.highest, 0.0, np.where(grows, fit.rss, tss) * scale),
            "n_points": n,
        }


def _adjusted(rss: Floats, tss: Floats, n: Ints) -> Floats:
    return np.asarray(1.0 - (rss / tss) * ((n - 1) / (n - 2)))


def _unscaled(slope: Floats, unit: Floats, scales: Floats, best: Ints) -> tuple[Floats, Floats]:
    """Return the coefficient of the tick itself, and log2 of its size."""
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        log2 = np.log2(np.abs(slope)) + (np.log2(unit) - scales[best])
        plain = slope * unit * np.exp2(-scales)[best]
        if np.abs(scales).max() < _PLAIN:
            return plain, log2
        return np.where(np.abs(scales[best]) < _PLAIN, plain, np.sign(slope) * np.exp2(log2)), log2


def _tables(rows: Rows, ticks: Ticks, fits: list[Fit], is_flat: Flags, n_growths: int) -> dict[str, Floats]:
    """Return coefficients and adjusted R^2 of all growths, of shape (series, growths)."""
    names = ("all_constants", "all_coefficients", "all_adjusted_r2")
    tables = {name: np.full((len(is_flat), n_growths), np.nan) for name in names}
    tables["all_constants"][:, 0] = np.where(is_flat, rows.highest, rows.mean * rows.unit)
    tables["all_coefficients"][:, 0] = 0.0
    tss = rows.variation * rows.total
    for index, scale, fit in zip(ticks.index, ticks.log2_scales, fits, strict=True):
        fits_well = np.isfinite(fit.rss) & ~is_flat
        coefficient, _ = _unscaled(fit.slope, rows.unit, np.array([scale]), np.zeros(len(is_flat), dtype=np.int64))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            columns = (fit.constant * rows.unit, coefficient, _adjusted(fit.rss, tss, rows.n_points))
        for name, column in zip(names, columns, strict=True):
            tables[name][:, index + 1] = np.where(fits_well, column, np.nan)
    return tables
