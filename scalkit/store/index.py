"""The index of a store: the summaries of all measurements in two files that can be made again at any time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.store.folder import StoreFolder
from scalkit.store.runs.columns import COLUMNS, SCHEMA_VERSION, arrow_schema
from scalkit.store.runs.content import decoded
from scalkit.store.runs.facts import with_facts
from scalkit.store.runs.record import canonical, platform_of

if TYPE_CHECKING:
    import pyarrow as pa

RUNS, POINTS = "runs.parquet", "points.parquet"

_FRESH_WRITTEN = 16
"""So many runs that are not in the index make a reader write a new one; fewer are read from their own files."""

_KEPT_S = 300.0
"""In s; a replaced index stays so long for processes that still read it."""

_LEFT_OUT = ("detail", "definition", "offset_ms")
_INDEXED = [column.name for column in COLUMNS if column.kind != "ints" and column.name not in _LEFT_OUT]
_OF_RUN = ("run_id", "platform", "machine", "simulated")
_TEXTS = ("campaign", "label", "site", "machine", "started", "ended", "mpi_impl", "mpi_version", "os", "parameter")
_FILED = ("user", "contributor", "licence", "notes", "filed")
_ROW_GROUP = 16_384


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The runs of a store at one moment.

    Attributes
    ----------
    generation : Path or None
        The folder of the index.
    indexed : frozenset of str
        Ids of the runs in it.
    runs, points : pyarrow.Table
        Of the runs that are not in the index.
    gone : frozenset of str
        Ids in the index whose files are gone.
    problems : tuple of str
        Files that cannot be read, and why.
    """

    generation: Path | None
    indexed: frozenset[str]
    runs: pa.Table
    points: pa.Table
    gone: frozenset[str]
    problems: tuple[str, ...]


