"""Measurements of scalkit's own run files as a table for guidelines: sizes are those of whole vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError
from scalkit.guidelines.columns import flat_rows
from scalkit.measure import parameters_of

if TYPE_CHECKING:
    import xarray as xr

_BLOCKED = frozenset(f"{base}{form}" for base in ("gather", "scatter", "allgather", "alltoall") for form in ("", "v", "w"))
_BLOCKED_SUMS = frozenset({"reduce_scatter", "reduce_scatter_block"})
_NAME = re.compile(r"MPI_I?([a-z_]+)(?:\[.*\])?")


class Columns(dict[str, Any]):
    """Columns with what the measurements say of themselves."""

    attrs: dict[str, Any]


def is_measurements(table: object) -> bool:
    """Return whether something is a Dataset as `scalkit.read` returns it."""
    import xarray as xr

    return isinstance(table, xr.Dataset) and "function" in table.dims and "parameter" in table.attrs


def run_table(data: xr.Dataset, metric: str = "time") -> Columns:
    """Return columns for `scalkit.guidelines.assess`: ``operation``, parameters, ``size``, ``run``, ``oversubscribed``, ``time``.

    `data`: as `scalkit.read` returns it, of one message size or, with ``parameter=["p", "S"]``, of several.
    Returns: a row is one function in one run; the values, in the unit of the metric, have an axis of repetitions.
    ``size`` is in bytes and that of the whole vector: where a call has a message for each process, as ``MPI_Gather``
    and ``MPI_Scatter`` have, it is p times what run files call size. So ``MPI_Bcast <= MPI_Scatter + MPI_Allgather``
    compares calls that move the same data. What did not deliver right data is left out.
    Raises DataError if there is no such metric, or nothing is left.
    """
    if metric not in data:
        raise DataError(f"the measurements have no '{metric}'; they have {', '.join(map(str, data.data_vars)) or 'none'}.")
    array = data[metric]
    for name in ("run", "repetition"):
        array = array if name in array.dims else array.expand_dims(name)
    names = [str(name) for name in array.dims if name not in ("function", "run", "repetition")]
    if "verified" in data:
        array = array.where(data["verified"] != 0)
    values, at, beside = flat_rows(data, array, ("function", *names, "run"))
    if not len(values):
        raise DataError(f"the measurements have no value of '{metric}'.")
    operation = np.asarray(array["function"].values, dtype=object)[at["function"]]
    found = Columns(operation=operation)
    found |= {name: np.asarray(_labels(array, name))[at[name]] for name in names}
    _add_size(found, data, names)
    runs = np.asarray(array["run"].values) if "run" in array.coords else np.arange(array.sizes["run"])
    found["run"] = runs[at["run"]]
    found |= {metric: values, **beside}
    shown = {key: data.attrs[key] for key in ("mpi_library", "started") if data.attrs.get(key)}
    found.attrs = {
        "simulated": bool(data.attrs.get("simulated", 0)),
        **{key: data.attrs[key] for key in ("clock", "virtual") if key in data.attrs},
        "units": str(array.attrs.get("units", "")),
        "host": data.attrs.get("measured_on", ""),
        **shown,
    }
    return found


def _labels(array: xr.DataArray, name: str) -> Any:
    labels = array[name].values
    is_whole = labels.dtype.kind == "f" and (labels == np.floor(labels)).all()
    return labels.astype(np.int64) if is_whole else labels


def _add_size(found: dict[str, Any], data: xr.Dataset, names: list[str]) -> None:
    """Put the size of the whole vector in the place of that of a message."""
    parameters = [name for name in parameters_of(data) if name in names]
    other = [name for name in parameters if name != "p"]
    if "p" not in parameters or len(parameters) > 2:
        return
    if len(other) == 1:
        message = np.asarray(found.pop(other[0]))
    elif data.attrs.get("message_size_B"):
        message = np.full(len(found["operation"]), int(data.attrs["message_size_B"]))
    else:
        return
    is_blocked = np.array([_is_blocked(str(name)) for name in found["operation"]])
    found["size"] = np.where(is_blocked, message * np.asarray(found["p"]), message)


def _is_blocked(operation: str) -> bool:
    """Return whether a call has a message for each process."""
    match = _NAME.fullmatch(operation.lower().replace("mpi_", "MPI_", 1).replace("MPI_i", "MPI_I", 1))
    return match is not None and match.group(1) in _BLOCKED | _BLOCKED_SUMS
