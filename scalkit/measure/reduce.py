"""From repetitions to one value a point: the statistic over repetitions, then over runs, as a `Series`."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, get_args

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.caveats import Details, caveats, most
from scalkit.measure.quarter_means import CUT_MEANS, cut_mean, quantile
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, check, is_list, metrics_of, parameters_of
from scalkit.measure.virtual_time import TIMED, is_virtual
from scalkit.support.arrays import Flags, Floats, Ints
from scalkit.support.options import Statistic


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """The values of one function and metric, point by point.

    `exact`: whether the values are free of noise (bytes, counts).
    `values` of shape (points, runs), in `unit`: the statistic over the repetitions of each run; NaN where a run has no
    value.
    `y` of shape (points,), in `unit`: the statistic over the runs.
    `n_repetitions`, shape (points,): repetitions that entered, all runs together.
    `caveats`: what a reader should know, in plain words.
    `decides`: whether a verdict on these values may decide an exit status.
    `noise`: standard deviation between runs over their mean, median over the points; NaN with fewer than two runs.
    `resolution` in `unit`: differences up to this mean nothing, because values are rounded to such steps; 0 if they are
    not.
    `repetitions` of shape (points, repetitions), in `unit`: of the only run; None where there are several runs.
    `simulated`: whether a simulator computed the values.
    `virtual`: whether they are times of a virtual clock.
    `lost` of shape (points,): bytes that are not given back when the objects of a launch are freed, of memory per
    object.
    """

    function: str
    metric: str
    unit: str
    exact: bool
    values: Floats
    y: Floats
    n_repetitions: Ints
    caveats: tuple[str, ...]
    decides: bool
    noise: float
    resolution: float = 0.0
    repetitions: Floats | None = None
    simulated: bool = False
    virtual: bool = False
    lost: Floats | None = None

    @property
    def replicates(self) -> Floats:
        """Values that tell the noise, of shape (points, replicates): of the runs, or of the repetitions of an only run."""
        return self.values if self.repetitions is None else self.repetitions

    def only(self, these: Flags | Ints) -> Self:
        """Return some of the points, which flags or places name."""
        there = {name: value for name, value in vars(self).items() if name in _OF_EACH_POINT and value is not None}
        return replace(self, **{name: value[these] for name, value in there.items()})


_OF_EACH_POINT = ("x", "points", "values", "y", "n_repetitions", "repetitions", "lost")
_QUANTILES = {"min": 0.0, "q1": 0.25, "median": 0.5}
_WHOLE_LEVELS = 5
"""So many powers of two stand for all numbers of processes: as many as a verdict needs."""


@dataclass(frozen=True, eq=False)
class Series(Values):
    """The values of one function and metric along the parameter.

    `x` (shape (points,)): values of the parameter, ascending; only points with a value.
    `beside`: points of the same function and metric that are shown and not judged.
    Further attributes: those of `Values`.
    """

    parameter: str
    x: Floats
    beside: "Series | None" = None

    @cached_property
    def at_whole_levels(self) -> "Series":
        """The same at powers of two, with the other points beside it; itself where that is not needed.

        It is needed for times of a virtual clock over numbers of processes: a tree has whole levels, so that the exact times
        between powers of two lie off every smooth term.
        """
        is_whole = np.log2(self.x, where=self.x > 0, out=np.full(self.x.shape, 0.5)) % 1 == 0
        if not (self.virtual and self.parameter == "p") or is_whole.all() or is_whole.sum() < _WHOLE_LEVELS:
            return self
        others = ", ".join(f"{x:g}" for x in self.x[~is_whole])
        said = f"judged at powers of two, where trees have whole levels; beside them is shown {self.parameter} = {others}"
        return replace(self.only(is_whole), beside=self.only(~is_whole), caveats=(*self.caveats, said))

    @property
    def shown_x(self) -> Floats:
        """The points that are judged and those beside them, ascending."""
        return self.x if self.beside is None else np.sort(np.concatenate([self.x, self.beside.x]))

    def shown_along(self, parameter: str) -> Floats:
        """Return `shown_x`, by the name of the parameter."""
        return self.shown_x if parameter == self.parameter else self.along(parameter)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters: the only one."""
        return (self.parameter,)

    @property
    def points(self) -> Floats:
        """The values of the parameter, of shape (points, 1), as a `SeveralSeries` has them."""
        return self.x[:, np.newaxis]

    def along(self, parameter: str) -> Floats:
        """Return the values of the parameter, ascending. Raises DataError if it is another one."""
        if parameter != self.parameter:
            raise DataError(f"'{self.function}' was measured along {self.parameter}, not along {parameter!r:.40}.")
        return self.x

    def __repr__(self) -> str:
        n = len(self.x)
        where = f"{n} settings of {self.parameter} from {self.x[0]:g} to {self.x[-1]:g}" if n else "no settings"
        return f"Series({self.function!r}, {self.metric}: {where})"


