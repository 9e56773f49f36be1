"""Several Datasets become one: functions and points side by side, repeated measurements as further runs."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.measure.environment import as_attribute, from_attribute, together
from scalkit.measure.schema import (
    FUNCTION,
    POINT,
    PROCESS,
    REPETITION,
    RUN,
    as_grid,
    as_points,
    check,
    empty_value,
    fixed_parameters,
    metrics_of,
    parameters_of,
    points_in,
)
from scalkit.measure.virtual_time import clock_of, machine_of
from scalkit.support.arrays import Floats

_MUST_AGREE = {"message_size_B": "message size", "datatype": "data type", "simulated": "machine", "mpi_library": "MPI library"}
_LISTS = ("measured_on", "truncated", "source", "title", "format")


def combine(datasets: Iterable[xr.Dataset]) -> xr.Dataset:
    """Return one Dataset with all functions, points and runs of several.

    `datasets`: at least one, each as `read` or `measurements` return it. Where two hold values of the same function, metric
    and point in the same run, the runs of the later one are added as further runs.
    Returns: with an axis for the parameter; several parameters as `scalkit.measurements` lays them out.
    Raises DataError if there is none, one does not pass `check`, or two differ in parameter, message size, data type, MPI
    library, or in the unit of a metric.
    """
    given = list(datasets)
    if not given:
        raise DataError("there is nothing to combine; pass at least one Dataset.")
    for ds in given:
        check(ds)
    _require_agreement(given)
    names = parameters_of(given[0])
    if len(names) == 1:
        return _combined(given, names[0])
    listed = [as_points(ds)[0] for ds in given]
    table = np.unique(np.concatenate([points_in(ds, names) for ds in listed]), axis=0)
    joined = _combined([_numbered(ds, names, table) for ds in listed], POINT).drop_vars(POINT)
    return as_grid(joined.assign_coords(_columns(given, names, table)))


def _numbered(ds: xr.Dataset, names: Sequence[str], table: Floats) -> xr.Dataset:
    """Return a list of points that are told apart by their row in `table`, instead of by their parameters."""
    rows = {tuple(row): place for place, row in enumerate(table.tolist())}
    places = [rows[tuple(row)] for row in points_in(ds, names).tolist()]
    return ds.drop_vars([*names]).assign_coords({POINT: places}).sortby(POINT)


def _columns(given: Sequence[xr.Dataset], names: Sequence[str], table: Floats) -> dict[str, Any]:
    """Return the parameters of the points, in the type that they had."""
    kinds = {name: np.result_type(*(np.asarray(ds[name]).dtype for ds in given)) for name in names}
    return {name: (POINT, column.astype(kinds[name])) for name, column in zip(names, table.T, strict=True)}


def _combined(given: Sequence[xr.Dataset], axis: str) -> xr.Dataset:
    """Return one Dataset of those whose settings lie on one axis."""
    parts = _apart([_with_runs(ds) for ds in given], axis)
    names = list(dict.fromkeys(str(name) for part in parts for name in part.data_vars))
    coords = _coords(parts, axis)
    depth = {dim: max(part.sizes.get(dim, 0) for part in parts) for dim in (REPETITION, PROCESS)}
    variables = {name: _joined(name, [part for part in parts if name in part.data_vars], coords, depth) for name in names}
    fixed = {name: given[0][name] for name in fixed_parameters(given[0])}
    return xr.Dataset(variables, coords | fixed, _attrs(parts)).assign_coords(_over_points(parts, coords, axis))


def _require_agreement(given: Sequence[xr.Dataset]) -> None:
    _require_parameters(given)
    for key, what in _MUST_AGREE.items():
        way = ", or make the size a parameter, as in read(..., parameter=['p', 'S'])" if key == "message_size_B" else ""
        known = [str(ds.attrs[key]).strip() for ds in given if ds.attrs.get(key, "") != ""]
        _require_same(what, known, way)
    clocks = [clock_of(machine_of(ds.attrs)) for ds in given if "time" in metrics_of(ds)]  # bytes have none
    _require_same("clock", clocks, longest=500)
    units: dict[str, str] = {}
    for ds in given:
        for metric in metrics_of(ds):
            unit = str(ds[metric].attrs["units"])
            if units.setdefault(metric, unit) != unit:
                raise DataError(f"the metric {metric!r} is in {units[metric]!r} and in {unit!r}; convert one of them.")


def _require_same(what: str, values: Sequence[str], way: str = "", longest: int = 60) -> None:
    distinct = list(dict.fromkeys(values))
    if len(distinct) > 1:
        shown = " and ".join(repr(value.splitlines()[0][:longest]) for value in distinct)
        raise DataError(f"measurements that differ in their {what} cannot be combined: {shown}; judge them apart{way}.")


def _require_parameters(given: Sequence[xr.Dataset]) -> None:
    names = [",".join(parameters_of(ds)) for ds in given]
    _require_same("parameter", names)
    fixed = [fixed_parameters(ds) for ds in given]
    for name in dict.fromkeys(name for known in fixed for name in known):
        values = list(dict.fromkeys(known[name] for known in fixed if name in known))
        if len(values) > 1:
            shown = " and ".join(f"{value:g}" for value in values)
            raise DataError(
                f"measurements at different {name} cannot be combined along {names[0].replace(',', ', ')}: {shown}; combine them "
                f"before a value of {name} is selected, or judge them apart."
            )


def _with_runs(ds: xr.Dataset) -> xr.Dataset:
    """Return `ds` with a dimension ``run`` in every metric and an integer label for each run."""
    if RUN not in ds.dims:
        metrics = metrics_of(ds)
        ds = ds.assign({name: ds[name].expand_dims(RUN, axis=-1) for name in metrics})
    if RUN not in ds.coords or np.asarray(ds[RUN]).dtype.kind not in "iu":
        ds = ds.assign_coords({RUN: np.arange(ds.sizes[RUN])})
    return ds


def _apart(given: Sequence[xr.Dataset], axis: str) -> list[xr.Dataset]:
    """Return the Datasets, with the runs of one renumbered if they would overwrite values of those before it."""
    parts: list[xr.Dataset] = []
    taken: set[tuple[object, ...]] = set()
    last = -1
    for ds in given:
        cells = _cells(ds, axis)
        if not taken.isdisjoint(cells):
            labels = np.asarray(ds[RUN])
            ds = ds.assign_coords({RUN: labels - labels.min() + last + 1})
            cells = _cells(ds, axis)
        parts.append(ds)
        taken |= cells
        last = max(last, int(np.asarray(ds[RUN]).max()))
    return parts


def _cells(ds: xr.Dataset, axis: str) -> set[tuple[object, ...]]:
    """Return (metric, function, point, run) of every value."""
    found: set[tuple[object, ...]] = set()
    for metric in metrics_of(ds):
        there = ds[metric].notnull()
        flags = (there.any(REPETITION) if REPETITION in there.dims else there).transpose(FUNCTION, axis, RUN).to_series()
        found |= {(metric, *place) for place in flags.index[flags]}
    return found


def _coords(parts: Sequence[xr.Dataset], axis: str) -> dict[str, NDArray[Any]]:
    functions = dict.fromkeys(str(name) for part in parts for name in np.asarray(part[FUNCTION]))
    return {
        FUNCTION: np.array(list(functions), dtype=np.str_),
        axis: np.unique(np.concatenate([np.asarray(part[axis]) for part in parts])),
        RUN: np.unique(np.concatenate([np.asarray(part[RUN]) for part in parts])),
    }


def _joined(
    name: str, parts: Sequence[xr.Dataset], coords: dict[str, NDArray[Any]], depth: dict[str, int]
) -> tuple[tuple[str, ...], NDArray[Any], dict[Any, Any]]:
    """Return one variable of all parts; later parts only fill what earlier ones left empty."""
    used = {str(dim) for part in parts for dim in part[name].dims}
    dims = tuple(dim for dim in (*coords, *depth) if dim in used)
    kind = np.result_type(*(np.asarray(part[name]).dtype for part in parts))
    shape = tuple(depth[dim] if dim in depth else len(coords[dim]) for dim in dims)
    empty = empty_value(name, kind)
    array = np.full(shape, empty, dtype=kind)
    for part in parts:
        variable = part[name].expand_dims([dim for dim in dims if dim not in part[name].dims]).transpose(*dims)
        index = [
            np.arange(variable.sizes[dim]) if dim in depth else pd.Index(coords[dim]).get_indexer(part[dim].values)
            for dim in dims
        ]
        place = np.ix_(*index)
        before = array[place]
        is_empty = np.isnan(before) if before.dtype.kind == "f" else before == empty
        array[place] = np.where(is_empty, np.asarray(variable), before)
    return dims, array, dict(parts[0][name].attrs)


def _over_points(parts: Sequence[xr.Dataset], coords: dict[str, NDArray[Any]], axis: str) -> dict[str, Any]:
    """Return the coordinates over the axis: crowded if any part is; 0 processes per node where parts differ."""
    found = {}
    for name in ("oversubscribed", "processes_per_node"):
        known = [part[name].to_series() for part in parts if name in part.coords]
        if known:
            by_point = pd.concat(known).groupby(level=0)
            joined = by_point.max() if name == "oversubscribed" else by_point.min().where(by_point.nunique() == 1, 0)
            found[name] = (axis, joined.reindex(coords[axis], fill_value=0).to_numpy(known[0].dtype))
    return found


def _attrs(parts: Sequence[xr.Dataset]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    for part in parts:
        for key, value in part.attrs.items():
            attrs.setdefault(str(key), value)
    for key in _LISTS:
        texts = dict.fromkeys(text for part in parts for text in str(part.attrs.get(key, "")).split(", ") if text)
        if key in attrs:
            attrs[key] = ", ".join(texts)
    if len(parts) > 1 and any("title" in part.attrs for part in parts):
        attrs["title"] = _title(parts)
    inputs, notes = ([json.loads(str(part.attrs.get(key) or "null")) for part in parts] for key in ("inputs", "notes"))
    if any(inputs):
        attrs["inputs"] = json.dumps({name: digest for known in inputs for name, digest in (known or {}).items()})
    if any(notes):
        attrs["notes"] = json.dumps([note for known in notes for note in known or []])
    attrs |= as_attribute(together(from_attribute(part.attrs) for part in parts))
    if started := [str(part.attrs["started"]) for part in parts if part.attrs.get("started")]:
        attrs["started"] = min(started)
    return attrs


def _title(parts: Sequence[xr.Dataset]) -> str:
    titles = list(dict.fromkeys(str(part.attrs.get("title", "")) for part in parts))
    return titles[0] if len(titles) == 1 else f"{len(parts)} sets of measurements"
