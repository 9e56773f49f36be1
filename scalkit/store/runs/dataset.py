"""Runs of a store as the Dataset that all of scalkit works with: exactly what `scalkit.read` makes of their run files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.assemble import assemble, run_labels
from scalkit.measure.environment import Environment, as_attribute, of_launches, together
from scalkit.measure.filling import Filling
from scalkit.measure.pattern_records import MASTER_WORKER, SHARES, UNIT_TIME, WORKERS
from scalkit.measure.records import Cell, Count, Env, Memory
from scalkit.measure.runfile import RunFile
from scalkit.measure.schema import METRICS
from scalkit.measure.virtual_time import clock_attributes
from scalkit.store.filed.rows import CELL_PROGRAMS
from scalkit.store.runs.columns import UNITS
from scalkit.store.runs.content import virtual_clock

Row = Mapping[str, Any]
"""A measurement: the columns of the file of its run."""

_STATUSES = ("open", "converged", "capped", "budget")


def dataset_of(runs: Sequence[tuple[Mapping[str, Any], Sequence[Row]]]) -> xr.Dataset:
    """Return the Dataset of runs, as docs/file-formats.md describes it.

    `runs`, sequence of (record, rows): the measurements of each run that are wanted.
    Raises DataError if they cannot be one Dataset, as those of different libraries or message sizes.
    """
    _require_one_clock(record for record, _ in runs)
    if runs and all(row["program"] in CELL_PROGRAMS for _, rows in runs for row in rows):
        return _cells_dataset(runs)
    files = [file for record, rows in runs for file in _files(record, rows)]
    if not files:
        raise DataError("no measurement is left of what was chosen; choose other runs or operations.")
    ds = assemble(files)
    ds.attrs |= _environment(record for record, _ in runs)
    ds.attrs["source"] = "store"
    ds.attrs["inputs"] = json.dumps({str(record["run_id"]): str(record["run_id"]) for record, _ in runs})
    return ds


def _files(record: Mapping[str, Any], rows: Sequence[Row]) -> Iterable[RunFile]:
    """Yield the launches of a run, as their run files would be read."""
    launches: dict[int, list[Row]] = {}
    for row in rows:
        launches.setdefault(row["launch"], []).append(row)
    measured = record["measured"]
    for number, rows in sorted(launches.items()):
        launch = measured["launches"][number] if number < len(measured["launches"]) else {}
        yield RunFile(
            path=Path(f"{record['run_id']}/{number}"),
            sha256=str(record["run_id"]),
            env=_env(measured, launch, rows[0]),
            cells=tuple(cell for row in rows if row["metric"] == "time" for cell in _cells(row)),
            memories=tuple(_memory(row) for row in rows if row["metric"] in ("object_memory", "process_memory")),
            skips=(),
            complete=bool(launch.get("complete", True)),
            notes=tuple(str(note) for note in measured["remarks"]) if number == min(launches) else (),
            counts=tuple(Count(row["op"], row["raw"][0], row["verified"]) for row in rows if row["metric"] == "operations"),
        )


def _env(measured: Mapping[str, Any], launch: Mapping[str, Any], row: Mapping[str, Any]) -> Env:
    return Env(
        run_id=str(measured["label"]),
        program=str(row["program"]),
        p=int(row["p"]),
        host=str(launch.get("host", measured["machine"])),
        started=str(launch.get("started", measured["started"])),
        mpi_library=str(measured["mpi_library"]),
        processes_per_node=int(row["processes_per_node"]),
        oversubscribed=bool(row["oversubscribed"]),
        simulated=measured["clock"] == "simulated",
        parameter=str(measured["parameter"]),
        point=int(launch.get("point", row["p"])),
        fields=_fields(measured),
        virtual=_virtual(measured),
    )


def _virtual(measured: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the machine of a virtual clock; empty of other clocks."""
    found: Mapping[str, Any] = measured["simulation"]["virtual"] if measured["clock"] == "virtual" else {}
    return found


def _require_one_clock(records: Iterable[Mapping[str, Any]]) -> None:
    clocks = list(dict.fromkeys((record["measured"]["clock"], virtual_clock(record["measured"])) for record in records))
    if len(clocks) > 1:
        said = " and ".join(virtual or clock for clock, virtual in clocks)
        raise DataError(f"these runs have times of different clocks, {said}; choose one, as with clock={clocks[0][0]}.")


