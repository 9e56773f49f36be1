"""Run files of one campaign become one Dataset: passes joined, flagged repetitions dropped, circumstances kept."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.environment import as_attribute, of_launches
from scalkit.measure.filling import Filling
from scalkit.measure.pattern_records import MASTER_WORKER, SHARES, UNIT_TIME, Units
from scalkit.measure.processes import DIMENSIONS, of_processes
from scalkit.measure.records import Cell
from scalkit.measure.runfile import RunFile
from scalkit.measure.schema import FUNCTION, METRICS, POINT, RUN, Metric, as_grid, function_order
from scalkit.measure.virtual_time import clock_attributes, machine_in_words
from scalkit.support.arrays import Floats

SIZE = "S"
"""The parameter that message sizes are, in bytes."""

_LEAST_VALID = 5
"""With fewer repetitions than these, the flagged ones stay."""

_STEP_S = 1e-9
"""A virtual clock shows whole nanoseconds; on a real one other things disturb more."""

_COUNTED = (
    Metric("operations", "op", "operations, as the program counts them", exact=True),
    Metric("calls", "1", "calls of a region in a process", exact=True),
    Metric("memory_kept", "B", "memory that a call of a region keeps", exact=False, resolution=16.0),
    Metric("memory_peak", "B", "resident memory that a call of a region adds", exact=False, resolution=4096.0),
)
_DETAIL_UNITS = {"time_first": "s", "time_pure": "s", "time_work": "s", "overlap": "1", "bandwidth": "B/s", "message_rate": "1/s"}
_DETAIL_UNITS |= {"root_time": "s", "process_time": "s", "process_last": "1"}
_QUALITY = {
    "n_repetitions": "repetitions measured",
    "n_late": "repetitions that some process began after the common start",
    "n_overrun": "repetitions that outlasted their window",
    "foreign_load": "share of the node's CPU time used by others",
    "involuntary_switches": "times a second that the scheduler took the CPU from a process",
    "flagged_kept": "late and overrun repetitions kept, because too few would remain",
    "verified": "results were right",
    "incomplete": "the run file ends early",
    "status": "how the repetitions ended",
}


def assemble(files: Sequence[RunFile], *, keep_flagged: bool = False) -> xr.Dataset:
    """Return the Dataset of run files that belong to one campaign.

    `files`: at least one, all of sk_master_worker or none of it. Files with the same ``run_id`` are one run.
    `keep_flagged`: keep late and overrun repetitions; by default they become NaN, unless fewer than 5 would remain.
    Returns: over the parameters that vary, of several a grid or a list of points. A master and its workers have metrics
    of their own over ``workers`` and the size of a unit ``S`` [B].
    Raises DataError if two files hold the same launch, or the files differ in library, machine or message size.
    """
    _require_distinct(files)
    is_farm = files[0].env.program == MASTER_WORKER
    size = _common(files, "message size", {cell.size_bytes for file in files for cell in file.cells}, " B")
    datatype = _common(files, "data type", {cell.datatype for file in files for cell in file.cells})
    shared = _shared_attributes(files)
    given = {file.env.parameter for file in files}
    names = _common(files, "parameters" if any("," in name for name in given) else "parameter", given).split(",")
    names += [SIZE] if is_farm else []
    measured = [(file, *one) for file in files for one in _of_file(file, keep_flagged)]
    settings = [(setting, file) for file, setting, _, _ in measured]
    settings += [] if is_farm else [(_values(file), file) for file in files]  # also where nothing was measured
    if not settings:
        raise DataError("the run files hold no work units: all launches died early; measure again.")
    values = {name: {setting[name] for setting, _ in settings} for name in names}
    varied = [name for name in names if len(values[name]) > 1] or names[:1]

    def point_of(setting: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(setting[name] for name in varied)

    filling = Filling()
    for file, setting, op, found in measured:
        filling.put((op, point_of(setting), file.env.run_id), found)
    is_virtual = any(file.env.virtual for file in files)
    described = [UNIT_TIME, *SHARES.values()] if is_farm else [*METRICS.values(), *_COUNTED]
    metrics = {metric.name: metric.attrs() for metric in described}
    metrics["time"] |= {"resolution": _STEP_S} if is_virtual and not is_farm else {}
    ds = _dataset(filling, [(point_of(setting), file) for setting, file in settings], varied, metrics)
    ds.attrs = {
        "title": _title(files, varied[0]),
        "parameter": ",".join(varied),
        **shared,
        **clock_attributes([file.env.virtual for file in files if file.cells or file.units]),
        "datatype": "byte" if is_farm else datatype or "",
    }
    for name in names if is_farm else ():
        if name not in varied:
            ds.attrs["message_size_B" if name == SIZE else name] = values[name].pop()
    if size is not None and varied == ["p"]:
        ds.attrs["message_size_B"] = size
    return ds


def _dataset(
    filling: Filling, places: Sequence[tuple[tuple[int, ...], RunFile]], names: Sequence[str], metrics: Mapping[str, Any]
) -> xr.Dataset:
    """Return what was gathered over function, the parameters and run.

    `places`: the point and the file of each launch.
    `metrics`: attributes of the metrics, in their order, and of others that differ from the usual ones.
    """
    points = sorted({point for point, _ in places})
    runs = run_labels({file.env.run_id for _, file in places})
    functions = sorted({place[0] for cells in filling.values.values() for place in cells}, key=function_order)
    axis = POINT if len(names) > 1 else names[0]
    found = filling.variables({FUNCTION: functions, axis: points, RUN: list(runs)}, DIMENSIONS)
    order = [name for name in metrics if name in found] + sorted(found, key=lambda name: (name not in _QUALITY, name))
    variables = {name: (*found[name], _attributes(name, found[name][1], metrics)) for name in dict.fromkeys(order)}
    crowded, per_node = _nodes(points, places)
    coords = {
        FUNCTION: np.array(functions, dtype=np.str_),
        **{name: (axis, np.array(column, dtype=np.int64)) for name, column in zip(names, zip(*points, strict=True), strict=True)},
        RUN: np.array(list(runs.values()), dtype=np.int64),
        "oversubscribed": (axis, np.array(crowded)),
        "processes_per_node": (axis, np.array(per_node, dtype=np.int64)),
    }
    return as_grid(xr.Dataset(variables, coords, {"parameter": ",".join(names)}).sortby(RUN))


def _attributes(name: str, array: Any, metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    if name in metrics:
        found: Mapping[str, Any] = metrics[name]
        return found
    if name in _QUALITY:
        return {"role": "quality", "long_name": _QUALITY[name]}
    return {"role": "detail"} | ({} if array.dtype == np.bool_ else {"units": _DETAIL_UNITS.get(name, "B")})


def _nodes(points: Sequence[tuple[int, ...]], places: Sequence[tuple[tuple[int, ...], RunFile]]) -> tuple[list[bool], list[int]]:
    """Return of each point whether processes outnumbered cores, and the processes per node, 0 where launches differ.

    Memory that was measured beside virtual time says nothing about run times.
    """
    crowded = dict.fromkeys(points, False)
    per_node: dict[tuple[int, ...], set[int]] = {point: set() for point in points}
    are_virtual = {bool(file.env.virtual) for _, file in places}
    for point, file in places:
        is_virtual = bool(file.env.virtual)
        if is_virtual or True not in are_virtual:
            crowded[point] |= file.env.oversubscribed
        if not is_virtual or len(are_virtual) == 1:
            per_node[point].add(file.env.processes_per_node)
    return list(crowded.values()), [min(some) if len(some) == 1 else 0 for some in per_node.values()]


def _values(file: RunFile) -> Mapping[str, int]:
    return file.env.values or {file.env.parameter: file.env.point}


def _of_file(file: RunFile, keep_flagged: bool) -> Iterator[tuple[Mapping[str, int], str, dict[str, Any]]]:
    """Yield the parameters, the name, and the values of each function in a run file."""
    here, state = _values(file), {"incomplete": not file.complete}
    for op in dict.fromkeys(cell.op for cell in file.cells):
        yield here, op, _of_cells([cell for cell in file.cells if cell.op == op], keep_flagged) | state
    for memory in file.memories:
        yield here, memory.op, {**memory.values, "bypassed": memory.bypassed, "verified": memory.verified, **state}
    for count in file.counts:
        yield here, count.op, {"operations": count.operations, "verified": count.verified, **state}
    for region in file.regions:
        yield here, region.op, dict(region.values)
    for op, size in dict.fromkeys((one.op, one.size_bytes) for one in file.units):
        passes = [one for one in file.units if (one.op, one.size_bytes) == (op, size)]
        yield {**here, SIZE: size}, op, _of_units(passes) | state


def _of_cells(passes: Iterable[Cell], keep_flagged: bool) -> dict[str, Any]:
    """Return what all passes of one operation in one launch say together."""
    cells = sorted(passes, key=lambda cell: cell.number)
    counts = np.array([len(cell.t_ns) for cell in cells])
    starts = np.cumsum([0, *counts[:-1]])
    times = np.concatenate([cell.t_ns for cell in cells]).astype(np.float64) * 1e-9
    late = [start + i for start, cell in zip(starts, cells, strict=True) for i in cell.late_at]
    overrun = [start + i for start, cell in zip(starts, cells, strict=True) for i in cell.overrun_at]
    flagged = np.zeros(len(times), dtype=bool)
    flagged[[*late, *overrun]] = True
    too_few = bool(flagged.any()) and int((~flagged).sum()) < _LEAST_VALID
    kept = times if too_few else np.where(flagged, math.nan, times)
    placed = times if keep_flagged else kept
    return {
        "time": placed,
        "n_repetitions": int(counts.sum()),
        "n_late": len(late),
        "n_overrun": len(overrun),
        **{name: _mean([getattr(cell, name) for cell in cells], counts) for name in ("foreign_load", "involuntary_switches")},
        "verified": all(cell.verified for cell in cells),
        "status": cells[-1].status,
        "flagged_kept": too_few and not keep_flagged,
        "time_first": next((cell.first_ns for cell in cells if not math.isnan(cell.first_ns)), math.nan) * 1e-9,
        **_overlap(cells, kept[np.isfinite(kept)]),
        **_rates(cells[-1], kept[np.isfinite(kept)]),
        **of_processes(cells, np.isnan(placed)),
    }


def _of_units(passes: Iterable[Units]) -> dict[str, Any]:
    """Return what all passes of one variant of a master and its workers in one launch say together."""
    units = sorted(passes, key=lambda one: one.number)
    counts = np.array([len(one.t_ns) for one in units])
    return {
        **{name: np.concatenate([getattr(one, name) for one in units]) for name in ("time", *SHARES)},
        "n_repetitions": int(counts.sum()),
        "foreign_load": _mean([one.foreign_load for one in units], counts),
        "verified": all(one.verified for one in units),
        "time_work": 1e-9 * float(np.median(np.concatenate([np.array(one.worked_ns) / one.units for one in units]))),
    }


def _mean(values: Sequence[float], counts: Any) -> float:
    """Return the mean of a value over the passes, weighted by their repetitions; NaN if no pass has it."""
    array = np.array(values)
    known = np.isfinite(array) & (counts > 0)
    return float(np.average(array[known], weights=counts[known])) if known.any() else math.nan


def _overlap(cells: Sequence[Cell], both: Floats) -> dict[str, float]:
    """Return the times of the parts of an overlap in s, and the share that was hidden; empty for other operations.

    The share is that of Intel's benchmarks: ``(pure + work - both) / min(pure, work)``, from 0 to 1, of first quartiles.
    """
    parts = [np.array([t for cell in cells for t in getattr(cell, name)]) for name in ("pure_ns", "work_ns")]
    if not all(map(len, (*parts, both))):
        return {}
    pure, work = (float(np.quantile(part, 0.25)) * 1e-9 for part in parts)
    shorter = min(pure, work)
    hidden = (pure + work - float(np.quantile(both, 0.25))) / shorter if shorter > 0 else math.nan
    return {"time_pure": pure, "time_work": work, "overlap": min(1.0, max(0.0, hidden))}


def _rates(last: Cell, times: Floats) -> dict[str, float]:
    """Return bytes and messages a second of a window, by the first quartile of its times; empty for other operations."""
    usual = float(np.quantile(times, 0.25)) if last.messages and len(times) else 0.0
    if usual <= 0:
        return {}
    return {"bandwidth": last.messages * last.size_bytes / usual, "message_rate": last.messages / usual}


def _shared_attributes(files: Sequence[RunFile]) -> dict[str, Any]:
    """Return what all run files of a campaign say of themselves. Raises DataError if the files differ in library or machine."""
    library = _common(files, "MPI library", {file.env.mpi_library for file in files})
    kind = _common(files, "kind of machine", {"simulated" if file.env.simulated else "real" for file in files})
    return {
        "measured_on": _places(files),
        "simulated": int(kind == "simulated"),
        "mpi_library": library or "",
        "started": min((file.env.started for file in files if file.env.started), default=""),
        **as_attribute(of_launches(file.env.fields for file in files)),
        "truncated": ", ".join(sorted(file.path.name for file in files if not file.complete)),
        "notes": json.dumps([note for file in files for note in file.notes]),
    }


def _title(files: Sequence[RunFile], parameter: str) -> str:
    if files[0].env.program == MASTER_WORKER:
        return f"{'simulation of ' if files[0].env.simulated else ''}a master and its workers"
    if files[0].env.simulated:
        return "simulation of an MPI library" if parameter == "p" else f"simulated: {_programs(files)}"
    return "measurements of an MPI library" if parameter == "p" else _programs(files)


def _places(files: Sequence[RunFile]) -> str:
    """Return the hosts; of a simulation and of virtual time the machine."""
    return ", ".join(dict.fromkeys(word for word in sorted(map(_machine, files), key=_is_virtual) if word))


def _is_virtual(place: str) -> tuple[bool, str]:
    return place.endswith("in virtual time"), place


def _machine(file: RunFile) -> str:
    if file.env.virtual:
        return machine_in_words(file.env.virtual)
    if not file.env.simulated:
        return file.env.host
    provenance = file.env.fields.get("provenance")
    simulation = provenance.get("simulation") if isinstance(provenance, dict) else None
    if not isinstance(simulation, dict) or not isinstance(simulation.get("platform"), str):
        return file.env.host and f"{file.env.host}, simulated"
    return f"{simulation['platform']}, simulated, {simulation.get('processes_per_node')} per node"


def run_labels(run_ids: Iterable[str]) -> dict[str, int]:
    """Return a number for each run: the one at the end of ``...-r03`` where all have one, else their natural order."""
    ordered = sorted(run_ids, key=_natural)
    ends = [re.search(r"-r(\d{1,6})$", run_id) for run_id in ordered]
    numbers = [int(end[1]) for end in ends if end]
    if len(numbers) == len(ordered) == len(set(numbers)):
        return dict(zip(ordered, numbers, strict=True))
    return {run_id: number for number, run_id in enumerate(ordered)}


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in re.split(r"(\d{1,18})", text)]


def _require_distinct(files: Sequence[RunFile]) -> None:
    """Return nothing if no two files hold the same launch. Raises DataError, naming the two."""
    seen: dict[tuple[str, str, frozenset[tuple[str, int]]], Path] = {}
    for file in files:
        values = _values(file)
        key = (file.env.run_id, file.env.program, frozenset(values.items()))
        if key in seen:
            is_p = list(values) == ["p"]
            where = f"{file.env.point} processes" if is_p else ", ".join(f"{name} = {x}" for name, x in values.items())
            raise DataError(
                f"{seen[key]} and {file.path} are the same launch (run {key[0]!r}, {key[1]}, {where}); keep one of them."
            )
        seen[key] = file.path


def _programs(files: Sequence[RunFile]) -> str:
    return " and ".join(sorted({file.env.program for file in files}))


def _common(files: Sequence[RunFile], what: str, values: set[Any], unit: str = "") -> Any:
    """Return the one value that all files share; None if none says it. Raises DataError if there are several."""
    known = sorted(value for value in values if value != "")
    if len(known) > 1:
        listed = " and ".join(f"{value}{unit}" if unit else repr(_first_line(value)) for value in known)
        folders = ", ".join(sorted({str(file.path.parent) for file in files}))
        raise DataError(f"the run files in {folders} differ in their {what}: {listed}; read them apart.")
    return known[0] if known else None


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:60] if text.strip() else text
