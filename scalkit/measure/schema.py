"""The Dataset that measurements live in: its dimensions, metrics, units, roles, and the check that explains them."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.support.arrays import Flags, Floats
from scalkit.support.text import shortened

FUNCTION, RUN, REPETITION = "function", "run", "repetition"
"""Dimensions that every Dataset may have, beside those named by ``attrs["parameter"]``."""

PROCESS = "process"
"""Dimension of the times of each process."""

POINT = "point"
"""The dimension that stands for several parameters where they are listed point by point."""

_MAX_NAME = 500


@dataclass(frozen=True)
class Metric:
    """A measured quantity: its name in the Dataset, its unit, and whether it is free of noise.

    `unit`: base unit without prefix, ``"s"`` or ``"B"``.
    `long_name`: for people.
    `exact`: True for counts and bytes that repeat exactly.
    `resolution`: differences up to this mean nothing, because values are rounded to such steps.
    """

    name: str
    unit: str
    long_name: str
    exact: bool
    resolution: float = 0.0

    def attrs(self) -> dict[str, object]:
        """Return the attributes of the variable; ``exact`` is 0 or 1, because netCDF-3 has no booleans there."""
        attrs = {"role": "metric", "units": self.unit, "long_name": self.long_name, "exact": int(self.exact)}
        return attrs | ({"resolution": self.resolution} if self.resolution else {})


METRICS = {
    metric.name: metric
    for metric in (
        Metric("time", "s", "run time, common start to last end", exact=False),
        Metric("object_memory", "B", "memory per object, maximum over processes", exact=True, resolution=16.0),
        Metric("process_memory", "B", "MPI's own memory per process, maximum over processes", exact=False),
    )
}
"""What scalkit's own benchmarks measure; a Dataset may have other metrics too. malloc hands out memory in steps of 16 B."""

_ORDER = (
    *("MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Allgather", "MPI_Alltoall"),
    *("Bcast_binary_tree", "MPI_Comm_create", "MPI_Comm_dup", "MPI_Win_create", "MPI_Cart_create", "MPI_memory"),
    *("gen", "dedup", "pcount", "unjoin"),
)

_FUNCTIONS = ("log", "log2", "log10", "ln", "lg", "ld", "lb", "sqrt", "cbrt")
_NOT_NUMBERS = ("nan", "inf", "infinity", "oo", "zoo")  # however they are written
RESERVED = frozenset(
    {FUNCTION, RUN, REPETITION, "status", "oversubscribed", "processes_per_node", *METRICS, *_FUNCTIONS, *_NOT_NUMBERS}
)
"""Names that a parameter cannot have; see `is_reserved`."""


def is_reserved(name: str) -> bool:
    """Return whether a parameter cannot have a name, because a Dataset or a formula means something else by it."""
    return name in RESERVED or name.lower() in _NOT_NUMBERS


def metrics_of(ds: xr.Dataset) -> list[str]:
    """Return the names of the variables with ``attrs["role"] == "metric"``, in their order."""
    return [str(name) for name, variable in ds.data_vars.items() if variable.attrs.get("role") == "metric"]


def parameters_of(ds: xr.Dataset) -> tuple[str, ...]:
    """Return the parameters that vary: those that ``attrs["parameter"]`` names, between commas, and that are no single value.

    ``ds.sel(S=64)`` of a Dataset over ``p`` and ``S`` has the parameter ``p``.
    """
    names = _named_parameters(ds)
    if len(names) == 1:
        return names
    return tuple(name for name in names if name not in ds.coords or ds[name].ndim) or names


def fixed_parameters(ds: xr.Dataset) -> dict[str, float]:
    """Return each parameter that has a single value because one was selected, as by ``ds.sel(S=64)``."""
    varied = parameters_of(ds)
    return {name: float(ds[name]) for name in _named_parameters(ds) if name not in varied}


