"""The values of a Dataset one by one, and as text that other programs read: CSV, and JSON Lines for Extra-P."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.remarks import remarks_of
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, as_points, metrics_of, parameters_of
from scalkit.measure.virtual_time import is_virtual, machine_of

Number = int | float

_MOST_PARAMETERS = 4
"""As many as Extra-P has."""


@dataclass(frozen=True)
class Cell:
    """What was measured of a function and metric at a point.

    `point`: in the order of the parameters.
    `values`: by run, without NaN; runs without a value are not there.
    """

    function: str
    metric: str
    unit: str
    exact: bool
    point: tuple[Number, ...]
    values: dict[int, list[float]]


def points_of(ds: xr.Dataset) -> list[tuple[Number, ...]]:
    """Return all points of a Dataset, also those where single functions have no value."""
    listed, _ = as_points(ds)
    return list(zip(*(np.asarray(listed[name]).tolist() for name in parameters_of(ds)), strict=True))


def cells_of(ds: xr.Dataset) -> Iterator[Cell]:
    """Yield what was measured, metric by metric and function by function, points in their order."""
    listed, axis = as_points(ds)
    points = points_of(ds)
    for metric in metrics_of(ds):
        variable = listed[metric]
        for dim in (RUN, REPETITION):
            if dim not in variable.dims:
                variable = variable.expand_dims(dim)
        runs = np.asarray(listed[RUN]).tolist() if RUN in listed.coords else list(range(variable.sizes[RUN]))
        array = np.asarray(variable.transpose(FUNCTION, axis, RUN, REPETITION), dtype=np.float64)
        unit, exact = str(variable.attrs["units"]), bool(variable.attrs.get("exact", 0))
        for function, table in zip(np.asarray(ds[FUNCTION]).tolist(), array, strict=True):
            for point, rows in zip(points, table, strict=True):
                kept = {run: row[np.isfinite(row)].tolist() for run, row in zip(runs, rows, strict=True)}
                kept = {run: values for run, values in kept.items() if values}
                if kept:
                    yield Cell(str(function), metric, unit, exact, point, kept)


def to_csv(ds: xr.Dataset) -> str:
    """Return the measurements as CSV: function, the parameters, run, repetition, metric, unit, exact, value.

    Remarks above it say whether values are simulated, and which virtual clock times were read from; `scalkit.read` keeps both.

    Raises DataError if a name does not fit on a line.
    """
    for name in map(str, np.asarray(ds[FUNCTION]).tolist()):
        if name != name.strip() or any(ord(character) < 32 or character in "\x7f\x85\u2028\u2029" for character in name):
            raise DataError(
                f"the name {name!r:.80} has blanks or line ends that CSV does not keep; write netCDF, or JSON Lines, or rename "
                "it."
            )
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    machine = machine_of(ds.attrs) if is_virtual(ds.attrs) else {}
    text.write(remarks_of(machine, simulated=bool(ds.attrs.get("simulated"))))
    table.writerow(["function", *parameters_of(ds), "run", "repetition", "metric", "unit", "exact", "value"])
    for cell in cells_of(ds):
        for run, values in cell.values.items():
            for number, value in enumerate(values):
                table.writerow([cell.function, *cell.point, run, number, cell.metric, cell.unit, int(cell.exact), repr(value)])
    return text.getvalue()


def to_extra_p_lines(ds: xr.Dataset) -> str:
    """Return the measurements as JSON Lines that Extra-P reads with ``--json``, a line for each function, metric, point, run.

    ``unit``, ``run`` and ``exact`` are keys of scalkit's own, which Extra-P passes over.

    Raises DataError if there are more parameters than Extra-P has.
    """
    names = parameters_of(ds)
    if len(names) > _MOST_PARAMETERS:
        raise DataError(
            f"Extra-P has up to {_MOST_PARAMETERS} parameters, here are {', '.join(names)}; select one value of some, as in "
            f"ds.sel({names[-1]}=...), or write netCDF."
        )
    lines = []
    for cell in cells_of(ds):
        for run, values in cell.values.items():
            one: dict[str, object] = {"params": dict(zip(names, cell.point, strict=True))}
            one |= {"callpath": cell.function, "metric": cell.metric, "value": values, "unit": cell.unit, "run": run}
            lines.append(json.dumps(one | ({"exact": True} if cell.exact else {}), ensure_ascii=False))
    return "\n".join(lines) + "\n"
