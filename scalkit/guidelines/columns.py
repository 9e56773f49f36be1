"""Tables of several kinds as columns: parameters, runs, and values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.errors import DataError
from scalkit.measure.virtual_time import is_virtual, machine_of, said_of


@dataclass(frozen=True)
class Columns:
    """Columns of one length.

    `values` of shape (rows,).
    `crowded` of shape (rows,): whether there were more processes than cores.
    `unit`: of the values; empty if the table does not say.
    `exact`: whether values repeat exactly, as those of a virtual clock do.
    `load` of shape (rows,): share of the cores that other programs used meanwhile; NaN where it is unknown.
    `machine`: the machine of a virtual clock; empty for a real one.
    """

    parameters: Mapping[str, Any]
    run: Any
    values: Floats
    crowded: Flags
    caveats: tuple[str, ...] = ()
    unit: str = ""
    exact: bool = False
    load: Any = math.nan
    machine: Mapping[str, Any] = field(default_factory=dict)


CROWDED = "oversubscribed"
"""A column that is no parameter: whether there were more processes than cores."""

LOAD = "foreign_load"
"""A column that is no parameter: which share of the cores other programs used."""


def columns_of(table: Any, value: str, run: str, ignore: Sequence[str]) -> Columns:
    """Return the columns of a table; see `scalkit.guidelines.measured`.

    Raises DataError if it is no table, a column is missing, or the values are no numbers.
    """
    import xarray as xr

    if isinstance(table, xr.Dataset):
        return _of_dataset(table, value, run, ignore)
    attributes = getattr(table, "attrs", None) or {}
    if isinstance(table, np.ndarray) and table.dtype.names:
        found = {name: table[name] for name in table.dtype.names}
    elif hasattr(table, "columns") and hasattr(table, "itertuples"):
        found = {str(name): table[name].array for name in table.columns}
    elif isinstance(table, Mapping):
        found = {str(name): column if hasattr(column, "dtype") else np.asarray(column) for name, column in table.items()}
    else:
        raise DataError(
            f"measurements cannot come from {type(table).__name__}; give a pandas DataFrame, an xarray Dataset, a structured "
            "array or a mapping of arrays."
        )
    return _split(found, value, run, ignore, attributes)


def _split(found: Mapping[str, Any], value: str, run: str, ignore: Sequence[str], attributes: Mapping[Any, Any]) -> Columns:
    caveats = _caveats(attributes)
    for needed, what in ((value, "the measured values"), (run, "the launch that a value comes from")):
        if needed not in found:
            raise DataError(f"there is no column '{needed}' with {what}; there are {', '.join(found) or 'none'}.")
    lengths = {len(column) for column in found.values()}
    if len(lengths) > 1:
        raise DataError(f"columns have different lengths: {', '.join(f'{k} {len(v)}' for k, v in found.items())}.")
    if lengths == {0}:
        raise DataError("the table of measurements is empty.")
    parameters = {name: column for name, column in found.items() if name not in (value, run, CROWDED, LOAD, *ignore)}
    if not parameters:
        raise DataError(f"the table has no parameter: columns beside '{value}' and '{run}' tell experiments apart.")
    crowded = np.asarray(found.get(CROWDED, np.zeros(len(found[run])))) == True  # noqa: E712  (may hold missing values)
    if crowded.any():
        caveats += ("some runs had more processes than cores: their times describe the scheduler and do not decide",)
    unit = str(attributes.get("units", ""))
    machine = machine_of(attributes) if is_virtual(attributes) else {}
    exact = is_virtual(attributes) and machine.get("compute", "none") == "none"
    load = np.asarray(found.get(LOAD, np.full(len(found[run]), np.nan)), dtype=np.float64)
    return Columns(parameters, found[run], _numbers(found[value], value), crowded, caveats, unit, exact, load, machine)


def _numbers(column: Any, value: str) -> Floats:
    array = np.asarray(column)
    try:
        if array.dtype == object and len(array) and np.ndim(array[0]) == 1:
            width = max(len(row) for row in array)
            numbers = np.full((len(array), width), np.nan)
            for place, row in enumerate(array):
                numbers[place, : len(row)] = row
            return numbers
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"'{value}' must hold numbers, or a list of numbers in each row.") from None
    if numbers.ndim > 2:
        raise DataError(f"'{value}' has {numbers.ndim} axes; one of rows and one of repetitions are possible.")
    return numbers


def _of_dataset(data: Any, value: str, run: str, ignore: Sequence[str]) -> Columns:
    if value not in data:
        raise DataError(f"the Dataset has no variable '{value}'; it has {', '.join(map(str, data.data_vars)) or 'none'}.")
    if run not in data[value].dims:
        raise DataError(f"'{value}' has no dimension '{run}', the launch that a value comes from; it has {data[value].dims}.")
    where = [d for d in data[value].dims if d not in ("repetition", *ignore)]
    numbers, places, beside = flat_rows(data, data[value], where)
    found: dict[str, Any] = {value: numbers, **beside}
    for dim, place in places.items():
        along = {dim: data[dim].values} if dim in data.coords else {}
        if not along:
            along = {str(n): c.values for n, c in data.coords.items() if c.dims == (dim,) and n != CROWDED} or {
                dim: np.arange(len(data[dim]))
            }
        for name, levels in along.items():
            found["operation" if name == "function" and "operation" not in data.coords else str(name)] = levels[place]
    units = data[value].attrs.get("units") or data.attrs.get("units", "")
    own = {"units": units, **{key: data.attrs[key] for key in ("simulated", "clock", "virtual") if key in data.attrs}}
    return _split(found, value, run, ignore, own)


def flat_rows(data: Any, array: Any, where: Sequence[str]) -> tuple[Floats, dict[str, Ints], dict[str, Any]]:
    """Return an array of a Dataset as rows, without those that have no value.

    `where`: the dimensions that tell rows apart; the others are axes within a row.
    Returns: values of shape (n_rows, n_values); where each row stands along each dimension; columns of what the Dataset says of
    oversubscribed processes and the load by others.
    """
    wide = array.transpose(*where, *(dim for dim in array.dims if dim not in where))
    shape = wide.shape[: len(where)]
    numbers = np.asarray(wide.values, dtype=np.float64).reshape(int(np.prod(shape)), -1)
    kept = ~np.isnan(numbers).all(axis=1)
    at = dict(zip(where, np.indices(shape).reshape(len(where), -1)[:, kept], strict=True))
    beside = {}
    for name in (CROWDED, LOAD):
        if name in data.variables and set(data[name].dims) <= set(where):
            told = data[name].broadcast_like(wide).transpose(*wide.dims)
            beside[name] = np.asarray(told.values).reshape(len(numbers), -1)[kept, 0]
    return numbers[kept], at, beside


def _caveats(attributes: Mapping[Any, Any]) -> tuple[str, ...]:
    notes = attributes.get("notes") or ()
    simulated = ("these measurements are simulated",) if attributes.get("simulated") else ()
    said = [notes] if isinstance(notes, str) else list(notes) if isinstance(notes, list | tuple) else []
    virtual = (f"run times of {said_of(attributes)}",) if said_of(attributes) else ()
    return (*simulated, *virtual, *(str(note).rstrip(".") for note in dict.fromkeys(said)))
