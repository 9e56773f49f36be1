"""The segments of an index: few files for many runs, joined with others of their size while they are small."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.store.folder import StoreFolder
from scalkit.store.runs.columns import SCHEMA_VERSION
from scalkit.store.runs.content import canonical

if TYPE_CHECKING:
    import pyarrow as pa

RUNS, POINTS = "runs.parquet", "points.parquet"

FULL = 1024
"""A segment of so many runs is never joined with others, so that filing a run writes at most some of these again: 40 MB each for
runs of 800 measurements."""

_KEPT_S = 300.0
"""In s; a replaced segment stays so long for processes that still read it."""

_ROW_GROUP = 16_384
_LIST, _UNDONE, _OF = "segments.json", "new-", "store.txt"
"""Which segments there are; what the name of one that is being written begins with; the file that names the store."""

_NAME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Segment:
    """A folder with the summaries of some runs: one file of runs, one of measurements.

    `stamps`: ids of the runs, and the stamps that their files had.
    """

    path: Path
    stamps: Mapping[str, str] = field(compare=False, repr=False)

    def gone(self, there: Mapping[str, str]) -> frozenset[str]:
        """Return the runs whose files are gone or others."""
        return frozenset(run_id for run_id, stamp in self.stamps.items() if there.get(run_id) != stamp)


def segments_of(index: Path, known: Sequence[Segment] = ()) -> tuple[Segment, ...]:
    """Return the segments of an index that can be read; `known` ones are not read again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        listed = json.loads((index / _LIST).read_bytes())
        names = [str(name) for name in listed["segments"]] if listed["version"] == _version() else []
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    before = {one.path: one for one in known}
    found = []
    for path in (index / name for name in names if _NAME.fullmatch(name)):
        if path in before:
            found.append(before[path])
            continue
        with contextlib.suppress(pa.ArrowException, OSError, KeyError):
            table = pq.read_table(path / RUNS, columns=["run_id", "stamp"], use_threads=False)
            if (path / POINTS).is_file():
                found.append(Segment(path, stamps_of(table)))
    return tuple(found)


def drop_damaged(index: Path) -> None:
    """Delete the segments of an index that cannot be read to the end, so that their runs are read again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for one in segments_of(index):
        try:
            for name in (RUNS, POINTS):
                pq.read_table(one.path / name, use_threads=False)
        except (pa.ArrowException, OSError):
            shutil.rmtree(one.path, ignore_errors=True)


def add_segment(
    folder: StoreFolder, segments: Sequence[Segment], there: Mapping[str, str], runs: pa.Table, points: pa.Table
) -> tuple[Segment, ...]:
    """Return the segments of an index after runs were added: as one of their own, or joined with others of their size.

    `there`: ids and stamps of all runs of the store; what is gone is left out of what is written.
    Raises OSError, pa.ArrowException if that is not possible.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kept, joined = _kept_and_joined(segments, there, len(runs))
    tables = {RUNS: [runs], POINTS: [points]}
    for one in joined:
        valid = one.stamps.keys() - one.gone(there)
        for name, parts in tables.items():
            parts.append(only(pq.read_table(one.path / name, use_threads=False), valid).cast(parts[0].schema))
    runs, points = pa.concat_tables(tables[RUNS]), pa.concat_tables(tables[POINTS])
    made = Segment(folder.index / secrets.token_hex(8), stamps_of(runs))
    _write(made.path, runs, points)
    found = (*kept, made)
    part = folder.index / f"{_LIST}-{secrets.token_hex(8)}"
    try:
        part.write_text(canonical({"version": _version(), "segments": [one.path.name for one in found]}), encoding="utf-8")
        part.replace(folder.index / _LIST)
    finally:
        part.unlink(missing_ok=True)
    (folder.index / _OF).write_bytes(os.fsencode(folder.path.resolve()))
    _drop_old(folder.index, joined, found)
    return found


def _kept_and_joined(segments: Sequence[Segment], there: Mapping[str, str], n_new: int) -> tuple[list[Segment], list[Segment]]:
    """Return the segments that stay as they are, and those that become one with so many new runs."""
    alive = {one.path: len(one.stamps) - len(one.gone(there)) for one in segments}
    some = [one for one in segments if alive[one.path]]
    # Where most runs of a segment are gone, it is written again without them.
    small = [one for one in some if alive[one.path] < FULL or 2 * alive[one.path] < len(one.stamps)]
    joined: list[Segment] = []
    for one in sorted(small, key=lambda one: alive[one.path]):
        if n_new + sum(alive[before.path] for before in joined) < FULL:
            joined.append(one)
    return [one for one in some if one not in joined], joined


def _write(target: Path, runs: pa.Table, points: pa.Table) -> None:
    """Write both files into a folder that appears at once."""
    import pyarrow.parquet as pq

    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = Path(tempfile.mkdtemp(prefix=_UNDONE, dir=target.parent))
    try:
        pq.write_table(runs, scratch / RUNS, compression="zstd")
        ordered = points.sort_by([(key, "ascending") for key in ("op", "metric", "platform", "run_id", "suite", "x")])
        texts = [field.name for field in ordered.schema if str(field.type) == "string"]
        pq.write_table(ordered, scratch / POINTS, compression="zstd", use_dictionary=texts, row_group_size=_ROW_GROUP)
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _drop_old(index: Path, joined: Sequence[Segment], found: Sequence[Segment]) -> None:
    """Delete what was replaced, or left by who was killed, some time ago, and the indices of stores that are gone."""
    with contextlib.suppress(OSError):
        for one in joined:
            os.utime(one.path)  # from now on it is only kept for who reads it
        names = {_LIST, _OF, *(one.path.name for one in found)}
        for other in index.iterdir():
            if other.name not in names and time.time() - other.stat().st_mtime > _KEPT_S:
                shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)
        for of in index.parent.glob(f"*/{_OF}"):
            if (path := of.read_bytes()) and not os.path.lexists(path):  # empty: it is being written
                shutil.rmtree(of.parent, ignore_errors=True)


def stamps_of(runs: pa.Table) -> dict[str, str]:
    """Return the ids of runs, and the stamps of their files."""
    return dict(zip(runs["run_id"].to_pylist(), runs["stamp"].to_pylist(), strict=True))


def only(table: pa.Table, ids: Iterable[str]) -> pa.Table:
    """Return the rows of some runs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["run_id"], pa.array(sorted(ids), pa.string())))


def _version() -> str:
    return f"9.{SCHEMA_VERSION}"
