"""The formats that Extra-P reads: text, JSON, JSON Lines."""

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.writers.cells import Cell, cells_of, points_of, require_one_line
from scalkit.measure.schema import FUNCTION, metrics_of, parameters_of

_MOST_PARAMETERS = 4


def to_extra_p_text(ds: xr.Dataset) -> str:
    """Return the measurements as text that Extra-P reads with ``--text``; comments keep the units.

    Runs become repetitions.

    Raises DataError if a function has no value at some point of a metric that it has, which this format cannot say; or
    a name does not fit on a line.
    """
    require_one_line(ds, "Extra-P's text", single_blanks=True)
    names, points = _names(ds), points_of(ds)
    by_block: dict[tuple[str, str], dict[tuple[object, ...], Cell]] = {}
    for cell in cells_of(ds):
        by_block.setdefault((cell.metric, cell.function), {})[cell.point] = cell
    lines = [f"PARAMETER {' '.join(names)}", f"POINTS {' '.join(map(_bracketed, points))}"]
    for metric in metrics_of(ds):
        attrs = ds[metric].attrs
        exact = ", exact" if attrs.get("exact", 0) else ""
        lines += ["", f"# scalkit: metric {metric} is in {attrs['units']}{exact}", f"METRIC {metric}"]
        for function in map(str, np.asarray(ds[FUNCTION]).tolist()):
            block = by_block.get((metric, function))
            if block is None:
                continue
            lines.append(f"REGION {function}")
            lines += [_data(block, point, metric, function, names) for point in points]
    return "\n".join(lines) + "\n"


def to_extra_p_json(ds: xr.Dataset) -> str:
    """Return the measurements as JSON that Extra-P reads with ``--json``.

    ``units``, ``exact`` and, where there are several, ``runs`` are keys of scalkit's own, which Extra-P passes over.

    Raises DataError if there are more parameters than Extra-P has.
    """
    measured: dict[str, dict[str, list[dict[str, object]]]] = {}
    units: dict[str, str] = {}
    exact: dict[str, None] = {}
    for cell in cells_of(ds):
        one: dict[str, object] = {"point": list(cell.point), "values": cell.flat()}
        if list(cell.values) != [0]:
            one["runs"] = [run for run, values in cell.values.items() for _ in values]
        measured.setdefault(cell.function, {}).setdefault(cell.metric, []).append(one)
        units[cell.metric] = cell.unit
        exact |= {cell.metric: None} if cell.exact else {}
    whole = {"parameters": _names(ds), "units": units, "exact": list(exact), "measurements": measured}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def to_extra_p_lines(ds: xr.Dataset) -> str:
    """Return the measurements as JSON Lines that Extra-P reads with ``--json``, a line for each function, metric, point, run.

    ``unit``, ``run`` and ``exact`` are keys of scalkit's own, which Extra-P passes over.

    Raises DataError if there are more parameters than Extra-P has.
    """
    names = _names(ds)
    lines = []
    for cell in cells_of(ds):
        for run, values in cell.values.items():
            one: dict[str, object] = {"params": dict(zip(names, cell.point, strict=True))}
            one |= {"callpath": cell.function, "metric": cell.metric, "value": values, "unit": cell.unit, "run": run}
            lines.append(json.dumps(one | ({"exact": True} if cell.exact else {}), ensure_ascii=False))
    return "\n".join(lines) + "\n"


def _names(ds: xr.Dataset) -> list[str]:
    names = list(parameters_of(ds))
    if len(names) > _MOST_PARAMETERS:
        raise DataError(
            f"Extra-P has up to {_MOST_PARAMETERS} parameters, here are {', '.join(names)}; select one value of some, as in "
            f"ds.sel({names[-1]}=...), or write netCDF."
        )
    return names


def _bracketed(point: Sequence[object]) -> str:
    return str(point[0]) if len(point) == 1 else f"( {' '.join(map(str, point))} )"


def _data(
    block: dict[tuple[object, ...], Cell], point: tuple[object, ...], metric: str, function: str, names: Sequence[str]
) -> str:
    if point not in block:
        where = ", ".join(f"{name} = {value}" for name, value in zip(names, point, strict=True))
        raise DataError(
            f"{metric!r} of {function!r:.60} has no value at {where}, and Extra-P's text needs every function at every point; "
            "write JSON Lines or JSON, or leave the point or the function out."
        )
    return "DATA " + " ".join(map(repr, block[point].flat()))
