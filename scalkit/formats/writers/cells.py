"""The values of a Dataset one by one, of each function, metric and point the repetitions of each run; and as CSV."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.remarks import remarks_of
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, as_points, metrics_of, parameters_of
from scalkit.measure.virtual_time import is_virtual, machine_of

Number = int | float


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

    def flat(self) -> list[float]:
        """Return the repetitions of all runs in a row."""
        return [value for run in self.values.values() for value in run]


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


def require_one_line(ds: xr.Dataset, kind: str, *, single_blanks: bool = False) -> None:
    """Return nothing if all names stand on a line and come back from it as they are. Raises DataError if one does not."""
    for name in map(str, np.asarray(ds[FUNCTION]).tolist()):
        broken = any(ord(character) < 32 or character in "\x7f\x85\u2028\u2029" for character in name)
        if broken or name != name.strip() or (single_blanks and " ".join(name.split()) != name):
            raise DataError(
                f"the name {name!r:.80} has blanks or line ends that {kind} does not keep; write netCDF, or JSON, or rename it."
            )


def to_csv(ds: xr.Dataset) -> str:
    """Return the measurements as CSV: function, the parameters, run, repetition, metric, unit, exact, value.

    Remarks above it say whether values are simulated, and which virtual clock times were read from; `scalkit.read` keeps both.

    Raises DataError if a name does not fit on a line.
    """
    require_one_line(ds, "CSV")
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
