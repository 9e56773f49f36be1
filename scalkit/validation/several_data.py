"""Measurements over several parameters: a Dataset from arrays, and from a Dataset the points of each function and metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.measure import measurements
from scalkit.measure.reduce import Statistic, statistic_over
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, metrics_of

__all__ = ["SeveralSeries", "measurements_several", "parameters_of", "several_series"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
_MOST_CELLS = 2**24
_POINT = "point_number"


@dataclass(frozen=True, eq=False)
class SeveralSeries:
    """The values of one function and metric over several parameters.

    Attributes
    ----------
    function, metric, unit : str
    exact : bool
        Whether the values are free of noise.
    parameters : tuple of str
    points : ndarray of shape (points, parameters)
        Only those with a value.
    values : ndarray of shape (points, replicates), in `unit`
        Of the runs, or the repetitions of an only run; NaN where one is missing.
    """

    function: str
    metric: str
    unit: str
    exact: bool
    parameters: tuple[str, ...]
    points: Floats
    values: Floats


def measurements_several(
    points: ArrayLike,
    y: ArrayLike,
    parameters: Sequence[str],
    metric: str = "time",
    unit: str | None = None,
    name: str = "f",
    exact: bool | None = None,
) -> xr.Dataset:
    """Return a Dataset of one function and metric over several parameters.

    Parameters
    ----------
    points : array_like of shape (points, parameters)
        Positive; any set of points, those that repeat are merged as repetitions.
    y : array_like of shape (points,) or (points, reps), in `unit`
        NaN where a repetition is missing.
    parameters : sequence of str
        Names of the columns of `points`, Python identifiers.
    metric, unit, name, exact
        As of `scalkit.measurements`.

    Returns
    -------
    xarray.Dataset
        Dims ``function`` (1), the parameters (ascending), ``run`` (1), ``repetition``; NaN where no point is.

    Raises
    ------
    DataError
        If shapes do not agree, a name is not allowed, or the grid that spans the points is too large.
    """
    names = tuple(parameters)
    try:
        x = np.array(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"points are no array of numbers ({error}); pass rows of one length.") from error
    if x.ndim != 2 or x.shape[1] != len(names) or not len(x) or len(set(names)) != len(names):
        raise DataError(
            f"points have shape {x.shape} and the parameters are {', '.join(names)}; needed are (points, parameters), "
            "not empty, and a name of its own for each column."
        )
    if not np.isfinite(x).all() or (x <= 0).any():
        raise DataError("every value of a parameter must be positive and finite; drop or correct the others.")
    distinct, index = np.unique(x, axis=0, return_inverse=True)
    for parameter in names:
        measurements([1.0], [1.0], parameter, metric, unit, name, exact)  # checks the names
    flat = measurements(index.reshape(-1) + 1.0, y, _POINT, metric, unit, name, exact)
    axes = [np.unique(x[:, i]) for i in range(len(names))]
    cells = math.prod(len(axis) for axis in axes) * flat.sizes[REPETITION]
    if cells > _MOST_CELLS:
        raise DataError(
            f"the grid that spans the points has {cells} cells, at most {_MOST_CELLS} are allowed; pass the arrays "
            "themselves to validate_several."
        )
    grid = np.full((*(len(axis) for axis in axes), flat.sizes[REPETITION]), np.nan)
    place = tuple(np.searchsorted(axis, distinct[:, i]) for i, axis in enumerate(axes))
    grid[place] = np.asarray(flat[metric])[0, :, 0]
    return xr.Dataset(
        {metric: ((FUNCTION, *names, RUN, REPETITION), grid[np.newaxis, ..., np.newaxis, :], flat[metric].attrs)},
        {FUNCTION: flat[FUNCTION].values, RUN: np.array([0]), **dict(zip(names, axes, strict=True))},
        {"title": flat.attrs["title"], "parameters": ",".join(names)},
    )


def parameters_of(ds: xr.Dataset) -> tuple[str, ...]:
    """Return the parameters of a Dataset: those of ``attrs["parameters"]``, else all dims of its metrics but the usual."""
    named = ds.attrs.get("parameters")
    if isinstance(named, str) and named.strip():
        return tuple(part.strip() for part in named.split(","))
    dims = dict.fromkeys(str(dim) for metric in metrics_of(ds) for dim in ds[metric].dims)
    return tuple(dim for dim in dims if dim not in (FUNCTION, RUN, REPETITION))


def several_series(ds: xr.Dataset, statistic: Statistic = "q1") -> Iterator[SeveralSeries]:
    """Return the values of every function and metric that has one.

    Parameters
    ----------
    ds : xarray.Dataset
        Dims ``function``, the parameters, and where there are such ``run`` and ``repetition``.
    statistic : {"q1", "median", "mean", "min"}
        Over the repetitions of each run where there are several runs.

    Raises
    ------
    DataError
        If the Dataset has no metric, no ``function``, or a parameter is no dimension with numbers.
    """
    names = parameters_of(ds)
    metrics = metrics_of(ds)
    if not metrics or FUNCTION not in ds.coords:
        raise DataError(
            "this is no Dataset of measurements: it needs the coordinate 'function' and variables with "
            "attrs['role'] = 'metric'; make one with measurements_several."
        )
    for name in names:
        if name not in ds.coords or ds[name].dims != (name,) or ds[name].dtype.kind not in "iuf":
            raise DataError(f"the parameter '{name}' is no dimension of the Dataset with numbers; name the dimensions.")
    axes = np.meshgrid(*(np.asarray(ds[name], dtype=np.float64) for name in names), indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    for metric in metrics:
        cube = _cube(ds[metric], names)
        for index, function in enumerate(np.asarray(ds[FUNCTION])):
            values = _replicates(cube[index].reshape(len(points), *cube.shape[-2:]), statistic)
            there = np.isfinite(values).any(axis=1)
            if there.any():
                yield SeveralSeries(
                    function=str(function),
                    metric=metric,
                    unit=str(ds[metric].attrs.get("units", "")),
                    exact=bool(ds[metric].attrs.get("exact", 0)),
                    parameters=names,
                    points=points[there],
                    values=values[there],
                )


def _cube(variable: xr.DataArray, names: Sequence[str]) -> Floats:
    order = (FUNCTION, *names, RUN, REPETITION)
    wrong = sorted({str(dim) for dim in variable.dims} - set(order) | ({FUNCTION, *names} - set(variable.dims)))
    if wrong:
        raise DataError(
            f"'{variable.name}' has dims {variable.dims}; function, {', '.join(names)} are needed, run and repetition "
            f"allowed. Select or add '{wrong[0]}'."
        )
    present = [dim for dim in order if dim in variable.dims]
    values = np.asarray(variable.transpose(*present), dtype=np.float64)
    return values[tuple(slice(None) if dim in present else np.newaxis for dim in order)]


def _replicates(values: Floats, statistic: Statistic) -> Floats:
    """Return the repetitions of an only run, else the statistic over the repetitions of each run."""
    runs = np.flatnonzero(np.isfinite(values).any(axis=(0, 2)))
    if len(runs) == 1:
        return np.asarray(values[:, runs[0]])
    return statistic_over(values, 2, statistic)
