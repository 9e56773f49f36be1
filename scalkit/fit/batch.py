"""`fit_models`: every growth fitted to every series at once, without an object for any of them."""

import sys
from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.fit.batch_block import Hypotheses, Options, fit_block
from scalkit.fit.batch_input import Table
from scalkit.fit.batch_kernel import Buffers
from scalkit.fit.batch_result import FitModels
from scalkit.fit.criteria import Criterion, require_criterion
from scalkit.growth import Growth
from scalkit.options import MIN_POINTS, Statistic
from scalkit.task_bar import Report, task_bar

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