def axes_of(ds: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions that the parameters lie on: their own, or ``("point",)``."""
    return (POINT,) if is_list(ds) else parameters_of(ds)


def is_list(ds: xr.Dataset) -> bool:
    """Return whether several parameters are listed point by point, on the dimension ``point``."""
    names = parameters_of(ds)
    return len(names) > 1 and all(name in ds.coords and ds[name].dims == (POINT,) for name in names)


def _named_parameters(ds: xr.Dataset) -> tuple[str, ...]:
    given = ds.attrs.get("parameter")
    return tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else ()


def function_order(name: str) -> tuple[int, str]:
    """Return a sort key: the functions of scalkit's benchmarks in the order of the case study, then others by name."""
    stem = name.partition("[")[0]
    return (_ORDER.index(stem) if stem in _ORDER else len(_ORDER), name)


def empty_value(name: str, kind: np.dtype[Any]) -> object:
    """Return what stands in variable `name` of this type where nothing was measured."""
    if kind.kind == "f":
        return math.nan
    if kind.kind == "b":
        return name == "verified"
    return 0 if kind.kind in "iu" else ""


def check(ds: xr.Dataset) -> None:
    """Return nothing if `ds` is a Dataset of measurements as described in docs/file-formats.md.

    Raises DataError: naming what is wrong, what is allowed, and how to go on.
    """
    for problem in _problems(ds):
        raise DataError(f"this is no Dataset of measurements: {problem}. See docs/file-formats.md.")


def _problems(ds: xr.Dataset) -> Iterator[str]:
    given = ds.attrs.get("parameter")
    names = _named_parameters(ds)
    absent = [name for name in names if name not in ds.coords]
    if not names or absent:
        which = f", where {absent[0]!r} is none" if len(names) > 1 else ""
        needed = "coordinates between commas" if len(names) > 1 else "a coordinate"
        yield f"attrs['parameter'] is {given!r}, which must name {needed} (there are {_listed(ds.coords)}){which}"
        return
    if len(set(names)) < len(names):
        yield f"attrs['parameter'] is {given!r}, which names a parameter twice; each has a name of its own"
        return
    if FUNCTION not in ds.coords:
        yield f"the coordinate 'function', what was measured, is missing (there are {_listed(ds.coords)})"
        return
    yield from _attribute_problems(ds)
    yield from _axis_problems(ds)
    metrics = metrics_of(ds)
    if not metrics:
        yield f"no variable has attrs['role'] = 'metric' (there are {_listed(ds.data_vars)})"
    for name in metrics:
        yield from _metric_problems(ds, name)


def _attribute_problems(ds: xr.Dataset) -> Iterator[str]:
    for name, (is_right, needed) in _JSON_ATTRIBUTES.items():
        value = ds.attrs.get(name, "")
        if not isinstance(value, str) or (value and not is_right(_parsed(value))):
            yield f"attrs[{name!r}] is {shortened(repr(value))}; JSON text of {needed} is needed"
    for name, most in (("simulated", 1), ("message_size_B", 2**63 - 1)):
        value = ds.attrs.get(name, 0)
        if not isinstance(value, int | np.integer | np.bool_) or not 0 <= value <= most:
            allowed = "0 or 1" if most == 1 else "a whole number of bytes"
            yield f"attrs[{name!r}] is {shortened(repr(value))}; {allowed} is needed"


def _is_text_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_table_of_lists(value: object) -> bool:
    return isinstance(value, dict) and all(_is_text_list(one) for one in value.values())


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key, {}), dict) for key in ("arguments", "settings"))


