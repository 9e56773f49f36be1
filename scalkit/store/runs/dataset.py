"""Runs of a store as the Dataset that all of scalkit works with: exactly what `scalkit.read` makes of their run files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.measure.assemble import assemble
from scalkit.measure.records import Cell, Count, Env, Memory
from scalkit.measure.runfile import RunFile
from scalkit.measure.virtual_time import virtual_of
from scalkit.store.runs.cells import cells_dataset, is_of_cells

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr

LEVELS = ("rep", "point")
"""Every repetition, or one value for each measurement."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_STATUSES = ("open", "converged", "capped", "budget")


def dataset_of(
    runs: Sequence[tuple[Mapping[str, Any], pa.Table]], level: str, *, keep_flagged: bool = False
) -> xr.Dataset:
    """Return the Dataset of runs, as docs/file-formats.md describes it.

    `runs`, sequence of (record, table): the tables may lack rows that are not wanted.
    `level`, {"rep", "point"}: ``"point"`` has the median of the repetitions instead of the repetitions.
    `keep_flagged`: keep repetitions that began late or outlasted their window.
    Raises DataError if they cannot be one Dataset, as those of different libraries or message sizes.
    """
    if runs and all(is_of_cells(table) for _, table in runs):
        return cells_dataset(runs, level)
    files = [file for record, table in runs for file in _files(record, table)]
    if not files:
        raise DataError("no measurement is left of what was chosen; choose other runs or operations.")
    ds = assemble(files, keep_flagged=keep_flagged)
    ds.attrs["source"] = "store"
    ds.attrs["inputs"] = json.dumps({str(record["run_id"]): str(record["run_id"]) for record, _ in runs})
    if level == "point" and "time" in ds:
        names = [name for name in ("time", "root_time") if name in ds]
        middle = {name: ds[name].median("repetition", skipna=True, keep_attrs=True) for name in names}
        return ds.drop_vars(names).assign(middle)
    return ds


def _files(record: Mapping[str, Any], table: pa.Table) -> Iterable[RunFile]:
    """Yield the launches of a run, as their run files would be read."""
    launches: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
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
            counts=tuple(_count(row) for row in rows if row["metric"] == "operations"),
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
        simulated=bool(measured["simulated"]),
        parameter=str(measured["parameter"]),
        point=int(launch.get("point", row["p"])),
        fields={"provenance": {"simulation": measured["simulation"]}} if measured["simulation"] else _NOTHING,
        virtual=virtual_of({"provenance": measured["simulation"]}),
    )


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


def _count(row: Mapping[str, Any]) -> Count:
    return Count(row["op"], row["raw"][0], row["verified"])
