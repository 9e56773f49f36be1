"""Chooses the model of a series among the fitted ticks and the constant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import overload

import numpy as np

from scalkit.errors import DataError
from scalkit.fit.linear import Fits, fit_log_scale, fit_ticks
from scalkit.fit.model import Model
from scalkit.fit.pure_error import f_tail, trend_tail
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.options import MIN_POINTS


class RankedModels(Sequence[Model]):
    """A sequence of models that are made from their fits at first use.

    `make`: returns the model of a place; can be pickled.
    `places`: of the models, best first.
    """

    def __init__(self, make: Callable[[int], Model], places: Sequence[int]) -> None:
        self._make, self.places = make, tuple(places)
        self._made: dict[int, Model] = {}

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Model: ...
    @overload
    def __getitem__(self, index: slice) -> RankedModels: ...
    def __getitem__(self, index: int | slice) -> Model | RankedModels:
        if isinstance(index, slice):
            return self._at(self.places[index])
        place = self.places[index]
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]

    def by(self, weights: Sequence[float]) -> RankedModels:
        """Return the same models by falling weight, which stand at their places; equal ones in the order they have."""
        return self._at(sorted(self.places, key=lambda place: -weights[place]))

    def led_by(self, index: int) -> RankedModels:
        """Return the same models with one of them before the others."""
        return self._at(sorted(self.places, key=lambda place: place != self.places[index]))

    def _at(self, places: Sequence[int]) -> RankedModels:
        found = RankedModels(self._make, places)
        found._made = self._made
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RankedModels):
            return NotImplemented
        return self is other or list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[RankedModels], tuple[object, ...]]:
        return type(self), (self._make, self.places)  # another process makes them again

    def __repr__(self) -> str:
        return repr(list(self))


SIGNIFICANCE = 0.05  # one constant in twenty is taken for a growth; how sure that is, the posterior says
ROUGH = 0.25  # relative misfit above which F means little, so that the order of the values is tested instead
MIN_RUN = 3
_TIE = 1e-12
_CONSTANT = -1


def fit_series(
    series: Series,
    ticks: Sequence[Growth],
    expected: Growth | None = None,
    min_points: int = MIN_POINTS,
    fits: Fits | None = None,
    weights: Sequence[float] = (),
) -> RankedModels:
    """Return all models of a series, the chosen one first, the others by falling adjusted R^2.

    A tick must beat the constant by an F test at 5 %. Equal values are constant. Where the metric is exact, a growth that
    every run shows beats the constant without a test: values that never fall and rise at least twice. Ties go to the
    expectation, then to the slower growth; where the metric has a resolution, an expectation that is nowhere further from
    the values than that ties with the best.

    Where even the best model is off by a quarter, the residuals are misfit rather than noise: then all models are fitted
    on a logarithmic scale instead of with relative weights, say so, and beat the constant if the values rise by a rank
    test at 5 %.

    `ticks`: the search space; the constant always competes.
    `expected`: wins ties.
    `min_points`: fewest settings, at least 3.
    `fits`: of all growing ticks to this series alone, where they are there already; then the series has been checked, too.
    `weights`: posterior probability of each growing tick, which its model shall carry, and last that of the constant.
    Returns: at least the constant; without ticks on which the values do not rise. Each is made when it is looked at.
    Raises DataError if there are too few settings, or a value is not finite, negative, or a time of zero.
    """
    if fits is None:
        check_series(series, min_points)
        fits = fit_ticks(series.x, series.y[np.newaxis], growing_of(ticks))
    growing = fits.ticks
    if not growing or np.ptp(series.y) == 0:
        return RankedModels(partial(_model_at, series, fits, False, weights), [_CONSTANT])
    is_rough = bool(min(fits.rss.min(), fits.tss[0]) > len(series.x) * ROUGH**2 and series.y.min() > 0)
    if is_rough:
        fits = fit_log_scale(series.x, series.y, growing)
    order = _order(fits, expected)
    make = partial(_model_at, series, fits, is_rough, weights)
    if series.resolution > 0:
        order.sort(key=lambda i: not (fits.ticks[i] == expected and is_within_resolution(series, make(i))))
    if order and _beats_constant(series, make(order[0]), float(fits.tss[0]), is_rough):
        return RankedModels(make, [*order, _CONSTANT])
    return RankedModels(make, [_CONSTANT, *order])


def growing_of(ticks: Sequence[Growth]) -> tuple[Growth, ...]:
    """Return the ticks without the constant."""
    return tuple(tick for tick in ticks if not tick.is_constant)


def check_series(series: Series, min_points: int) -> None:
    """Raise DataError if a series has too few settings, or a value that is not finite, negative, or a time of zero."""
    if min_points < 3:
        raise DataError(f"min_points is {min_points}; a model of two coefficients needs at least 3 settings.")
    fine = np.isfinite(series.y).all() and (series.y > 0).all()
    for x, y in () if fine else zip(series.x, series.y, strict=True):
        is_time = series.metric == "time"
        if not math.isfinite(y) or y < 0 or (y == 0 and is_time):
            raise DataError(
                f"'{series.metric}' of '{series.function}' at {series.parameter} = {x:g} is {y:g} {series.unit}; "
                f"it must be {'positive' if is_time else 'zero or positive'} and finite. "
                "Drop that point or measure it again."
            )
    if series.metric == "time" and (bad := (series.replicates <= 0).any(axis=1)).any():
        raise DataError(
            f"a '{series.metric}' of '{series.function}' at {series.parameter} = {series.x[bad][0]:g} is 0 or less in a "
            "repetition; a time is positive. Drop that repetition, or time several calls together."
        )
    if len(series.x) < min_points:
        n, settings = len(series.x), ", ".join(f"{x:g}" for x in series.x)
        way = f" or set min_points={n} (--min-points {n})" if n >= 3 else ""
        raise DataError(
            f"fitting '{series.metric}' of '{series.function}' needs {min_points} values of '{series.parameter}', "
            f"got {n} ({settings}); measure more{way}."
        )


def _order(fits: Fits, expected: Growth | None) -> list[int]:
    """Return the indices of the ticks that fit, best first; equal fits: the expectation, then the slower growth."""
    rss: list[float] = fits.rss[0].tolist()
    places = [i for i in np.argsort(fits.rss[0], kind="stable").tolist() if rss[i] < math.inf]
    bound = min(rss) + _TIE * float(fits.tss[0])
    tied = [i for i in places if rss[i] <= bound]
    if len(tied) > 1:
        tied.sort(key=lambda i: (fits.ticks[i] != expected, fits.ticks[i]))
    others = places[len(tied) :]
    if any(rss[i] == rss[j] for i, j in pairwise(others)):
        others.sort(key=lambda i: (rss[i], fits.ticks[i] != expected, fits.ticks[i]))
    return tied + others


def is_within_resolution(series: Series, model: Model) -> bool:
    """Return whether a model explains every value to within the resolution of the metric, if it has one."""
    return series.resolution > 0 and bool((np.abs(series.y - model(series.x)) <= series.resolution).all())


def _beats_constant(series: Series, model: Model, tss: float, is_rough: bool) -> bool:
    n, rss = len(series.x), model.rss
    if rss <= _TIE * tss or (series.exact and _every_run_grows(series)):
        return True
    if is_rough and trend_tail(series.y.tolist()) < SIGNIFICANCE:
        return True
    return f_tail((tss - rss) / (rss / (n - 2)), n - 2) < SIGNIFICANCE


def _every_run_grows(series: Series) -> bool:
    """Return whether the values of every run never fall and rise at least twice; a single step is no growth yet."""
    runs = [run[np.isfinite(run)] for run in series.values.T]
    steps = [np.diff(run) for run in runs if len(run) >= MIN_RUN]
    return bool(steps) and all((step >= 0).all() and np.count_nonzero(step) >= 2 for step in steps)


def _model_at(series: Series, fits: Fits, is_rough: bool, weights: Sequence[float], index: int) -> Model:
    """Return the model of a tick, or the constant, which is that of values that are all equal."""
    weight = weights[index] if weights else math.nan
    model = fits.model(index, series.parameter, series.unit, is_rough=is_rough, weight=weight)
    is_equal = index == _CONSTANT and not np.ptp(series.y)
    return replace(model, constant=float(series.y[0]), rss=0.0) if is_equal else model
