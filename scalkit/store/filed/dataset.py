"""A Dataset becomes runs of a store: one for each value of its dimension `run`."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.pattern_records import SHARES
from scalkit.measure.runfile import is_run_file
from scalkit.measure.schema import axes_of, check, metrics_of, parameters_of
from scalkit.measure.sources import CAMPAIGN, campaigns_in
from scalkit.measure.virtual_time import clock_of, machine_of
from scalkit.store.filed.machines import over
from scalkit.store.filed.machines import virtual as virtual_machine
from scalkit.store.filed.rows import Rows, named
from scalkit.store.filed.run_files import runs_of_files
from scalkit.store.runs.columns import pattern_of, role_of
from scalkit.store.runs.content import RunContent, library_of

_UNITS = {"s": ("ns", 1e9), "B": ("By", 1.0), "op": ("op", 1.0), "1": ("1", 1.0)}
_LARGEST = 2.0**63 - 1024
_TIMED = "dataset"


def runs_of_dataset(ds: xr.Dataset, measured: Mapping[str, Any], filing: Mapping[str, Any]) -> list[RunContent]:
    """Return the runs of a Dataset over ``p``, over ``p`` and the message size ``S``, or over a parameter of one's own.

    `ds`: as `scalkit.read` and `scalkit.measurements` make it. Repetitions that are NaN are not there.
    `measured`, `filing`: fields of the record that the caller sets.
    Raises DataError if it is no Dataset of measurements, or has a metric whose values are no times and no whole numbers.
    """
    check(ds)
    parameters = parameters_of(ds)
    if len(parameters) > 1 and set(parameters) != {"p", "S"}:
        raise DataError(f"the store takes measurements over p, over p and S, or over one parameter, not {', '.join(parameters)}.")
    numbers = ds["run"].values.tolist() if "run" in ds.coords else list(range(ds.sizes.get("run", 1)))
    found = []
    for place, number in enumerate(numbers):
        one = ds.isel(run=place) if "run" in ds.dims else ds
        rows = _rows(one, parameters)
        if len(rows):
            said = over(_measured(ds, number, rows), measured)
            rows.over(parameters[0] if len(parameters) == 1 else "p")
            found.append(RunContent.of(said, filing, rows.table()))
    if not found:
        raise DataError("the Dataset holds no value; there is nothing to file.")
    return found


def _rows(ds: xr.Dataset, parameters: tuple[str, ...]) -> Rows:
    rows = Rows()
    for metric in metrics_of(ds):
        unit, scale = _unit(ds, metric)
        flat = ds[metric].stack(_at=("function", *axes_of(ds)))
        values = flat.transpose("_at", ...).values.reshape(flat.sizes["_at"], -1)
        at = {name: flat[name].values for name in ("function", *parameters)}
        crowded = flat["oversubscribed"].values if "oversubscribed" in flat.coords else np.zeros(len(values), bool)
        for number, row in enumerate(values):
            kept = row[np.isfinite(row)]
            if len(kept):
                point = {name: _wholes(at[name][[number]], name, "1")[0] for name in parameters}
                whole = _wholes(kept * scale, metric, unit)
                _add(rows, ds, metric, unit, str(at["function"][number]), point, whole, crowded=bool(crowded[number]))
    return rows


def _unit(ds: xr.Dataset, metric: str) -> tuple[str, float]:
    unit = str(ds[metric].attrs.get("units", "1"))
    if metric in SHARES and unit == "1":
        return "[ppm]", 1e6
    if unit not in _UNITS:
        raise DataError(f"{metric!r} has the unit {unit!r}; the store takes {', '.join(_UNITS)}.")
    return _UNITS[unit]


def _wholes(values: Any, metric: str, unit: str) -> list[int]:
    whole = np.rint(values)
    if unit not in ("ns", "[ppm]") and np.any(whole != values):
        raise DataError(f"{metric!r} has the value {values[whole != values][0]:g}; the store keeps whole numbers.")
    if np.abs(whole).max() > _LARGEST:
        raise DataError(f"{metric!r} has a value beyond 64 bits; check its unit.")
    return [int(value) for value in whole]


def _add(
    rows: Rows, ds: xr.Dataset, metric: str, unit: str, op: str, point: Mapping[str, int], raw: list[int], *, crowded: bool
) -> None:
    single = next(iter(point.values()))
    is_time = metric == "time"
    pattern = "memory" if metric.endswith("_memory") else pattern_of(op, _TIMED)
    rows.add(
        "med" if is_time else "min",
        **named(op, pattern, role_of(op) if is_time else "subject"),
        metric=metric,
        unit=unit,
        datatype=str(ds.attrs.get("datatype", "")) if is_time else "",
        program=_TIMED,
        x=point.get("p", single),
        p=point.get("p", 1),
        msg_By=point.get("S", int(ds.attrs.get("message_size_B", 0)) if is_time else 0),
        oversubscribed=crowded,
        passes=[len(raw)],
        raw=raw,
        seq=len(rows),
    )


def _virtual(ds: xr.Dataset) -> Mapping[str, Any]:
    """Return the machine of a virtual clock; empty of other clocks. Raises DataError if the machine is missing."""
    clock = ds.attrs.get("clock") or ""
    if clock not in ("", "virtual"):
        raise DataError(f"attrs['clock'] is {clock!r:.40}; 'virtual', or nothing for other clocks, is needed.")
    if not clock:
        return {}
    machine = machine_of(ds.attrs)
    if not machine:
        raise DataError(
            "the times are of a virtual clock, and attrs['virtual'] does not have the numbers of its machine; add them."
        )
    return machine


def _measured(ds: xr.Dataset, number: int, rows: Rows) -> dict[str, Any]:
    library = str(ds.attrs.get("mpi_library", ""))
    implementation, version = library_of(library)
    parameters, virtual = parameters_of(ds), _virtual(ds)
    return {
        "label": f"{ds.attrs.get('title', 'dataset')}-r{number:02d}",
        "title": str(ds.attrs.get("title", "")),
        "machine": clock_of(virtual) if virtual else str(ds.attrs.get("measured_on") or "unknown machine"),
        "started": str(ds.attrs.get("started", "")),
        "ended": str(ds.attrs.get("started", "")),
        "mpi_impl": implementation,
        "mpi_version": version,
        "mpi_library": library,
        "clock": "virtual" if virtual else "simulated" if ds.attrs.get("simulated", 0) else "real",
        "machine_desc": virtual_machine(virtual) if virtual else {},
        "simulation": {"virtual": dict(virtual)} if virtual else {},
        "parameter": parameters[0] if len(parameters) == 1 else "p",
        "launches": rows.launched(_TIMED),
        "inputs": {str(k): str(v) for k, v in json.loads(str(ds.attrs.get("inputs") or "{}")).items()},
    }


def runs_of(source: Any, measured: Mapping[str, Any], filing: Mapping[str, Any]) -> list[RunContent]:
    """Return the runs in what a user names. Raises DataError if it is nothing of this kind, or empty."""
    if hasattr(source, "data_vars") and hasattr(source, "subtree"):
        found = [run for node in source.leaves for run in runs_of_dataset(node.to_dataset(), measured, filing)]
        if not found:
            raise DataError("the tree has no Dataset; there is nothing to file.")
        return found
    if hasattr(source, "data_vars"):
        return runs_of_dataset(source, measured, filing)
    given = list(source) if isinstance(source, list | tuple) else [source]
    if not given or not all(isinstance(one, str | os.PathLike) for one in given):
        raise DataError(f"put takes paths or a Dataset, got {source!r:.60}; name a campaign folder or run files.")
    paths = [inner for one in given for inner in _campaigns(Path(one))]
    ours = [path for path in paths if _is_ours(path)]
    found = runs_of_files(ours, measured, filing) if ours else []
    for path in paths:
        if path not in ours:
            from scalkit.formats.read import read

            found += runs_of_dataset(read(path), measured, filing)
    return found


def _campaigns(path: Path) -> list[Path]:
    """Return the campaign folders in a folder that is none itself; else the path."""
    if not path.is_dir() or (path / CAMPAIGN).is_file():
        return [path]
    return campaigns_in(path) or [path]


def _is_ours(path: Path) -> bool:
    """Return whether there are run files, or nothing at all: then the error is theirs."""
    if path.is_dir():
        return any(re.search(r"\.jsonl(\.part)?$", one.name) for one in path.iterdir()) or not any(path.iterdir())
    if not path.is_file():
        return True
    with path.open("rb") as stream:
        return is_run_file(stream.read(4096))
