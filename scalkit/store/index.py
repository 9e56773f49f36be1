"""The index of a store: the summaries of all measurements in segments of this user's cache, computed from the repetitions.

An index that lies in a store is never read: whoever sent it may have changed it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.store.folder import StoreFolder
from scalkit.store.runs.columns import COLUMNS, arrow_schema
from scalkit.store.runs.content import canonical, platform_of, trusted
from scalkit.store.runs.marks import MARKS, TOKENS, marks_of, times_of, tokens_of
from scalkit.store.runs.summaries import ROOT_MEDIAN, root_medians
from scalkit.store.segments import FULL, Segment, add_segment, only, segments_of, stamps_of

if TYPE_CHECKING:
    import pyarrow as pa

_FRESH_WRITTEN = 16
"""So many runs that are not in the index make a reader write a segment of them; fewer are read from their own files."""

_LEFT_OUT = ("detail", "definition", "offset_ms")
_INDEXED = [column.name for column in COLUMNS if column.kind != "ints" and column.name not in _LEFT_OUT]
_OF_RUN = ("run_id", "platform", "machine", "clock")
_TEXTS = ("campaign", "label", "site", "machine", "started", "ended", "mpi_impl", "mpi_version", "os", "parameter")
_OF_MACHINE = ("network", "topology")

FILED = ("user", "contributor", "licence", "notes", "filed")
"""What the index has of who filed a run."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The runs of a store at one moment.

    `there`, mapping of str to str: ids of all runs, and the stamps of their files.
    `segments`: the index. `runs`, `points`: of the runs that are not in it.
    `damaged`: ids of runs that cannot be read, the stamp of each and why.
    """

    there: Mapping[str, str]
    segments: tuple[Segment, ...]
    runs: pa.Table
    points: pa.Table
    damaged: Mapping[str, tuple[str, str]]


def snapshot(folder: StoreFolder, before: Snapshot | None = None) -> Snapshot:
    """Return the runs that are there now; `before` saves reading again what it has."""
    import pyarrow as pa

    there = folder.stamps()
    segments = segments_of(folder.index, before.segments if before is not None else ())
    if before is not None and before.segments == segments and before.there == there:
        return before
    runs, points, damaged = _read(folder, {})
    missing = dict(there)
    for one in segments:
        for run_id in one.stamps.keys() - one.gone(there):
            missing.pop(run_id, None)
    if before is not None:
        same = {run_id for run_id, stamp in stamps_of(before.runs).items() if missing.get(run_id) == stamp}
        runs, points = only(before.runs, same), only(before.points, same)
        damaged = {run_id: why for run_id, why in before.damaged.items() if there.get(run_id) == why[0]}
    unread = sorted(missing.keys() - set(stamps_of(runs)) - damaged.keys())
    for begin in range(0, len(unread), FULL):
        some = {run_id: there[run_id] for run_id in unread[begin : begin + FULL]}
        runs, points, damaged = _with(_read(folder, some), runs, points, damaged)
        if len(runs) > _FRESH_WRITTEN and folder.archive is None:
            with contextlib.suppress(OSError, pa.ArrowException):
                segments = add_segment(folder, segments, there, runs, points)
                runs, points = runs.slice(0, 0), points.slice(0, 0)
    return Snapshot(there, segments, runs, points, damaged)


_Read = tuple["pa.Table", "pa.Table", dict[str, tuple[str, str]]]


def _with(read: _Read, runs: pa.Table, points: pa.Table, damaged: Mapping[str, tuple[str, str]]) -> _Read:
    import pyarrow as pa

    return pa.concat_tables([runs, read[0]]), pa.concat_tables([points, read[1]]), {**damaged, **read[2]}


def _read(folder: StoreFolder, stamps: Mapping[str, str]) -> _Read:
    """Return what the index would hold of runs: a table of runs, one of measurements, and what cannot be read, by id."""
    import pyarrow as pa

    rows, points = [], []
    damaged: dict[str, tuple[str, str]] = {}
    for run_id in sorted(stamps):
        try:
            record, table = trusted(folder.read_run(run_id), run_id)
        except FileNotFoundError:
            continue
        except DataError as error:
            damaged[run_id] = stamps[run_id], str(error)
            continue
        row = {**_row(run_id, record, table), "stamp": stamps[run_id]}
        rows.append(row)
        points.append(_with_run(row, table))
    runs = pa.Table.from_pylist(rows, schema=_runs_schema())
    fields = [pa.field(name, pa.string()) for name in _OF_RUN] + _indexed_fields()
    empty = pa.schema(fields).empty_table().append_column(ROOT_MEDIAN, pa.array([], pa.float64()))
    empty = _with_marks(empty, {name: [] for name in MARKS})
    return runs, pa.concat_tables([empty, *points]), damaged


def _indexed_fields() -> list[Any]:
    schema = arrow_schema()
    return [schema.field(name).with_nullable(True) for name in _INDEXED]


def _with_run(row: dict[str, Any], table: pa.Table) -> pa.Table:
    import pyarrow as pa

    columns = [pa.repeat(pa.scalar(row[name], pa.string()), len(table)) for name in _OF_RUN]
    fields = [pa.field(name, pa.string()) for name in _OF_RUN]
    arrays = [*columns, *(table[name] for name in _INDEXED)]
    found = pa.table(arrays, schema=pa.schema(fields + _indexed_fields()))
    found = found.append_column(ROOT_MEDIAN, pa.array(root_medians(table), pa.float64()))
    return _with_marks(found, marks_of(table))


def _with_marks(table: pa.Table, marks: Mapping[str, list[Any]]) -> pa.Table:
    import pyarrow as pa

    for name, kind in zip(MARKS, (pa.float32(), pa.int64()), strict=True):
        table = table.append_column(name, pa.array(marks[name], pa.list_(kind)))
    return table


def _row(run_id: str, record: dict[str, Any], table: pa.Table) -> dict[str, Any]:
    import pyarrow.compute as pc

    measured, filing = record["measured"], record["filing"]
    return {
        "run_id": run_id,
        "platform": platform_of(measured),
        "clock": str(measured["clock"]),
        "nodes": measured.get("nodes"),
        "processes_per_node": measured.get("processes_per_node"),
        "complete": all(launch.get("complete", True) for launch in measured.get("launches", [])),
        "suites": len(pc.unique(table["suite"])),
        "measurements": len(table),
        "repetitions": pc.sum(table["n"]).as_py() or 0,
        **{name: str(measured.get(name, "")) for name in _TEXTS},
        **{name: str((measured.get("machine_desc") or {}).get(name, "")) for name in _OF_MACHINE},
        **{name: str(filing.get(name, "")) for name in FILED},
        "record": canonical({"measured": measured, "filing": filing}),
        TOKENS: tokens_of(times_of(table)),
    }


def _runs_schema() -> pa.Schema:
    import pyarrow as pa

    wholes = ("nodes", "processes_per_node", "suites", "measurements", "repetitions")
    return pa.schema(
        [
            *((name, pa.string()) for name in ("run_id", "platform", "clock")),
            *((name, pa.string()) for name in (*_TEXTS, *_OF_MACHINE, *FILED)),
            ("complete", pa.bool_()),
            *((name, pa.int64()) for name in wholes),
            *((name, pa.string()) for name in ("record", "stamp")),
            (TOKENS, pa.list_(pa.int32())),
        ]
    )
