"""What `fit_models` is given: checked, points in order, repeated points merged, one value a point, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats, Ints
from scalkit.errors import DataError
from scalkit.measure.reduce import statistic_over
from scalkit.options import Statistic


@dataclass(frozen=True, eq=False)
class Table:
    """Values of many series, read a block at a time.

    `x` of shape (points,): distinct and ascending.
    `values` of shape (series, columns): as given.
    `columns`, shape (points, k): the columns of each point, -1 where it has fewer than others.
    `least`: smallest value that is allowed, itself excluded where `is_open`.
    """

    x: Floats
    values: np.ndarray[Any, Any]
    columns: Ints
    statistic: Statistic
    parameter: str
    unit: str
    least: float
    is_open: bool
    min_points: int

    @classmethod
    def of(
        cls,
        x: ArrayLike,
        Y: ArrayLike,
        statistic: Statistic,
        parameter: str,
        unit: str,
        least: float,
        is_open: bool,
        min_points: int,
    ) -> Table:
        """Return the table after the checks that concern all series.

        Raises DataError if shapes do not agree, there are no numbers, a point is not positive, there are too few
        points, or the statistic is unknown.
        """
        if min_points < 3:
            raise DataError(f"min_points is {min_points}; a model of two coefficients needs at least 3 settings.")
        statistic_over(np.empty((0, 1)), 1, statistic)
        at, values = _numbers(x, "x").astype(np.float64), _numbers(Y, "Y")
        if at.ndim != 1 or values.ndim not in (2, 3) or values.shape[1] != len(at) or 0 in values.shape[1:]:
            raise DataError(
                f"x has shape {at.shape} and Y {values.shape}; needed are (points,) and (series, points) or "
                "(series, points, repetitions), with at least one point and repetition."
            )
        bad = ~(np.isfinite(at) & (at > 0))
        if bad.any():
            place = int(np.argmax(bad))
            raise DataError(f"x[{place}] is {at[place]:g}; every value of '{parameter}' must be positive and finite.")
        places, inverse = np.unique(at, return_inverse=True)
        if len(places) == 1:
            raise DataError(
                f"'{parameter}' has the one value {places[0]:g}; a growth shows along several, measure at {min_points} or more."
            )
        columns = np.full((len(places), int(np.bincount(inverse).max())), -1)
        for place, row in enumerate(columns):
            found = np.flatnonzero(inverse == place)
            row[: len(found)] = found
        table = cls(places, values, columns, statistic, parameter, unit, least, is_open, min_points)
        if len(places) < min_points:
            raise table._too_few("fitting", places)
        return table

    def block(self, start: int, stop: int) -> Floats:
        """Return one value a point of some series, of shape (points, series), NaN where there is none.

        Raises DataError if a value is not allowed or a series has too few points.
        """
        raw = self.values[start:stop]
        is_plain = self.columns.shape[1] == 1 and raw.ndim == 2
        if is_plain and (self.columns[:, 0] == np.arange(raw.shape[1])).all():
            y = np.array(raw.T, dtype=np.float64, order="C")
        elif is_plain:
            y = np.array(raw.T[self.columns[:, 0]], dtype=np.float64, order="C")
        else:
            merged = np.asarray(raw[:, self.columns], dtype=np.float64)
            merged[:, self.columns < 0] = np.nan
            merged = merged.reshape(len(raw), len(self.x), -1)
            self._check_values(merged.transpose(1, 0, 2), start)
            y = np.ascontiguousarray(statistic_over(merged, 2, self.statistic).T)
        self._check_values(y, start)
        missing = np.isnan(y)
        if missing.any():
            counts = len(y) - missing.sum(axis=0)
            if (counts < self.min_points).any():
                place = int(np.argmax(counts < self.min_points))
                raise self._too_few(f"series {start + place}: fitting", self.x[~missing[:, place]])
        return y

    def _check_values(self, y: Floats, start: int) -> None:
        """Raise if a value, of shape (points, series, ...), is not allowed; NaN is."""
        lowest, highest = np.fmin.reduce(y, axis=None), np.fmax.reduce(y, axis=None)
        if highest < np.inf and lowest > -np.inf and (lowest > self.least if self.is_open else lowest >= self.least):
            return
        bad = np.isinf(y) | (y <= self.least if self.is_open else y < self.least)
        if not bad.any():  # nothing but NaN
            return
        row, point, *repetition = (int(i) for i in np.argwhere(np.swapaxes(bad, 0, 1))[0])
        allowed = "finite" if self.least == -np.inf else f"{'positive' if self.is_open else 'zero or positive'} and finite"
        shown = f"{y[(point, row, *repetition)]:g} {self.unit}".strip()
        raise DataError(
            f"series {start + row} at {self.parameter} = {self.x[point]:g} is {shown}; it must be {allowed}. "
            "Put NaN there to drop the point, or measure it again."
        )

    def _too_few(self, what: str, places: Floats) -> DataError:
        settings = ", ".join(f"{x:g}" for x in places)
        return DataError(
            f"{what} needs {self.min_points} values of '{self.parameter}', got {len(places)} ({settings}); "
            f"measure more{f' or set min_points={len(places)}' if len(places) >= 3 else ''}."
        )


def _numbers(values: ArrayLike, what: str) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} is no array of numbers ({error}); pass numbers, all rows of one length.") from error
    if array.dtype.kind not in "fiu":
        raise DataError(f"{what} is no array of numbers (its type is {array.dtype}); pass numbers, NaN where missing.")
    return array