_JSON_ATTRIBUTES: dict[str, tuple[Callable[[object], bool], str]] = {
    "inputs": (_is_text_table, "an object of file names and texts"),
    "environment": (_is_table_of_lists, "an object of names and lists of texts"),
    "notes": (_is_text_list, "a list of texts"),
    "virtual": (lambda value: isinstance(value, dict), "an object"),
    "campaign": (_is_record, "an object whose 'arguments' and 'settings' are objects"),
}


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _axis_problems(ds: xr.Dataset) -> Iterator[str]:
    parameters, axes = parameters_of(ds), axes_of(ds)
    for axis in (*(() if is_list(ds) else axes), FUNCTION):
        if ds[axis].dims != (axis,):
            lists = f", or all of {', '.join(parameters)} lie on the dimension 'point'" if len(parameters) > 1 else ""
            yield f"the coordinate {axis!r} has dims {ds[axis].dims}; it must be a dimension of its own{lists}"
            return
    for name in _named_parameters(ds):
        if name not in parameters and (ds[name].dtype.kind not in "iuf" or not np.isfinite(ds[name]).all()):
            yield f"{name!r} is {ds[name].values!r:.40}; a number is needed where one value of a parameter is selected"
            return
    for parameter in parameters:
        points = np.asarray(ds[parameter])
        if points.dtype.kind not in "iuf":
            yield f"the values of {parameter!r} are of type {points.dtype}; numbers are needed"
            return
        if not np.isfinite(points).all() or (points <= 0).any():
            yield f"the values of {parameter!r} are {points.tolist()}; they must be positive and finite"
        if not is_list(ds) and (np.diff(points.astype(np.float64)) <= 0).any():
            yield f"the values of {parameter!r} are {points.tolist()}; they must ascend, each once"
    if is_list(ds):
        yield from _point_problems(ds, parameters)
    yield from _name_problems(ds)


def _point_problems(ds: xr.Dataset, parameters: tuple[str, ...]) -> Iterator[str]:
    rows = np.stack([np.asarray(ds[name], dtype=np.float64) for name in parameters], axis=1)
    distinct, count = np.unique(rows, axis=0, return_counts=True)
    if (count > 1).any():
        where = ", ".join(f"{n} = {x:g}" for n, x in zip(parameters, distinct[int(np.argmax(count))], strict=True))
        yield f"the point {where} stands there more than once; its values are repetitions of one point"


def _name_problems(ds: xr.Dataset) -> Iterator[str]:
    names = [str(name) for name in np.asarray(ds[FUNCTION])]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        yield f"the function {twice[0]!r} stands there more than once; combine() merges repeated measurements"
    for name in names:
        if not name or len(name) > _MAX_NAME or "\0" in name or not _is_unicode(name):
            yield (
                f"the function name {name[:40]!r} is not allowed; 1 to {_MAX_NAME} characters without NUL and without "
                "half characters (lone surrogates) are"
            )


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _metric_problems(ds: xr.Dataset, name: str) -> Iterator[str]:
    variable = ds[name]
    needed = (FUNCTION, *axes_of(ds))
    if not set(needed) <= set(variable.dims) <= {*needed, RUN, REPETITION}:
        shown = f"{', '.join(needed[:-1])} and {needed[-1]}"
        yield f"{name!r} has dims {variable.dims}; {shown} are needed, run and repetition allowed"
        return
    if variable.dtype.kind not in "iuf":
        yield f"{name!r} is of type {variable.dtype}; numbers are needed, NaN where nothing was measured"
        return
    unit = variable.attrs.get("units")
    if not isinstance(unit, str) or not unit:
        yield f"{name!r} has the unit {unit!r} in attrs['units']; a text such as 's' or 'B' is needed"
    elif name in METRICS and unit != METRICS[name].unit:
        yield f"{name!r} is in {unit!r}; convert it to {METRICS[name].unit!r}"
    if (wrong := np.isinf(variable.values)).any():
        yield f"{_value_at(variable, wrong)}; write NaN where nothing was measured, or drop that point"
    if name == "time" and (wrong := variable.values < 0).any():
        yield f"{_value_at(variable, wrong)}; durations are not negative: write NaN, or drop that point"


def _value_at(variable: xr.DataArray, wrong: Flags) -> str:
    """Return the first wrong value in words: "'time' of 'f' at p = 4 is inf s"."""
    place = dict(zip(variable.dims, np.argwhere(wrong)[0].tolist(), strict=True))
    one = variable.isel(place)
    at = [name for name in one.coords if name not in (FUNCTION, RUN, REPETITION) and one[name].dtype.kind in "iuf"]
    where = ", ".join(f"{name} = {one[name].item():g}" for name in at if name in variable.coords)
    unit = variable.attrs.get("units", "")
    return f"{str(variable.name)!r} of {one[FUNCTION].item()!r} at {where} is {one.item():g} {unit}".rstrip()


def _listed(names: Iterable[object]) -> str:
    return ", ".join(repr(str(name)) for name in names) or "none"


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
