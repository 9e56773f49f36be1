"""The values of a Dataset as a table, and as text that other programs read: CSV, and JSON Lines for Extra-P."""

import json

import numpy as np
import pandas as pd
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.remarks import remarks_of
from scalkit.measure.schema import FUNCTION, REPETITION, RUN, as_points, metrics_of, parameters_of
from scalkit.measure.virtual_time import is_virtual, machine_of

_MOST_PARAMETERS = 4
"""As many as Extra-P has."""


def n_points(ds: xr.Dataset) -> int:
    """Return the number of points of a Dataset, with those where single functions have no value."""
    listed, axis = as_points(ds)
    return listed.sizes[axis]


def values_of(ds: xr.Dataset) -> pd.DataFrame:
    """Return all values that there are, a row each: metric by metric, function by function, points in their order.

    Columns are ``function``, the parameters, ``run``, ``repetition``, ``metric``, ``unit``, ``exact`` and ``value``.
    Raises DataError if a parameter has the name of another column.
    """
    listed, axis = as_points(ds)
    if taken := [name for name in parameters_of(ds) if name in ("metric", "unit", "exact", "value")]:
        raise DataError(f"the parameter {taken[0]!r} has the name of a column of text formats; rename it, or write netCDF.")
    tables = []
    for metric in metrics_of(ds):
        variable = listed[metric].astype(np.float64).rename("value")
        for dim in (RUN, REPETITION):
            if dim not in variable.dims:
                variable = variable.expand_dims(dim)
        rows = variable.transpose(FUNCTION, axis, RUN, REPETITION).to_dataframe().reset_index()
        rows = rows[np.isfinite(rows["value"])]
        repetition = rows.groupby([FUNCTION, axis, RUN], sort=False).cumcount()
        attrs = variable.attrs
        tables.append(rows.assign(repetition=repetition, metric=metric, unit=attrs["units"], exact=int(attrs.get("exact", 0))))
    return pd.concat(tables)[[FUNCTION, *parameters_of(ds), RUN, REPETITION, "metric", "unit", "exact", "value"]]


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
    machine = machine_of(ds.attrs) if is_virtual(ds.attrs) else {}
    remarks = remarks_of(machine, simulated=bool(ds.attrs.get("simulated")))
    rows: str = values_of(ds).to_csv(index=False, lineterminator="\n")
    return remarks + rows


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
    keys = ["metric", FUNCTION, *names, RUN, "unit", "exact"]
    for row in values_of(ds).groupby(keys, sort=False)["value"].agg(list).reset_index().to_dict("records"):
        one = {"params": {name: row[name] for name in names}, "callpath": row[FUNCTION], "metric": row["metric"]}
        one |= {"value": row["value"], "unit": row["unit"], "run": row[RUN]}
        lines.append(json.dumps(one | ({"exact": True} if row["exact"] else {}), ensure_ascii=False))
    return "\n".join(lines) + "\n"
