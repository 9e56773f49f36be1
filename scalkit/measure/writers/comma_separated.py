"""CSV, one value a line."""

from __future__ import annotations

import csv
import io

import xarray as xr

from scalkit.measure.schema import parameters_of
from scalkit.measure.virtual_time import TIMED, clock_of, is_virtual, machine_of
from scalkit.measure.writers.cells import cells_of, require_one_line


def to_csv(ds: xr.Dataset) -> str:
    """Return the measurements as CSV: function, the parameters, run, repetition, metric, unit, exact, value.

    Of times of a virtual clock there is a column more, ``clock``: the virtual machine, and "real" for other metrics.

    Raises DataError if a name does not fit on a line.
    """
    require_one_line(ds, "CSV")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    clock = clock_of(machine_of(ds.attrs)) if is_virtual(ds.attrs) else ""
    head = ["function", *parameters_of(ds), "run", "repetition", "metric", "unit", "exact", "value"]
    table.writerow([*head, "clock"] if clock else head)
    for cell in cells_of(ds):
        for run, values in cell.values.items():
            for number, value in enumerate(values):
                row = [cell.function, *cell.point, run, number, cell.metric, cell.unit, int(cell.exact), repr(value)]
                table.writerow([*row, clock if cell.metric in TIMED else "real"] if clock else row)
    return text.getvalue()
