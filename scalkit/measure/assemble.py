"""Run files of one campaign become one Dataset: passes joined, flagged repetitions dropped, circumstances kept."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.measure.environment import as_attribute, of_launches
from scalkit.measure.processes import DIMENSIONS, of_processes
from scalkit.measure.records import Cell
from scalkit.measure.runfile import RunFile
from scalkit.measure.schema import FUNCTION, METRICS, POINT, PROCESS, REPETITION, RUN, Metric, as_grid, function_order
from scalkit.measure.virtual_time import clock_attributes, machine_in_words

_LEAST_VALID = 5
"""With fewer repetitions than these, the flagged ones stay."""

_STEP_S = 1e-9
"""A virtual clock shows whole nanoseconds; on a real one other things disturb more."""

_COUNTED = {
    one.name: one
    for one in (
        Metric("operations", "op", "operations, as the program counts them", exact=True),
        Metric("calls", "1", "calls of a region in a process", exact=True),
        Metric("memory_kept", "B", "memory that a call of a region keeps", exact=False, resolution=16.0),
        Metric("memory_peak", "B", "resident memory that a call of a region adds", exact=False, resolution=4096.0),
    )
}
_DETAIL_UNITS = {"time_first": "s", "time_pure": "s", "time_work": "s", "overlap": "1"}
_DETAIL_UNITS |= {"bandwidth": "B/s", "message_rate": "1/s"}
_DETAIL_UNITS |= {"root_time": "s", "process_time": "s", "process_last": "1"}
_QUALITY: dict[str, tuple[type, object, str]] = {
    "n_repetitions": (np.int32, 0, "repetitions measured"),
    "n_late": (np.int32, 0, "repetitions that some process began after the common start"),
    "n_overrun": (np.int32, 0, "repetitions that outlasted their window"),
    "foreign_load": (np.float64, math.nan, "share of the node's CPU time used by others"),
    "involuntary_switches": (np.float64, math.nan, "times a second that the scheduler took the CPU from a process"),
    "flagged_kept": (np.bool_, False, "late and overrun repetitions kept, because too few would remain"),
    "verified": (np.bool_, True, "results were right"),
    "incomplete": (np.bool_, False, "the run file ends early"),
}


@dataclass(frozen=True)
class _Timed:
    """All passes of one operation in one launch."""

    cells: tuple[Cell, ...]
    first_ns: float

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "_Timed":
        ordered = tuple(sorted(cells, key=lambda cell: cell.number))
        first = next((cell.first_ns for cell in ordered if not math.isnan(cell.first_ns)), math.nan)
        return cls(ordered, first)

    def seconds(self, keep_flagged: bool) -> tuple[Floats, bool]:
        """Return the repetitions, flagged ones as NaN, and whether they were kept for want of others."""
        t = np.array([t for cell in self.cells for t in cell.t_ns], dtype=np.float64) * 1e-9
        flagged = np.zeros(len(t), dtype=bool)
        flagged[[index for indices in (self._indices("late_at"), self._indices("overrun_at")) for index in indices]] = True
        too_few = bool(flagged.any()) and (~flagged).sum() < _LEAST_VALID
        if not keep_flagged and not too_few:
            t[flagged] = math.nan
        return t, too_few and not keep_flagged

    def quality(self) -> dict[str, Any]:
        """Return counts over all passes."""
        counts = np.array([len(cell.t_ns) for cell in self.cells], dtype=np.float64)
        return {
            "n_repetitions": int(counts.sum()),
            "n_late": len(self._indices("late_at")),
            "n_overrun": len(self._indices("overrun_at")),
            **{name: self._mean(name, counts) for name in ("foreign_load", "involuntary_switches")},
            "verified": all(cell.verified for cell in self.cells),
            "status": self.cells[-1].status,
        }

    def _mean(self, name: str, counts: Floats) -> float:
        """Return the mean of a field over the passes, weighted by their repetitions; NaN if no pass has it."""
        values = np.array([getattr(cell, name) for cell in self.cells])
        known = np.isfinite(values) & (counts > 0)
        return float(np.average(values[known], weights=counts[known])) if known.any() else math.nan

    def overlap(self) -> dict[str, float]:
        """Return the times of the parts of an overlap in s, and the share that was hidden; empty for other operations.

        The share is that of Intel's benchmarks: ``(pure + work - both) / min(pure, work)``, from 0 to 1, of first quartiles.
        """
        parts = [np.array([t for cell in self.cells for t in getattr(cell, name)]) for name in ("pure_ns", "work_ns")]
        both, _ = self.seconds(keep_flagged=False)
        both = both[np.isfinite(both)]
        if not all(map(len, (*parts, both))):
            return {}
        pure, work = (float(np.quantile(part, 0.25)) * 1e-9 for part in parts)
        shorter = min(pure, work)
        hidden = (pure + work - float(np.quantile(both, 0.25))) / shorter if shorter > 0 else math.nan
        return {"time_pure": pure, "time_work": work, "overlap": min(1.0, max(0.0, hidden))}

    def rates(self) -> dict[str, float]:
        """Return bytes and messages a second of a window, by the first quartile of its times; empty for other operations."""
        last, times = self.cells[-1], self.seconds(keep_flagged=False)[0]
        times = times[np.isfinite(times)]
        usual = float(np.quantile(times, 0.25)) if last.messages and len(times) else 0.0
        if usual <= 0:
            return {}
        return {"bandwidth": last.messages * last.size_bytes / usual, "message_rate": last.messages / usual}

    def _indices(self, name: str) -> list[int]:
        offsets = np.cumsum([0, *(len(cell.t_ns) for cell in self.cells)])
        return [int(start) + i for start, cell in zip(offsets, self.cells, strict=False) for i in getattr(cell, name)]


def assemble(files: Sequence[RunFile], *, keep_flagged: bool = False) -> xr.Dataset:
    """Return the Dataset of run files that belong to one campaign.

    `files`: at least one. Files with the same ``run_id`` are one run.
    `keep_flagged`: keep late and overrun repetitions; by default they become NaN, unless fewer than 5 would remain.
    Raises DataError if two files hold the same launch, or the files differ in library or message size.
    """
    if any("," in file.env.parameter for file in files):
        return _over_several(files, keep_flagged)
    require_distinct(files)
    size = common(files, "message size", {cell.size_bytes for file in files for cell in file.cells}, " B")
    datatype = common(files, "data type", {cell.datatype for file in files for cell in file.cells})
    shared = shared_attributes(files)
    parameter = common(files, "parameter", {file.env.parameter for file in files})
    board = _Board(files, keep_flagged, parameter)
    for file in files:
        board.place(file)
    attrs: dict[str, Any] = {
        "title": _title(files, parameter),
        "parameter": parameter,
        **shared,
        **clock_attributes([file.env.virtual for file in files if file.cells]),
        "datatype": datatype or "",
    }
    if size is not None and parameter == "p":
        attrs["message_size_B"] = size
    return board.dataset(attrs)


def shared_attributes(files: Sequence[RunFile]) -> dict[str, Any]:
    """Return what all run files of a campaign say of themselves. Raises DataError if the files differ in library or machine."""
    library = common(files, "MPI library", {file.env.mpi_library for file in files})
    kind = common(files, "kind of machine", {"simulated" if file.env.simulated else "real" for file in files})
    return {
        "measured_on": places(files),
        "simulated": int(kind == "simulated"),
        "mpi_library": library or "",
        "started": min((file.env.started for file in files if file.env.started), default=""),
        **as_attribute(of_launches(file.env.fields for file in files)),
        "truncated": ", ".join(sorted(file.path.name for file in files if not file.complete)),
        "notes": json.dumps([note for file in files for note in file.notes]),
    }


def _over_several(files: Sequence[RunFile], keep_flagged: bool) -> xr.Dataset:
    """Return the Dataset of run files over several parameters: those that vary; a grid, or a list of points."""
    names = common(files, "parameters", {file.env.parameter for file in files}).split(",")
    varied = [name for name in names if len({file.env.values[name] for file in files}) > 1] or names[:1]
    points = sorted({tuple(file.env.values[name] for name in varied) for file in files})
    if len(varied) == 1:
        return assemble([_at(f, varied[0], f.env.values[varied[0]]) for f in files], keep_flagged=keep_flagged)
    places = {point: number for number, point in enumerate(points)}
    numbered = [_at(f, POINT, places[tuple(f.env.values[name] for name in varied)]) for f in files]
    ds = assemble(numbered, keep_flagged=keep_flagged).drop_vars(POINT)
    columns = {name: (POINT, np.array(column)) for name, column in zip(varied, zip(*points, strict=True), strict=True)}
    return as_grid(ds.assign_coords(columns).assign_attrs(parameter=",".join(varied)))


def _at(file: RunFile, parameter: str, point: int) -> RunFile:
    return replace(file, env=replace(file.env, parameter=parameter, point=point))


def _title(files: Sequence[RunFile], parameter: str) -> str:
    if files[0].env.simulated:
        return "simulation of an MPI library" if parameter == "p" else f"simulated: {_programs(files)}"
    return "measurements of an MPI library" if parameter == "p" else _programs(files)


def places(files: Sequence[RunFile]) -> str:
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


class _Board:
    """Arrays over function, parameter and run that are filled file by file."""

    def __init__(self, files: Sequence[RunFile], keep_flagged: bool, parameter: str) -> None:
        self._keep_flagged = keep_flagged
        self._parameter = parameter
        self._points = sorted({file.env.point for file in files})
        self._runs = run_labels({file.env.run_id for file in files})
        names = {c.op for f in files for c in f.cells} | {m.op for f in files for m in f.memories}
        names |= {c.op for f in files for c in f.counts} | {r.op for f in files for r in f.regions}
        self._functions = sorted(names, key=function_order)
        self._timed = {(i, op): t for i, file in enumerate(files) for op, t in _timed(file).items()}
        self._index = {id(file): i for i, file in enumerate(files)}
        self._depth = max((sum(len(c.t_ns) for c in t.cells) for t in self._timed.values()), default=0)
        self._most_processes = max((cell.p for file in files for cell in file.cells if cell.process_ns), default=0)
        self._crowded = dict.fromkeys(self._points, False)
        self._per_node: dict[int, set[int]] = {point: set() for point in self._points}
        virtual = {bool(file.env.virtual) for file in files}
        self._is_virtual, self._is_mixed = True in virtual, len(virtual) > 1
        self._shape = (len(self._functions), len(self._points), len(self._runs))
        self._arrays: dict[str, NDArray[Any]] = {}

    def place(self, file: RunFile) -> None:
        """Put the values of one file where they belong."""
        env = file.env
        if bool(env.virtual) or not self._is_virtual:  # memory beside it says nothing about run times
            self._crowded[env.point] |= env.oversubscribed
        if not (env.virtual and self._is_mixed):
            self._per_node[env.point].add(env.processes_per_node)
        for op in dict.fromkeys(cell.op for cell in file.cells):
            timed = self._timed[self._index[id(file)], op]
            at = self._at(op, file)
            values, kept = timed.seconds(self._keep_flagged)
            self._array("time", self._depth)[at][: len(values)] = values
            self._put(at, {**timed.quality(), "flagged_kept": kept, "incomplete": not file.complete})
            self._put(at, {"time_first": timed.first_ns * 1e-9, **timed.overlap(), **timed.rates()})
            for name, of_each in of_processes(timed.cells, np.isnan(values)).items():
                depth = self._depth if DIMENSIONS[name] == REPETITION else self._most_processes
                self._array(name, depth)[at][: len(of_each)] = of_each
        for memory in file.memories:
            at = self._at(memory.op, file)
            self._put(at, {**memory.values, "bypassed": memory.bypassed, "verified": memory.verified})
            self._put(at, {"incomplete": not file.complete})
        for count in file.counts:
            at = self._at(count.op, file)
            self._put(at, {"operations": count.operations, "verified": count.verified})
            self._put(at, {"incomplete": not file.complete})

        for region in file.regions:
            self._put(self._at(region.op, file), region.values)

    def dataset(self, attrs: Mapping[str, Any]) -> xr.Dataset:
        """Return what was placed, metrics first."""
        order = [name for name in (*METRICS, *_COUNTED) if name in self._arrays]
        order += sorted(set(self._arrays) - set(order), key=lambda name: (name not in _QUALITY, name))
        per_node = [min(some) if len(some) == 1 else 0 for some in self._per_node.values()]
        coords = {
            "function": np.array(self._functions, dtype=np.str_),
            self._parameter: np.array(self._points, dtype=np.int64),
            "run": np.array(list(self._runs.values()), dtype=np.int64),
            "oversubscribed": (self._parameter, np.array(list(self._crowded.values()))),
            "processes_per_node": (self._parameter, np.array(per_node, dtype=np.int64)),
        }
        variables = {name: self._variable(name) for name in order}
        return xr.Dataset(variables, coords, dict(attrs)).sortby("run")

    def _variable(self, name: str) -> tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]:
        array = self._arrays[name]
        last = PROCESS if DIMENSIONS.get(name) == PROCESS else REPETITION
        dims = (FUNCTION, self._parameter, RUN, last)[: array.ndim]
        if name in METRICS or name in _COUNTED:
            attrs = {**METRICS, **_COUNTED}[name].attrs()
            return dims, array, attrs | ({"resolution": _STEP_S} if name == "time" and self._is_virtual else {})
        if name == "status":
            return dims, array.astype(np.str_), {"role": "quality", "long_name": "how the repetitions ended"}
        if name in _QUALITY:
            return dims, array, {"role": "quality", "long_name": _QUALITY[name][2]}
        if array.dtype == np.bool_:
            return dims, array, {"role": "detail"}
        return dims, array, {"role": "detail", "units": _DETAIL_UNITS.get(name, "B")}

    def _at(self, op: str, file: RunFile) -> tuple[int, int, int]:
        runs = list(self._runs)
        return self._functions.index(op), self._points.index(file.env.point), runs.index(file.env.run_id)

    def _put(self, at: tuple[int, int, int], values: Mapping[str, object]) -> None:
        for name, value in values.items():
            self._array(name)[at] = value

    def _array(self, name: str, depth: int | None = None) -> NDArray[Any]:
        if name not in self._arrays:
            shape = self._shape if depth is None else (*self._shape, depth)
            kind, empty = _kind(name)
            self._arrays[name] = np.full(shape, empty, dtype=kind)
        return self._arrays[name]


def _kind(name: str) -> tuple[type, object]:
    if name == "status":
        return object, ""
    if name == "bypassed":
        return np.bool_, False
    kind, empty, _ = _QUALITY.get(name, (np.float64, math.nan, ""))
    return kind, empty


def _timed(file: RunFile) -> dict[str, _Timed]:
    groups: dict[str, list[Cell]] = {}
    for cell in file.cells:
        groups.setdefault(cell.op, []).append(cell)
    return {op: _Timed.of(cells) for op, cells in groups.items()}


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


def require_distinct(files: Sequence[RunFile]) -> None:
    """Return nothing if no two files hold the same launch. Raises DataError, naming the two."""
    seen: dict[tuple[str, str, int], Path] = {}
    for file in files:
        key = (file.env.run_id, file.env.program, file.env.point)
        if key in seen:
            where = f"{key[2]} processes" if file.env.parameter == "p" else f"{file.env.parameter} = {key[2]}"
            raise DataError(
                f"{seen[key]} and {file.path} are the same launch (run {key[0]!r}, {key[1]}, {where}); keep one of them."
            )
        seen[key] = file.path


def _programs(files: Sequence[RunFile]) -> str:
    return " and ".join(sorted({file.env.program for file in files}))


def common(files: Sequence[RunFile], what: str, values: set[Any], unit: str = "") -> Any:
    """Return the one value that all files share; None if none says it. Raises DataError if there are several."""
    known = sorted(value for value in values if value != "")
    if len(known) > 1:
        listed = " and ".join(f"{value}{unit}" if unit else repr(_first_line(value)) for value in known)
        folders = ", ".join(sorted({str(file.path.parent) for file in files}))
        raise DataError(f"the run files in {folders} differ in their {what}: {listed}; read them apart.")
    return known[0] if known else None


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:60] if text.strip() else text
