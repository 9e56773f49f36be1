"""The two forms of a Dataset over several parameters: a grid with a dimension for each, and a list of points."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.arrays import Floats
from scalkit.measure.schema import FUNCTION, POINT, REPETITION, RUN, axes_of, empty_value, is_list, metrics_of, parameters_of

LARGEST_INT = 2**31 - 1
"""The largest whole number that netCDF-3 has."""

_SMALL_GRID = 2**16
_FILL = 4
"""A grid of which three quarters or more would be empty is kept as a list of points."""


def as_points(ds: xr.Dataset) -> tuple[xr.Dataset, str]:
    """Return the Dataset with all parameters on one axis, and the name of that: the parameter's own, or ``"point"``.

    `ds`: passes `check`.
    Returns: of a grid only the points where some function has a value.
    """
    names, axes = parameters_of(ds), axes_of(ds)
    if len(axes) == 1:
        return ds, axes[0]
    listed = ds.stack({POINT: names}).reset_index(POINT)
    there = np.zeros(listed.sizes[POINT], dtype=bool)
    for metric in metrics_of(ds):
        there |= np.asarray(listed[metric].notnull().transpose(POINT, ...)).reshape(len(there), -1).any(axis=1)
    return (listed.isel({POINT: np.flatnonzero(there)}) if there.any() else listed), POINT


def as_grid(ds: xr.Dataset) -> xr.Dataset:
    """Return a list of points as a grid with NaN between them, unless it would be large and mostly empty.

    A grid of up to 65,536 points, or with at least a quarter of them measured, is made; else the list stays.
    """
    names = parameters_of(ds)
    if not is_list(ds):
        return ds
    cells = math.prod(len(np.unique(np.asarray(ds[name]))) for name in names)
    if cells > max(_SMALL_GRID, _FILL * ds.sizes[POINT]):
        return ds
    empty = {str(name): empty_value(str(name), variable.dtype) for name, variable in ds.variables.items()}
    grid = ds.set_index({POINT: names}).unstack(POINT, fill_value=empty)
    return grid.transpose(FUNCTION, *names, RUN, REPETITION, ..., missing_dims="ignore")


def whole_labels(column: Floats) -> NDArray[Any]:
    """Return whole numbers as integers, as far as netCDF-3 has them."""
    is_whole = (column == np.round(column)).all() and column.max() <= LARGEST_INT
    return column.astype(np.int64) if is_whole else column


def points_in(ds: xr.Dataset, names: Sequence[str]) -> Floats:
    """Return the points of a list, of shape (points, parameters)."""
    columns: list[NDArray[Any]] = [np.asarray(ds[name], dtype=np.float64) for name in names]
    return np.stack(columns, axis=1)