def _fields(measured: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the first record of a run file says of what was measured with."""
    machine = measured["machine_desc"]
    provenance = {
        "simulation": measured["simulation"],
        "settings": measured["switches"].get("settings", {}),
        "sources": measured["harness_sha"],
    }
    return {
        "cpu": machine.get("cpu"),
        "cores": machine.get("cores_per_node"),
        **{key: measured[key] for key in ("kernel", "compiler")},
        "provenance": {key: value for key, value in provenance.items() if value},
    }


def _environment(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the attribute of a Dataset that says what runs were measured with."""
    every = [record["measured"] for record in records]
    return as_attribute(together([of_launches(map(_fields, every)), *map(_network, every)]))


def _network(measured: Mapping[str, Any]) -> Environment:
    """Return network and topology of a run on several real nodes."""
    if measured["nodes"] < 2 or measured["clock"] != "real":
        return {}
    machine = measured["machine_desc"]
    return {key: [str(machine[key])] for key in ("network", "topology") if machine.get(key)}


def _cells(row: Mapping[str, Any]) -> Iterable[Cell]:
    """Yield the passes that a measurement was made in."""
    at = 0
    for number, length in enumerate(row["passes"] or [len(row["raw"])]):
        end = at + length
        is_first = number == 0
        yield Cell(
            op=row["op"],
            p=row["p"],
            size_bytes=row["msg_By"],
            datatype=row["datatype"],
            number=number,
            t_ns=tuple(row["raw"][at:end]),
            late_at=tuple(i - at for i in row["late_at"] if at <= i < end),
            overrun_at=tuple(i - at for i in row["overrun_at"] if at <= i < end),
            status=row["status"] if row["status"] in _STATUSES else "open",
            verified=row["verified"],
            foreign_load=_or_nan(row["foreign_load"]),
            first_ns=_or_nan(row["first"] if is_first else None),
            pure_ns=tuple(row["pure"] or ()) if is_first else (),
            work_ns=tuple(row["work"] or ()) if is_first else (),
            root_ns=tuple((row["root_raw"] or ())[at:end]),
            process_ns=tuple(_times_of_processes(row, at, end)),
        )
        at = end


def _times_of_processes(row: Mapping[str, Any], at: int, end: int) -> Iterable[tuple[int, ...]]:
    """Yield the times of all processes in those repetitions of a pass of which they were kept."""
    p, each = row["p"], row["process_raw"] or ()
    for place, repetition in enumerate(row["process_at"] or ()):
        if at <= repetition < end:
            yield tuple(each[place * p : (place + 1) * p])


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _memory(row: Mapping[str, Any]) -> Memory:
    detail = json.loads(row["detail"] or "{}")
    given = {key: _or_nan(value) for key, value in detail.get("values", {}).items()}
    values = {row["metric"]: float(row["value"]), **given}
    return Memory(row["op"], row["p"], values, bool(detail.get("bypassed")), row["verified"])


_SIZE = "S"


def _cells_dataset(runs: Sequence[tuple[Mapping[str, Any], Sequence[Row]]]) -> xr.Dataset:
    """Return the Dataset of suites that are over the same parameter, with the same fixed.

    Result: over function, the parameter (``S`` is the size of messages or units), run and repetition. A value of 0 has no
    place on the axis of a parameter: it is left out, and a note says so.
    """
    labelled = [(str(record["measured"]["label"]), row) for record, rows in runs for row in rows]
    kept = [(label, row) for label, row in labelled if row["x"] > 0]
    first = (kept or labelled)[0][1]
    parameter = _SIZE if first["x_name"] == "msg_By" else str(first["x_name"])
    points, labels = sorted({row["x"] for _, row in kept}), run_labels({label for label, _ in labelled})
    axes = {"function": sorted({row["op"] for _, row in kept}), parameter: points, "run": list(labels)}
    filling = Filling()
    verified: dict[Any, bool] = {}
    for label, row in kept:
        place = row["op"], row["x"], label
        verified[place] = verified.get(place, True) and row["verified"]
        times = np.array(row["raw"], dtype=np.float64) * UNITS[row["unit"]]
        filling.put(place, {row["metric"]: times, "verified": verified[place]})
    found = filling.variables(axes)
    is_farm = first["program"] == MASTER_WORKER
    about = {name: metric.attrs() for name, metric in {"time": UNIT_TIME if is_farm else METRICS["time"], **SHARES}.items()}
    about["verified"] = {"role": "quality", "long_name": "results were right"}
    variables: dict[str, Any] = {name: (*found[name], attrs) for name, attrs in about.items() if name in found}
    crowded = [any(row["oversubscribed"] for _, row in kept if row["x"] == x) for x in points]
    coords = {
        "function": np.array(axes["function"], dtype=np.str_),
        parameter: np.array(points, dtype=np.int64),
        "run": np.array(list(labels.values()), dtype=np.int64),
        "oversubscribed": (parameter, np.array(crowded, dtype=np.bool_)),
    }
    return xr.Dataset(variables, coords, _attributes(runs, first, parameter, len(labelled) - len(kept))).sortby("run")


def _attributes(
    runs: Sequence[tuple[Mapping[str, Any], Sequence[Row]]], first: Mapping[str, Any], parameter: str, dropped: int
) -> dict[str, Any]:
    measured = runs[0][0]["measured"]
    notes = [str(note) for record, _ in runs for note in record["measured"]["remarks"]]
    notes += [f"left out, for 0 has no place on the axis: {dropped} at {parameter} = 0"] if dropped else []
    fixed = json.loads(first["fixed"] or "{}")
    kind = "a master and its workers" if first["program"] == MASTER_WORKER else "messages"
    return {
        "title": f"{'simulation of ' if measured['clock'] == 'simulated' else ''}{kind}",
        "parameter": parameter,
        "measured_on": str(measured["machine"]),
        "simulated": int(measured["clock"] == "simulated"),
        **clock_attributes([_virtual(record["measured"]) for record, _ in runs]),
        "mpi_library": str(measured["mpi_library"]),
        **_environment(record for record, _ in runs),
        "datatype": "byte",
        "started": min(str(record["measured"]["started"]) for record, _ in runs),
        "truncated": "",
        "notes": json.dumps(notes),
        "source": "store",
        "inputs": json.dumps({str(record["run_id"]): str(record["run_id"]) for record, _ in runs}),
        **({"message_size_B": int(fixed["msg_By"])} if "msg_By" in fixed and parameter == WORKERS else {}),
    }