def snapshot(folder: StoreFolder, before: Snapshot | None = None) -> Snapshot:
    """Return the runs that are there now; `before` saves reading again what it has."""
    there = set(folder.run_ids())
    generation, indexed = _newest(folder)
    if before is not None and before.generation == generation and _ids(before.runs) | before.indexed == there:
        return before
    runs, points, problems = _read_again(folder, there - indexed, before)
    if len(runs) > max(_FRESH_WRITTEN, len(indexed) // 8) and not folder.readonly:
        with contextlib.suppress(OSError):
            generation, indexed = _written(folder, generation, there, runs, points)
            runs, points = runs.slice(0, 0), points.slice(0, 0)
    return Snapshot(generation, indexed, runs, points, indexed - there, problems)


def _read_again(
    folder: StoreFolder, missing: set[str], before: Snapshot | None
) -> tuple[pa.Table, pa.Table, tuple[str, ...]]:
    """Return what `_read` does, without reading again what was read before: files do not change."""
    import pyarrow as pa

    known = _ids(before.runs) & missing if before is not None else set()
    runs, points, problems = _read(folder, sorted(missing - known))
    if before is None or not known:
        return runs, points, problems
    kept = (_only(before.runs, known), _only(before.points, known))
    return pa.concat_tables([kept[0], runs]), pa.concat_tables([kept[1], points]), problems


def rebuild(folder: StoreFolder) -> Snapshot:
    """Return the runs after the index was made anew from their files."""
    folder.require_writable()
    there = set(folder.run_ids())
    shutil.rmtree(folder.path / "index", ignore_errors=True)
    runs, points, problems = _read(folder, sorted(there))
    generation, indexed = _written(folder, None, there, runs, points)
    return Snapshot(generation, indexed, runs.slice(0, 0), points.slice(0, 0), frozenset(), problems)


def _ids(table: pa.Table) -> set[str]:
    return set(table["run_id"].to_pylist())


def _newest(folder: StoreFolder) -> tuple[Path | None, frozenset[str]]:
    """Return the newest index that can be read, and the runs in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with os.scandir(folder.path / "index") as entries:
            dated = sorted(((entry.stat().st_mtime, entry.path) for entry in entries if entry.is_dir()), reverse=True)
    except FileNotFoundError:
        return None, frozenset()
    for _, path in dated:
        with contextlib.suppress(pa.ArrowException, OSError, KeyError):
            file = pq.ParquetFile(Path(path) / RUNS)
            if (file.schema_arrow.metadata or {}).get(b"index") == _version() and (Path(path) / POINTS).is_file():
                return Path(path), frozenset(file.read(columns=["run_id"])["run_id"].to_pylist())
    return None, frozenset()


def _version() -> bytes:
    return f"2.{SCHEMA_VERSION}".encode()


def _read(folder: StoreFolder, run_ids: Iterable[str]) -> tuple[pa.Table, pa.Table, tuple[str, ...]]:
    """Return what the index would hold of runs: a table of runs, one of measurements, and what cannot be read."""
    import pyarrow as pa

    rows, points, problems = [], [], []
    for run_id in run_ids:
        path = folder.file_of(run_id)
        try:
            record, table = decoded(path, path.name, _INDEXED)
        except FileNotFoundError:
            continue
        except DataError as error:
            problems.append(str(error))
            continue
        row = _row(run_id, record, table)
        rows.append(row)
        points.append(_with_run(row, table))
    runs = pa.Table.from_pylist(rows, schema=_runs_schema())
    fields = [pa.field(name, _kind_of_run(name)) for name in _OF_RUN] + _indexed_fields()
    empty = with_facts(pa.schema(fields).empty_table())
    return runs, pa.concat_tables([empty, *points]), tuple(problems)


def _indexed_fields() -> list[Any]:
    schema = arrow_schema()
    return [schema.field(name).with_nullable(True) for name in _INDEXED]


def _kind_of_run(name: str) -> Any:
    import pyarrow as pa

    return pa.bool_() if name == "simulated" else pa.string()


def _with_run(row: dict[str, Any], table: pa.Table) -> pa.Table:
    import pyarrow as pa

    columns = [pa.repeat(pa.scalar(row[name], _kind_of_run(name)), len(table)) for name in _OF_RUN]
    fields = [pa.field(name, _kind_of_run(name)) for name in _OF_RUN]
    arrays = [*columns, *(table[name] for name in _INDEXED)]
    return with_facts(pa.table(arrays, schema=pa.schema(fields + _indexed_fields())))


def _row(run_id: str, record: dict[str, Any], table: pa.Table) -> dict[str, Any]:
    import pyarrow.compute as pc

    measured, filing = record["measured"], record["filing"]
    return {
        "run_id": run_id,
        "platform": platform_of(measured),
        "simulated": bool(measured.get("simulated")),
        "nodes": measured.get("nodes"),
        "processes_per_node": measured.get("processes_per_node"),
        "complete": all(launch.get("complete", True) for launch in measured.get("launches", [])),
        "suites": len(pc.unique(table["suite"])),
        "measurements": len(table),
        "repetitions": pc.sum(table["n"]).as_py() or 0,
        **{name: str(measured.get(name, "")) for name in _TEXTS},
        **{name: str(filing.get(name, "")) for name in _FILED},
        "record": canonical({"measured": measured, "filing": filing}),
    }


def _runs_schema() -> pa.Schema:
    import pyarrow as pa

    wholes = ("nodes", "processes_per_node", "suites", "measurements", "repetitions")
    return pa.schema(
        [
            *((name, pa.string()) for name in ("run_id", "platform")),
            *((name, pa.string()) for name in (*_TEXTS, *_FILED)),
            *((name, pa.bool_()) for name in ("simulated", "complete")),
            *((name, pa.int64()) for name in wholes),
            ("record", pa.string()),
        ]
    )


def _written(
    folder: StoreFolder, generation: Path | None, there: set[str], runs: pa.Table, points: pa.Table
) -> tuple[Path, frozenset[str]]:
    """Return a new index of what an older one has and of further runs, and the runs in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if generation is not None:
        old_runs = pq.read_table(generation / RUNS, use_threads=False).cast(runs.schema)
        old_points = pq.read_table(generation / POINTS, use_threads=False).cast(points.schema)
        runs = pa.concat_tables([_only(old_runs, there), runs])
        points = pa.concat_tables([_only(old_points, there), points])
    ids = _ids(runs)
    name = hashlib.sha256(_version() + "".join(sorted(ids)).encode()).hexdigest()[:16]
    target = folder.path / "index" / name
    _write(folder, target, runs, points)
    _drop_old(target)
    return target, frozenset(ids)


def _only(table: pa.Table, ids: set[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["run_id"], pa.array(sorted(ids))))


def _write(folder: StoreFolder, target: Path, runs: pa.Table, points: pa.Table) -> None:
    """Write both files into a folder that appears at once; another process with the same runs writes the same."""
    import pyarrow.parquet as pq

    scratch = folder.scratch()
    try:
        pq.write_table(runs.replace_schema_metadata({b"index": _version()}), scratch / RUNS, compression="zstd")
        ordered = points.sort_by([(key, "ascending") for key in ("op", "metric", "platform", "run_id", "suite", "x")])
        texts = [field.name for field in ordered.schema if str(field.type) == "string"]
        pq.write_table(
            ordered.replace_schema_metadata({b"index": _version()}),
            scratch / POINTS,
            compression="zstd",
            use_dictionary=texts,
            row_group_size=_ROW_GROUP,
        )
        target.parent.mkdir(exist_ok=True)
        try:
            scratch.rename(target)
        except OSError:
            if not (target / POINTS).is_file():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _drop_old(current: Path) -> None:
    with contextlib.suppress(OSError):
        for other in current.parent.iterdir():
            if other != current and time.time() - other.stat().st_mtime > _KEPT_S:
                shutil.rmtree(other, ignore_errors=True)
