"""Measurements and expectations of a session as Python."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import ScalkitError
from scalkit.measure import measurements, parameters_of
from scalkit.measure.schema import metrics_of
from scalkit.session.literals import call, literal
from scalkit.session.source import Source, content_hash
from scalkit.validation import ExpectationSet
from scalkit.validation.catalogue import expectation_set
from scalkit.validation.plain import plain_set

_MOST_VALUES = 3000


@dataclass(frozen=True)
class Piece:
    """An expression, the lines before it, and the imports that these need."""

    expression: str
    lines: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def data_code(ds: xr.Dataset, source: Source) -> Piece:
    """Return what makes the measurements: paths, the file that holds them, `measurements`, or small ones as a whole."""
    if source.paths:
        return Piece(literal(source.paths[0] if len(source.paths) == 1 else list(source.paths)))
    if source.holder:
        return Piece("data", (f"data = sk.Session.load({literal(source.holder)}).data",))
    size = sum(int(one.size) for one in ds.variables.values())
    if size > _MOST_VALUES:
        how = "# made in memory; scalkit.measure.write_netcdf(data, 'data.nc') writes them there"
        return Piece("data", (how, "data = sk.read('data.nc')"))
    if made := _measurements_code(ds):
        return Piece("data", (f"data = {made}",))
    text = call("data = xr.Dataset.from_dict", [literal(ds.to_dict())])
    return Piece("data", (text,), (*(["from math import nan"] if "nan" in text else []), "import xarray as xr"))


def expectations_code(given: object, expected: ExpectationSet) -> Piece:
    """Return what makes the expectations: a name or a path that holds the same, or a mapping."""
    if isinstance(given, str | os.PathLike) and _is_same(given, expected):
        return Piece(literal(os.fspath(given)))
    table = {function: expectation_entry(one) for function, one in plain_set(expected)["functions"].items()}
    note = [f"# the litmus function, {expected.litmus}, is for a file to name"] if expected.litmus else []
    return Piece("expectations", (*note, f"expectations = {literal(table)}"))


def _measurements_code(ds: xr.Dataset) -> str:
    """Return the call of `measurements` that makes the same Dataset; empty if none does."""
    names, parameters = metrics_of(ds), parameters_of(ds)
    if len(names) != 1 or len(parameters) != 1 or ds.sizes["function"] != 1:
        return ""
    metric = ds[names[0]]
    x = np.asarray(ds[parameters[0]], dtype=np.float64)
    y = np.asarray(metric, dtype=np.float64).reshape(len(x), -1)
    arguments: dict[str, Any] = {
        "parameter": parameters[0],
        "metric": names[0],
        "unit": str(metric.attrs["units"]),
        "name": str(np.asarray(ds["function"])[0]),
        "exact": bool(metric.attrs.get("exact", 0)),
    }
    settings = [int(value) if value.is_integer() else value for value in x.tolist()]
    values = y[:, 0].tolist() if y.shape[1] == 1 else y.tolist()
    if not all(math.isfinite(value) for value in np.ravel(y)):
        return ""
    try:
        if content_hash(measurements(settings, values, **arguments)) != content_hash(ds):
            return ""
    except ScalkitError:
        return ""
    return call(
        "sk.measurements",
        [literal(settings), literal(values), *(f"{name}={literal(value)}" for name, value in arguments.items())],
    )


def _is_same(given: str | os.PathLike[str], expected: ExpectationSet) -> bool:
    try:
        again = expectation_set(given)
    except ScalkitError:
        return False
    return (again.functions, again.rules, again.litmus) == (expected.functions, expected.rules, expected.litmus)


def expectation_entry(plain: dict[str, Any]) -> Any:
    """Return an expectation as an entry of the mapping that a session takes."""
    entry = {"expectation": plain["expectation"]}
    if plain["deviation"] is not None:
        entry["deviation"] = plain["deviation"]
    entry |= _space_entry(plain["space"])
    return plain["expectation"] if len(entry) == 1 else entry


def _space_entry(space: Any) -> dict[str, Any]:
    if isinstance(space, str):
        return {} if space == "around" else {"space": space}
    if "by" in space:
        ticks = [tick for one in space["by"].values() if isinstance(one, dict) for tick in one["ticks"]]
        return {"ticks": ticks} if ticks else {}
    if "base" in space:
        first = {"ticks": space["ticks"]} if space["ticks"] else {"space": space["base"]}
        keys = (("add_ticks", "added"), ("remove_ticks", "removed"))
        return {**first, **{key: space[name] for key, name in keys if space[name]}}
    return {"ticks": space["ticks"]}
