"""Reads one run file: strict about what stands there, lenient about where it stops."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from scalkit.errors import RunFileError
from scalkit.measure.experiment_file import PROGRAM
from scalkit.measure.pattern_records import Trip, Units
from scalkit.measure.records import Cell, Count, Env, Memory, Record, Skip

__all__ = ["RunFile", "is_run_file", "read_run_file"]

K = TypeVar("K")
V = TypeVar("V")

_AGAIN = "Restore the file or measure again."


@dataclass(frozen=True)
class RunFile:
    """The content of one run file.

    Attributes
    ----------
    path : Path
    sha256 : str
        Of the bytes.
    env : Env
    cells : tuple of Cell
        In the order of the file.
    memories : tuple of Memory
    skips : tuple of Skip
    complete : bool
        Whether the ``end`` record is there; without it the launch was killed, and what stands before it counts.
    notes : tuple of str
        What was ignored.
    counts : tuple of Count
    units : tuple of Units
        Of a master and its workers.
    trips : tuple of Trip
        Of messages.
    """

    path: Path
    sha256: str
    env: Env
    cells: tuple[Cell, ...]
    memories: tuple[Memory, ...]
    skips: tuple[Skip, ...]
    complete: bool
    notes: tuple[str, ...]
    counts: tuple[Count, ...] = ()
    units: tuple[Units, ...] = ()
    trips: tuple[Trip, ...] = ()


def is_run_file(head: bytes) -> bool:
    """Return whether a file that begins with `head` looks like a run file."""
    return head.lstrip()[:1] == b"{" and b'"rec"' in head


def read_run_file(path: Path) -> RunFile:
    """Return the content of a run file (docs/file-formats.md).

    Parameters
    ----------
    path : Path

    Raises
    ------
    RunFileError
        Naming file and line, if a line is malformed, missing or contradicts another, or the schema is newer.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunFileError(
            f"cannot read {path}: {error.strerror or error}; check the path and its permissions."
        ) from error
    records = _records(path.name, content)
    if not records:
        raise RunFileError(
            f"{path.name} has no complete line: the launch died at once. Delete the file or measure again."
        )
    if records[0].fields["rec"] != "env":
        raise records[0].error(f"the first record is {records[0].fields['rec']!r}; 'env' is needed. {_AGAIN}")
    if records[0].fields.get("program") == PROGRAM:
        raise RunFileError(
            f"{path.name} holds experiments on neighbourhoods: read it with scalkit.measure.read_experiments, and judge it with "
            "'scalkit guidelines'."
        )
    return _content(path, hashlib.sha256(content).hexdigest(), records)


def _records(name: str, content: bytes) -> list[Record]:
    """Return the lines; a last line without its newline that cannot be read is where a killed program stopped."""
    records = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(Record(name, number, _parsed(line)))
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                break
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).splitlines()[0]
            raise RunFileError(f"{name}, line {number}: {reason}; each line must be one record. {_AGAIN}") from None
    return records


def _parsed(line: bytes) -> dict[str, Any]:
    value = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    if not isinstance(value, dict) or not isinstance(value.get("rec"), str):
        raise ValueError("no object with a text 'rec'")
    if b"\\u" in line and not _is_unicode(value):
        raise ValueError("half a character (a lone surrogate such as \\ud800) is not allowed")
    return value


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not allowed")


def _content(path: Path, sha256: str, records: list[Record]) -> RunFile:
    env = Env.of(records[0])
    if env.virtual:  # nothing disturbs a virtual clock
        records = [one.without("foreign_load") for one in records]
    cells: dict[tuple[str, int], Cell] = {}
    memories: dict[str, Memory] = {}
    counts: dict[str, Count] = {}
    units: dict[tuple[str, int, int], Units] = {}
    trips: dict[tuple[str, int, int, int], Trip] = {}
    skips: list[Skip] = []
    unknown: Counter[str] = Counter()
    complete = False
    for before, record in enumerate(records[1:], 1):
        if complete:
            raise record.error(f"there is more after the 'end' record. {_AGAIN}")
        match record.fields["rec"]:
            case "cell":
                cell = Cell.of(record)
                _require_p(record, env)
                _add(record, cells, (cell.op, cell.number), cell, f"pass {cell.number} of {cell.op!r}")
            case "mem":
                memory = Memory.of(record)
                _require_p(record, env)
                _add(record, memories, memory.op, memory, f"the memory of {memory.op!r}")
            case "count":
                count = Count.of(record)
                _require_p(record, env)
                _add(record, counts, count.op, count, f"the count of {count.op!r}")
            case "units":
                some = Units.of(record)
                _require_p(record, env)
                what = f"pass {some.number} of {some.op!r} with units of {some.size_bytes} B"
                _add(record, units, (some.op, some.size_bytes, some.number), some, what)
            case "trip":
                trip = Trip.of(record)
                _require_p(record, env)
                what = f"pass {trip.number} of {trip.op!r} of {trip.size_bytes} B"
                _add(record, trips, (trip.op, trip.size_bytes, trip.value, trip.number), trip, what)
            case "skip":
                skips.append(Skip.of(record))
            case "end":
                _require_count(record, before)
                complete = True
            case "env":
                raise record.error(f"a second 'env' record; a run file is one launch. {_AGAIN}")
            case other:
                unknown[other] += 1
    notes = [f"{path.name}: ignored {n} records of the unknown kind {kind!r}" for kind, n in sorted(unknown.items())]
    notes += [f"{path.name}: {skip.op} was skipped at {env.p} processes: {skip.why}" for skip in skips]
    return RunFile(
        path,
        sha256,
        env,
        tuple(cells.values()),
        tuple(memories.values()),
        tuple(skips),
        complete,
        tuple(notes),
        tuple(counts.values()),
        tuple(units.values()),
        tuple(trips.values()),
    )


def _require_count(end: Record, n_before: int) -> None:
    """Return nothing if the file has as many records before its last as that one says; older files do not say it."""
    said = end.whole("records", n_before)
    if said != n_before:
        raise end.error(f"the 'end' record counts {said} records before it, here are {n_before}. {_AGAIN}")


def _require_p(record: Record, env: Env) -> None:
    p = record.whole("p", least=1)
    if p != env.p:
        raise record.error(f"p is {p}, but the launch had {env.p} processes (line 1). {_AGAIN}")


def _add(record: Record, into: dict[K, V], key: K, value: V, what: str) -> None:
    if key in into:
        raise record.error(f"{what} stands there a second time. {_AGAIN}")
    into[key] = value
