"""CSV, one value a line."""

from __future__ import annotations

import csv
import io

import xarray as xr

from scalkit.measure.schema import parameters_of
from scalkit.measure.writers.cells import cells_of, require_one_line

__all__ = ["to_csv"]


def to_csv(ds: xr.Dataset) -> str:
    """Return the measurements as CSV: function, the parameters, run, repetition, metric, unit, exact, value.

    Raises
    ------
    DataError
        If a name does not fit on a line.
    """
    require_one_line(ds, "CSV")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["function", *parameters_of(ds), "run", "repetition", "metric", "unit", "exact", "value"])
    for cell in cells_of(ds):
        for run, values in cell.values.items():
            for number, value in enumerate(values):
                row = [cell.function, *cell.point, run, number, cell.metric, cell.unit, int(cell.exact), repr(value)]
                table.writerow(row)
    return text.getvalue()
