"""The index of a store: the summaries of all measurements in two files of this user's cache, computed from the repetitions.

An index that lies in a store is never read: whoever sent it may have changed it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.store.folder import StoreFolder
from scalkit.store.runs.columns import COLUMNS, SCHEMA_VERSION, arrow_schema
from scalkit.store.runs.content import trusted
from scalkit.store.runs.facts import with_facts
from scalkit.store.runs.marks import MARKS, marks_of
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
_UNDONE, _OF = "new-", "store.txt"
"""What the name of an index that is being written begins with; the file that names the store of an index."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The runs of a store at one moment.

    `generation`: the folder of the index.
    `indexed`, mapping of str to str: ids of the runs in it, and the stamps of their files.
    `runs`, `points`: of the runs that are not in the index. `gone`: ids in the index whose files are gone or others.
    `problems`: files that cannot be read, and why.
    """

    generation: Path | None
    indexed: Mapping[str, str]
    runs: pa.Table
    points: pa.Table
    gone: frozenset[str]
    problems: tuple[str, ...]


def snapshot(folder: StoreFolder, before: Snapshot | None = None) -> Snapshot:
    """Return the runs that are there now; `before` saves reading again what it has."""
    there = folder.stamps()
    generation, indexed = _newest(folder)
    if before is not None and before.generation == generation and {**before.indexed, **_stamps(before.runs)} == there:
        return before
    missing = {run_id: stamp for run_id, stamp in there.items() if indexed.get(run_id) != stamp}
    runs, points, problems = _read_again(folder, missing, before)
    if len(runs) > max(_FRESH_WRITTEN, len(indexed) // 8) and folder.archive is None:
        with contextlib.suppress(OSError):
            generation, indexed = _written(folder, generation, there, runs, points)
            runs, points = runs.slice(0, 0), points.slice(0, 0)
    gone = frozenset(run_id for run_id, stamp in indexed.items() if there.get(run_id) != stamp)
    return Snapshot(generation, indexed, runs, points, gone, problems)


def _read_again(
    folder: StoreFolder, missing: Mapping[str, str], before: Snapshot | None
) -> tuple[pa.Table, pa.Table, tuple[str, ...]]:
    """Return what `_read` does, without reading again what was read before: files do not change."""
    import pyarrow as pa

    stamps = _stamps(before.runs) if before is not None else {}
    known = {run_id for run_id, stamp in stamps.items() if missing.get(run_id) == stamp}
    runs, points, problems = _read(folder, {run_id: one for run_id, one in missing.items() if run_id not in known})
    if before is None or not known:
        return runs, points, problems
    kept = (_only(before.runs, known), _only(before.points, known))
    return pa.concat_tables([kept[0], runs]), pa.concat_tables([kept[1], points]), problems


def rebuild(folder: StoreFolder) -> Snapshot:
    """Return the runs after the index was made anew from their files."""
    folder.require_writable()
    shutil.rmtree(folder.index, ignore_errors=True)
    there = folder.stamps()
    runs, points, problems = _read(folder, there)
    generation, indexed = _written(folder, None, there, runs, points)
    return Snapshot(generation, indexed, runs.slice(0, 0), points.slice(0, 0), frozenset(), problems)


def _stamps(runs: pa.Table) -> dict[str, str]:
    return dict(zip(runs["run_id"].to_pylist(), runs["stamp"].to_pylist(), strict=True))


def _newest(folder: StoreFolder) -> tuple[Path | None, dict[str, str]]:
    """Return the newest index that can be read, and the runs in it with their stamps."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with os.scandir(folder.index) as entries:
            done = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(_UNDONE)]
            dated = sorted(((entry.stat().st_mtime, entry.path) for entry in done), reverse=True)
    except OSError:
        return None, {}
    for _, path in dated:
        with contextlib.suppress(pa.ArrowException, OSError, KeyError):
            file = pq.ParquetFile(Path(path) / RUNS)
            if (file.schema_arrow.metadata or {}).get(b"index") == _version() and (Path(path) / POINTS).is_file():
                return Path(path), _stamps(file.read(columns=["run_id", "stamp"]))
    return None, {}


def _version() -> bytes:
    return f"4.{SCHEMA_VERSION}".encode()


def _read(folder: StoreFolder, stamps: Mapping[str, str]) -> tuple[pa.Table, pa.Table, tuple[str, ...]]:
    """Return what the index would hold of runs: a table of runs, one of measurements, and what cannot be read."""
    import pyarrow as pa

    rows, points, problems = [], [], []
    for run_id in sorted(stamps):
        try:
            record, table = trusted(folder.file_of(run_id), run_id)
        except FileNotFoundError:
            continue
        except DataError as error:
            problems.append(str(error))
            continue
        row = {**_row(run_id, record, table), "stamp": stamps[run_id]}
        rows.append(row)
        points.append(_with_run(row, table))
    runs = pa.Table.from_pylist(rows, schema=_runs_schema())
    fields = [pa.field(name, _kind_of_run(name)) for name in _OF_RUN] + _indexed_fields()
    empty = _with_marks(with_facts(pa.schema(fields).empty_table()), {name: [] for name in MARKS})
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
    found = with_facts(pa.table(arrays, schema=pa.schema(fields + _indexed_fields())))
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
            *((name, pa.string()) for name in ("record", "stamp")),
        ]
    )


def _written(
    folder: StoreFolder, generation: Path | None, there: Mapping[str, str], runs: pa.Table, points: pa.Table
) -> tuple[Path, dict[str, str]]:
    """Return a new index of what an older one has and of further runs, and the runs in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if generation is not None:
        old_runs = pq.read_table(generation / RUNS, use_threads=False).cast(runs.schema)
        old_points = pq.read_table(generation / POINTS, use_threads=False).cast(points.schema)
        same = {run_id for run_id, stamp in _stamps(old_runs).items() if there.get(run_id) == stamp}
        runs = pa.concat_tables([_only(old_runs, same), runs])
        points = pa.concat_tables([_only(old_points, same), points])
    stamps = _stamps(runs)
    name = hashlib.sha256(_version() + canonical(stamps).encode()).hexdigest()[:16]
    target = folder.index / name
    _write(target, runs, points)
    (folder.index / _OF).write_bytes(os.fsencode(folder.path.resolve()))
    _drop_old(target)
    return target, stamps


def _only(table: pa.Table, ids: Iterable[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["run_id"], pa.array(sorted(ids), pa.string())))


def _write(target: Path, runs: pa.Table, points: pa.Table) -> None:
    """Write both files into a folder that appears at once; another process with the same runs writes the same."""
    import pyarrow.parquet as pq

    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = Path(tempfile.mkdtemp(prefix=_UNDONE, dir=target.parent))
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
        try:
            scratch.rename(target)
        except OSError:
            if not (target / POINTS).is_file():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _drop_old(current: Path) -> None:
    """Delete what this index replaced, and the indices of stores that are gone."""
    with contextlib.suppress(OSError):
        for other in current.parent.iterdir():
            if other != current and other.is_dir() and time.time() - other.stat().st_mtime > _KEPT_S:
                shutil.rmtree(other, ignore_errors=True)
        for of in current.parents[1].glob(f"*/{_OF}"):
            if (path := of.read_bytes()) and not os.path.lexists(path):  # empty: it is being written
                shutil.rmtree(of.parent, ignore_errors=True)
