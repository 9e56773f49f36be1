"""Values at points of several parameters: checked, repeated points merged, one value a point, and the noise of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats, Ints
from scalkit.errors import DataError
from scalkit.measure.reduce import statistic_over
from scalkit.options import Statistic

_SPREAD_OF = {
    "q1": 1.857,
    "median": 1.571,
    "mean": 1.0,
    "min": 2.2,
    "cut_mean": 1.195,
    "cut_mean_1": 1.115,
    "cut_mean_4": 1.115,
    "cut_mean_12": 1.363,
    "cut_mean_34": 1.363,
}
"""Variance of the statistic of R normal values times R, in units of their variance; that of the minimum near R = 5."""
_MAD = 1.4826
_LEAST_LINE = 3
_SPREAD = 400  # binary digits between the largest value and the least that still counts by its own size


@dataclass(frozen=True, eq=False)
class Points:
    """One value at each of several points.

    `x` of shape (points, parameters): distinct.
    `values` of shape (points, repetitions): NaN where one is missing.
    `y` of shape (points,): the statistic over the repetitions.
    `relative_variance`: of `y`, from the scatter of the repetitions; NaN without repetitions.
    `n_more`: repetitions beyond the first of each point, all together.
    """

    parameters: tuple[str, ...]
    x: Floats
    values: Floats
    y: Floats
    relative_variance: float
    n_more: int

    def error_scale(self) -> Floats:
        """Return the size of the error of each value, up to a factor: the value, or the smallest positive one for a zero."""
        smallest = max(float(self.y[self.y > 0].min()), float(self.y.max()) * 2.0**-_SPREAD)
        return np.maximum(self.y, smallest)

    def lines(self, column: int) -> list[Ints]:
        """Return the points of each line along one parameter, the others fixed, that has at least three."""
        others = np.delete(self.x, column, axis=1)
        _, line = np.unique(others, axis=0, return_inverse=True)
        order = np.argsort(line.reshape(-1), kind="stable")
        ends = np.flatnonzero(np.diff(line.reshape(-1)[order])) + 1
        return [group for group in np.split(order, ends) if len(group) >= _LEAST_LINE]


def gather(
    points: ArrayLike, values: ArrayLike, parameters: Sequence[str], statistic: Statistic = "q1", min_points: int = 5
) -> Points:
    """Return checked points, each once, without those that have no value.

    `points` (shape (points, parameters)): positive; points that repeat are merged as repetitions.
    `values` (shape (points,) or (points, repetitions)): not negative, at least one positive; NaN where a repetition is
    missing.
    `statistic`: over the repetitions.
    `min_points`: fewest different values of each parameter, at least 3.
    Raises DataError: naming what is wrong with shapes, points or values.
    """
    names = tuple(parameters)
    x, rows = _arrays(points, values, names)
    x, rows = _merged(x, rows)
    there = ~np.isnan(rows).all(axis=1)
    x, rows = x[there], rows[there]
    _check(x, rows, names, min_points)
    y = statistic_over(rows, 1, statistic)
    count = np.isfinite(rows).sum(axis=1)
    return Points(names, x, rows, y, _relative_variance(rows, count, statistic), int((count - 1).sum()))


def _arrays(points: ArrayLike, values: ArrayLike, names: tuple[str, ...]) -> tuple[Floats, Floats]:
    try:
        x, y = np.array(points, dtype=np.float64), np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"points or values are no array of numbers ({error}); pass rows of one length.") from error
    if x.ndim != 2 or x.shape[1] != len(names) or y.ndim not in (1, 2) or len(x) != len(y) or not y.size:
        raise DataError(
            f"points have shape {x.shape} and values {y.shape}; for the parameters {', '.join(names)} needed are "
            f"(points, {len(names)}) and (points,) or (points, repetitions), not empty."
        )
    if len(set(names)) != len(names):
        raise DataError(f"the parameters are {', '.join(names)}; each must have a name of its own.")
    if not np.isfinite(x).all() or (x <= 0).any():
        row = int(np.flatnonzero(~(np.isfinite(x) & (x > 0)).all(axis=1))[0])
        raise DataError(f"the point {_place(x[row], names)} is not positive and finite; drop it or correct it.")
    return x, y if y.ndim == 2 else y[:, None]


def _merged(x: Floats, rows: Floats) -> tuple[Floats, Floats]:
    distinct, index = np.unique(x, axis=0, return_inverse=True)
    index = index.reshape(-1)
    if len(distinct) == len(x):
        return x, rows
    groups = [rows[index == i].ravel() for i in range(len(distinct))]
    merged = np.full((len(distinct), max(map(len, groups))), np.nan)
    for row, group in zip(merged, groups, strict=True):
        row[: len(group)] = group
    return distinct, merged


def _check(x: Floats, rows: Floats, names: tuple[str, ...], min_points: int) -> None:
    if min_points < 3:
        raise DataError(f"min_points is {min_points}; a growth needs at least 3 values of its parameter.")
    wrong = np.isinf(rows) | (rows < 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"the value at {_place(x[row], names)} is {rows[row, column]:g}; it must be zero or positive and finite. "
            "Drop that point or measure it again."
        )
    if not (rows > 0).any():
        raise DataError("all values are zero or missing; there is nothing to model.")
    for column, name in enumerate(names):
        found = np.unique(x[:, column])
        shown = ", ".join(f"{value:g}" for value in found)
        if len(found) == 1:
            raise DataError(f"'{name}' has one value ({shown}); measure at more of them or leave this parameter out.")
        if len(found) < min_points:
            raise DataError(
                f"a model in '{name}' needs {min_points} values of it, got {len(found)} ({shown}); "
                f"measure more or set min_points={max(3, len(found))}."
            )


def _place(point: Floats, names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in zip(names, point, strict=True))


def _relative_variance(rows: Floats, count: Ints, statistic: Statistic) -> float:
    """Return the variance of the statistic of a point over its square, by the median absolute deviation of all points."""
    rows, count = rows[count > 1], count[count > 1]
    if not len(rows):
        return float("nan")
    median = np.nanmedian(rows, axis=1, keepdims=True)
    away = np.abs(rows - median) / np.where(median > 0, median, 1.0)
    typical = float(np.mean(count))
    sigma = _MAD * float(np.nanmedian(away)) / np.sqrt(1 - 1 / typical)
    return float(sigma**2 * _SPREAD_OF[statistic] / typical)
