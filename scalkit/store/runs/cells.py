"""Suites of cells as a Dataset: work units over workers or their size, messages over their size, stride or queue."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from scalkit.measure.assemble import run_labels
from scalkit.measure.assemble_units import MASTER_WORKER, SHARES, UNIT_TIME, WORKERS
from scalkit.measure.schema import METRICS
from scalkit.measure.virtual_time import clock_attributes, virtual_of
from scalkit.store.runs.columns import UNITS
from scalkit.store.filed.cells import CELL_PROGRAMS

if TYPE_CHECKING:
    import pyarrow as pa

_SIZE = "S"


def is_of_cells(table: pa.Table) -> bool:
    """Return whether all measurements are of programs that measure cells."""
    return len(table) > 0 and set(table["program"].to_pylist()) <= set(CELL_PROGRAMS)


def cells_dataset(runs: Sequence[tuple[Mapping[str, Any], pa.Table]], level: str) -> xr.Dataset:
    """Return the Dataset of suites that are over the same parameter, with the same fixed.

    `runs`, sequence of (record, table).
    `level`, {"rep", "point"}: ``"point"`` has the median of the repetitions instead of the repetitions.
    Result: over function, the parameter (``S`` is the size of messages or units), run and repetition. A value of 0 has no
    place on the axis of a parameter: it is left out, and a note says so.
    """
    labelled = [(str(record["measured"]["label"]), row) for record, table in runs for row in table.to_pylist()]
    kept = [(label, row) for label, row in labelled if row["x"] > 0]
    first = (kept or labelled)[0][1]
    parameter = _SIZE if first["x_name"] == "msg_By" else str(first["x_name"])
    functions, points = sorted({row["op"] for _, row in kept}), sorted({row["x"] for _, row in kept})
    labels = run_labels({label for label, _ in labelled})
    order = list(labels)
    depth = max((len(row["raw"]) for _, row in kept), default=0)
    shape = (len(functions), len(points), len(labels))
    arrays: dict[str, Any] = {}
    verified = np.ones(shape, dtype=np.bool_)
    for label, row in kept:
        at = functions.index(row["op"]), points.index(row["x"]), order.index(label)
        array = arrays.setdefault(row["metric"], np.full((*shape, depth), math.nan))
        array[at][: len(row["raw"])] = np.array(row["raw"], dtype=np.float64) * UNITS[row["unit"]]
        verified[at] &= row["verified"]
    is_farm = first["program"] == MASTER_WORKER
    metrics = {"time": UNIT_TIME if is_farm else METRICS["time"], **SHARES}
    dims = ("function", parameter, "run", "repetition")
    variables: dict[str, Any] = {
        name: (dims, arrays[name], metric.attrs()) for name, metric in metrics.items() if name in arrays
    }
    variables["verified"] = (dims[:3], verified, {"role": "quality", "long_name": "results were right"})
    crowded = [any(row["oversubscribed"] for _, row in kept if row["x"] == x) for x in points]
    coords = {
        "function": np.array(functions, dtype=np.str_),
        parameter: np.array(points, dtype=np.int64),
        "run": np.array(list(labels.values()), dtype=np.int64),
        "oversubscribed": (parameter, np.array(crowded, dtype=np.bool_)),
    }
    ds = xr.Dataset(variables, coords, _attributes(runs, first, parameter, len(labelled) - len(kept))).sortby("run")
    if level == "point":
        middle = {name: ds[name].median("repetition", skipna=True, keep_attrs=True) for name in arrays}
        return ds.drop_vars(list(arrays)).assign(middle)
    return ds


def _attributes(
    runs: Sequence[tuple[Mapping[str, Any], pa.Table]], first: Mapping[str, Any], parameter: str, dropped: int
) -> dict[str, Any]:
    measured = runs[0][0]["measured"]
    notes = [str(note) for record, _ in runs for note in record["measured"]["remarks"]]
    notes += [f"left out, for 0 has no place on the axis: {dropped} at {parameter} = 0"] if dropped else []
    fixed = json.loads(first["fixed"] or "{}")
    kind = "a master and its workers" if first["program"] == MASTER_WORKER else "messages"
    return {
        "title": f"{'simulation of ' if measured['simulated'] else ''}{kind}",
        "parameter": parameter,
        "measured_on": str(measured["machine"]),
        "simulated": int(bool(measured["simulated"])),
        **clock_attributes([virtual_of({"provenance": record["measured"]["simulation"]}) for record, _ in runs]),
        "mpi_library": str(measured["mpi_library"]),
        "datatype": "byte",
        "started": min(str(record["measured"]["started"]) for record, _ in runs),
        "truncated": "",
        "notes": json.dumps(notes),
        "source": "store",
        "inputs": json.dumps({str(record["run_id"]): str(record["run_id"]) for record, _ in runs}),
        **({"message_size_B": int(fixed["msg_By"])} if "msg_By" in fixed and parameter == WORKERS else {}),
    }