def statistic_over(values: Floats, axis: int, statistic: Statistic = "q1") -> Floats:
    """Return the statistic of the finite values along an axis; NaN where there is none.

    `values`: NaN marks what is missing.
    `statistic`: quantiles interpolate linearly between order statistics; `scalkit.measure.quarter_means` defines the
    cut means.
    Raises DataError if the statistic is unknown.
    """
    if statistic not in get_args(Statistic):
        raise DataError(f"the statistic {statistic!r} is unknown; choose one of {', '.join(get_args(Statistic))}.")
    values = np.asarray(values, dtype=np.float64)
    count = np.isfinite(values).sum(axis=axis, keepdims=True)
    if values.shape[axis] == 0:
        return np.full(np.squeeze(count, axis=axis).shape, np.nan)
    if statistic == "mean":
        total = np.nansum(values, axis=axis, keepdims=True)
        return np.asarray(np.squeeze(np.where(count > 0, total / np.maximum(count, 1), np.nan), axis=axis))
    ordered = np.sort(values, axis=axis)  # NaN goes last
    rows, counts = np.moveaxis(ordered, axis, -1), np.squeeze(count, axis=axis)
    if statistic in CUT_MEANS:
        return cut_mean(rows, counts, CUT_MEANS[statistic])
    return quantile(rows, counts, _QUANTILES[statistic])


def series(ds: xr.Dataset, statistic: Statistic = "q1") -> list[Series]:
    """Return the series of every function and metric that has a value.

    `ds`: as `read`, `measurements` or `combine` return it.
    `statistic`: first over the repetitions of a run, then over the runs. The first quartile by default, because noise only
    adds.
    Returns: metrics in the order of the variables, functions in the order of the coordinate.
    Raises DataError if `ds` does not pass `check`, has several parameters or no value, or the statistic is unknown.
    """
    check(ds)
    names = parameters_of(ds)
    if len(names) > 1:
        first = float(np.asarray(ds[names[-1]]).ravel()[0])
        raise DataError(
            f"series are along one parameter, the Dataset is over {', '.join(names)}; select one value of the others, as in "
            f"ds.sel({names[-1]}={first:g}), or pass the Dataset as it is to scalkit.validate."
        )
    return series_on(ds, names[0], statistic)


def series_on(ds: xr.Dataset, axis: str, statistic: Statistic) -> list[Series]:
    """Return the series of every function and metric along an axis: the parameter, or the ``point`` of several.

    Along ``point`` their `x` are the places 0, 1, ... of the points.

    Raises DataError if there is no value, or the statistic is unknown.
    """
    found = [one for metric in metrics_of(ds) for one in _series_of(ds, axis, metric, statistic)]
    if not found:
        raise DataError(
            f"there is no value to judge: {', '.join(map(repr, metrics_of(ds)))} is NaN everywhere, which stands for what "
            "was not measured; measure again."
        )
    return found


def _series_of(ds: xr.Dataset, parameter: str, metric: str, statistic: Statistic) -> list[Series]:
    cube = _cube(ds[metric], parameter)
    per_run = statistic_over(cube, 3, statistic)
    y = statistic_over(per_run, 2, statistic)
    used = np.isfinite(cube).sum(axis=(2, 3))
    x = np.arange(cube.shape[1]) * 1.0 if is_list(ds) else np.asarray(ds[parameter], dtype=np.float64)
    variable, found = ds[metric], []
    unit, resolution, details = str(variable.attrs["units"]), _resolution(variable), Details(ds, parameter)
    are_exact, are_virtual = bool(variable.attrs.get("exact", 0)), is_virtual(ds.attrs) and metric in TIMED
    for index, function in enumerate(np.asarray(ds[FUNCTION])):
        there = np.isfinite(y[index])
        if not there.any():
            continue
        remarks, decides = caveats(details, metric, str(function), there)
        found.append(
            Series(
                function=str(function),
                metric=metric,
                parameter=parameter,
                unit=unit,
                exact=are_exact,
                x=x[there],
                values=per_run[index][there],
                y=y[index][there],
                n_repetitions=used[index][there].astype(np.int64),
                caveats=remarks,
                decides=decides,
                noise=_noise(per_run[index][there]),
                resolution=resolution,
                repetitions=_repetitions(cube[index][there], per_run[index][there]),
                simulated=bool(ds.attrs.get("simulated", 0)),
                virtual=are_virtual,
                lost=most(details, "object_memory_leaked", str(function))[there] if metric == "object_memory" else None,
            )
        )
    return found


def _repetitions(cube: Floats, per_run: Floats) -> Floats | None:
    """Return the repetitions of the run that has values, if it is the only one."""
    runs = np.flatnonzero(np.isfinite(per_run).any(axis=0))
    return cube[:, runs[0]] if len(runs) == 1 else None


def _resolution(variable: xr.DataArray) -> float:
    value = variable.attrs.get("resolution", 0.0)
    return float(value) if isinstance(value, (int, float, np.number)) and 0 < value < math.inf else 0.0


def _cube(variable: xr.DataArray, parameter: str) -> Floats:
    """Return the values with dims function, parameter, run, repetition."""
    order = (FUNCTION, parameter, RUN, REPETITION)
    present = [dim for dim in order if dim in variable.dims]
    values = np.asarray(variable.transpose(*present), dtype=np.float64)
    return values[tuple(slice(None) if dim in present else np.newaxis for dim in order)]


def _noise(per_run: Floats) -> float:
    count = np.isfinite(per_run).sum(axis=1)
    rows = per_run[count >= 2]
    if not len(rows):
        return float("nan")
    mean = np.nanmean(rows, axis=1)
    spread = np.nanstd(rows, axis=1, ddof=1)
    return float(np.median(np.divide(spread, np.abs(mean), out=np.zeros_like(spread), where=spread > 0)))
