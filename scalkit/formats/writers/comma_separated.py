"""CSV, one value a line."""

import csv
import io

import xarray as xr

from scalkit.formats.remarks import remarks_of
from scalkit.formats.writers.cells import cells_of, require_one_line
from scalkit.measure.schema import parameters_of
from scalkit.measure.virtual_time import is_virtual, machine_of


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
