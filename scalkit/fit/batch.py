"""`fit_models`: every growth fitted to every series at once, without an object for any of them."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Flags, Floats, Ints
from scalkit.errors import DataError
from scalkit.fit.batch_block import Criterion, Hypotheses, Options, fit_block, require_criterion
from scalkit.fit.batch_kernel import Buffers
from scalkit.fit.model import Model
from scalkit.growth import Growth
from scalkit.markup import block, counted, details, formula, paragraph, table
from scalkit.measure.reduce import statistic_over
from scalkit.options import MIN_POINTS, Statistic
from scalkit.task_bar import Report, task_bar


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
    ) -> "Table":
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


@dataclass(frozen=True, eq=False)
class FitModels:
    """The chosen models of many series, as arrays of shape (series,).

    Attributes
    ----------
    growths : tuple of Growth
        The constant first, then the ticks, ascending.
    best : ndarray of int
        Which of `growths` each series follows; 0 is the constant.
    constant, coefficient : ndarray, in `unit`
        The coefficient of a constant model is 0.
    log2_coefficient : ndarray
        log2 of the size of the coefficient, which exists where that is too small or too large for a float; -inf for a
        constant model.
    adjusted_r2 : ndarray
        NaN for a constant model.
    rss : ndarray
        Residual sum of squares: of relative errors, or with ``weights="none"`` of absolute ones.
    n_points : ndarray of int
        Points with a value.
    is_rough : ndarray of bool
        Whether no model follows the values to within 25 %, root mean square; `scalkit.validate` fits such series on a
        logarithmic scale.
    parameter, unit : str
    all_constants, all_coefficients, all_adjusted_r2 : ndarray of shape (series, growths), or None
        Those of every growth, on request; NaN where a tick does not fit, R^2 also for the constant.
    """

    growths: tuple[Growth, ...]
    best: Ints
    constant: Floats
    coefficient: Floats
    log2_coefficient: Floats
    adjusted_r2: Floats
    rss: Floats
    n_points: Ints
    is_rough: Flags
    parameter: str = "p"
    unit: str = "s"
    all_constants: Floats | None = None
    all_coefficients: Floats | None = None
    all_adjusted_r2: Floats | None = None

    def __len__(self) -> int:
        return len(self.best)

    def growth(self, i: int) -> Growth:
        """Return the growth of series `i`."""
        return self.growths[int(self.best[i])]

    def model(self, i: int) -> Model:
        """Return the model of series `i`. Raises DataError if its coefficient is negative, which a `Model` cannot hold."""
        if self.coefficient[i] < 0:
            raise DataError(
                f"series {i} has the negative coefficient {self.coefficient[i]:g}; a Model has none, use predict() or the arrays."
            )
        return Model(
            constant=float(self.constant[i]),
            coefficient=float(self.coefficient[i]),
            growth=self.growth(i),
            parameter=self.parameter,
            unit=self.unit,
            adjusted_r2=float(self.adjusted_r2[i]),
            rss=float(self.rss[i]),
            log2_coefficient=float(self.log2_coefficient[i]),
            is_rough=bool(self.is_rough[i]),
        )

    def predict(self, x: ArrayLike) -> Floats:
        """Return all models at `x`, of shape (series, points), in `unit`. `x`: shape (points,)."""
        at = np.atleast_1d(np.asarray(x, dtype=np.float64))
        values = np.repeat(self.constant[:, None], len(at), axis=1)
        with np.errstate(over="ignore"):
            for index in np.unique(self.best):
                if index:
                    rows = self.best == index
                    term = np.exp2(self.log2_coefficient[rows, None] + self.growths[index].log2_value(at))
                    values[rows] += np.sign(self.coefficient[rows, None]) * term
        return values

    def counts(self) -> dict[Growth, int]:
        """Return how many series follow each growth that any follows, slowest first."""
        found = np.bincount(self.best, minlength=len(self.growths))
        return {growth: int(n) for growth, n in zip(self.growths, found, strict=True) if n}

    def __repr__(self) -> str:
        n_rough = int(np.count_nonzero(self.is_rough))
        most = max(self.counts().items(), key=lambda item: item[1], default=(None, math.nan))
        return f"FitModels({len(self)} series, {len(self.growths)} growths, most often {most[0]}, {n_rough} rough)"

    def _repr_html_(self) -> str:
        rows = [(formula(growth), f"{n}") for growth, n in self.counts().items()]
        return block(
            paragraph(self), details(f"{counted(len(rows), 'growth')} that any follows", table(("growth", "series"), rows))
        )


Weights = Literal["relative", "none"]

_FLOATS = ("constant", "coefficient", "log2_coefficient", "adjusted_r2", "rss")
_TABLES = ("all_constants", "all_coefficients", "all_adjusted_r2")
_MOST_SERIES, _FEWEST_SERIES = 2048, 16
_MOST_HYPOTHESES = 54_000  # times 48 bytes: about what stays in the second-level cache
_MOST_VALUES = 1 << 17  # in a block


class _HasTicks(Protocol):
    """A search space."""

    @property
    def ticks(self) -> tuple[Growth, ...]: ...


def fit_models(
    x: ArrayLike,
    Y: ArrayLike,
    space: _HasTicks | Sequence[Growth],
    *,
    statistic: Statistic = "q1",
    weights: Weights = "relative",
    nonnegative: bool = True,
    criterion: Criterion = "adjusted_r2",
    expected: Growth | None = None,
    exact: bool = False,
    positive: bool = True,
    min_points: int = MIN_POINTS,
    all_hypotheses: bool = False,
    parameter: str | None = None,
    unit: str = "s",
    progress: bool = True,
) -> FitModels:
    """Return the model of every series: the constant, or ``constant + coefficient * tick`` with the best tick of a space.

    A tick must beat the constant by an F test at 5 %, equal values are constant, ties go to `expected` and then to the
    slower growth: what `scalkit.validate` does with one series, at a million series a second.

    Parameters
    ----------
    x : array_like of shape (points,)
        Values of the parameter, positive, in any order; points that repeat are merged as repetitions.
    Y : array_like of shape (series, points) or (series, points, repetitions), in `unit`
        Measured values. NaN marks what is missing; series may miss different points.
    space : SearchSpace or sequence of Growth
        The constant always competes.
    statistic : {"q1", "median", "mean", "min", "cut_mean", ...}
        Over the repetitions of a point.
    weights : {"relative", "none"}
        Whether relative or absolute errors count.
    nonnegative : bool
        Whether constant and coefficient must not be negative; if not, neither must values unless `positive`.
    criterion : {"adjusted_r2", "aicc", "loo", "smape"}
        Chooses the tick that is tested against the constant: adjusted R^2, the corrected Akaike criterion, or the sum of
        squares or the symmetric mean absolute percentage of the errors at points left out.
    expected : Growth, optional
        Wins ties.
    exact : bool
        Whether values are free of noise: then values that never fall and rise at least twice beat the constant.
    positive : bool
        Whether a zero is wrong, as in a time; bytes and counts may be zero.
    min_points : int
        Fewest points of a series, at least 3.
    all_hypotheses : bool
        Whether to return coefficients and adjusted R^2 of every growth too.
    parameter, unit : str
        For messages and models; by default that of the space and seconds.
    progress : bool
        Whether work that lasts shows a bar after a second: on a terminal and in a notebook, nowhere else.

    Returns
    -------
    FitModels

    Raises
    ------
    DataError
        If a value is infinite, negative or a zero where none may be, a series has too few points, there is only one point,
        shapes do not agree, or an option is unknown. The text names the series and the point.

    References
    ----------
    Shudler et al. 2015, sections 2.3 and 3.3 (docs/references.md).
    """
    require_criterion(criterion, min_points)
    if weights not in get_args(Weights):
        raise DataError(f"the weights {weights!r} are unknown; choose one of {', '.join(get_args(Weights))}.")
    ticks = tuple(space) if isinstance(space, Sequence) else space.ticks
    growths = (Growth.constant(), *sorted({tick for tick in ticks if not tick.is_constant}))
    name = parameter or next((name for growth in growths for name in growth.parameters), "p")
    least = 0.0 if positive or nonnegative else -np.inf
    table = Table.of(x, Y, statistic, name, unit, least, positive, min_points)
    known = Hypotheses.of(growths, table.x, expected)
    options = Options(weights == "relative", nonnegative, criterion, exact, all_hypotheses)
    with task_bar(sys.stderr, "fit_models", wanted=progress) as report:
        arrays = _fit(table, known, options, report)
    return FitModels(growths=growths, parameter=name, unit=unit, **arrays)


def _fit(table: Table, known: Hypotheses, options: Options, report: Report) -> dict[str, Any]:
    """Return the arrays of the result, computed block by block."""
    n_series, n_growths = len(table.values), len(known.growths)
    arrays: dict[str, Any] = {name: np.empty(n_series) for name in _FLOATS}
    arrays |= {name: np.empty(n_series, dtype=np.int64) for name in ("best", "n_points")}
    arrays["is_rough"] = np.empty(n_series, dtype=bool)
    if options.all_hypotheses:
        arrays |= {name: np.empty((n_series, n_growths)) for name in _TABLES}
    values_each = table.columns.size * (table.values.shape[2] if table.values.ndim == 3 else 1)
    step = min(_MOST_HYPOTHESES // n_growths, _MOST_VALUES // values_each, _MOST_SERIES)
    step = max(1, min(max(step, _FEWEST_SERIES), n_series))
    buffers = Buffers(n_growths, step)
    report(0, n_series)
    for start in range(0, n_series, step):
        y = table.block(start, min(start + step, n_series))
        for part, places, ticks in known.groups(y):
            for name, values in fit_block(part, ticks, known, options, buffers).items():
                arrays[name][start : start + y.shape[1]][places] = values
        report(start + y.shape[1], n_series)
    return arrays
