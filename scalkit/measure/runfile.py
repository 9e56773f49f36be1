"""Reads one run file: strict about what stands there, lenient about where it stops."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scalkit.errors import RunFileError
from scalkit.measure.pattern_records import Trip, Units
from scalkit.measure.records import Cell, Count, Env, Memory, Record, Region, Skip

AGAIN = "Restore the file or measure again."


def records_of(name: str, content: bytes) -> list[Record]:
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
            raise RunFileError(f"{name}, line {number}: {reason}; each line must be one record. {AGAIN}") from None
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


def before_end(records: list[Record]) -> Iterator[Record]:
    """Return the records between the first and the ``end`` record, which must be the last and count them.

    Older files do not say how many there are; in the file of a program that was stopped the ``end`` record is missing.
    """
    for before, record in enumerate(records[1:], 1):
        if record.fields["rec"] != "end":
            yield record
            continue
        said = record.whole("records", before)
        if said != before:
            raise record.error(f"the 'end' record counts {said} records before it, here are {before}. {AGAIN}")
        if record is not records[-1]:
            raise records[before + 1].error(f"there is more after the 'end' record. {AGAIN}")


EXPERIMENTS = "sk_neighbours"
"""The program whose run files hold experiments in place of series."""


@dataclass(frozen=True)
class RunFile:
    """The content of one run file.

    `sha256`: of the bytes.
    `cells`: in the order of the file.
    `complete`: whether the ``end`` record is there; without it the launch was killed, and what stands before it counts.
    `notes`: what was ignored.
    `units`: of a master and its workers.
    `trips`: of messages.
    `regions`: of a program.
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
    regions: tuple[Region, ...] = ()


def is_run_file(head: bytes) -> bool:
    """Return whether a file that begins with `head` looks like a run file."""
    return head.lstrip()[:1] == b"{" and b'"rec"' in head


def read_run_file(path: Path) -> RunFile:
    """Return the content of a run file (docs/file-formats.md).

    Raises RunFileError, naming file and line, if a line is malformed, missing or contradicts another, or the schema is
    newer.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunFileError(f"cannot read {path}: {error.strerror or error}; check the path and its permissions.") from error
    records = records_of(path.name, content)
    if not records:
        raise RunFileError(f"{path.name} has no complete line: the launch died at once. Delete the file or measure again.")
    if records[0].fields["rec"] != "env":
        raise records[0].error(f"the first record is {records[0].fields['rec']!r}; 'env' is needed. {AGAIN}")
    if records[0].fields.get("program") == EXPERIMENTS:
        raise RunFileError(
            f"{path.name} holds experiments on neighbourhoods: read it with scalkit.formats.experiments.read_experiments, and "
            "judge it with 'scalkit guidelines'."
        )
    return _content(path, hashlib.sha256(content).hexdigest(), records)


_KINDS: dict[str, tuple[Any, Callable[[Any], tuple[Any, ...]], str]] = {
    "cell": (Cell, lambda one: (one.op, one.number), "pass {1} of {0!r}"),
    "mem": (Memory, lambda one: (one.op,), "the memory of {0!r}"),
    "count": (Count, lambda one: (one.op,), "the count of {0!r}"),
    "units": (Units, lambda one: (one.op, one.size_bytes, one.number), "pass {2} of {0!r} with units of {1} B"),
    "region": (Region, lambda one: (one.op,), "the region {0!r}"),
    "trip": (Trip, lambda one: (one.op, one.size_bytes, one.number, one.value), "pass {2} of {0!r} of {1} B"),
}
"""Of each record that holds measurements: its class, what tells two of them apart, and its name in messages."""


def _content(path: Path, sha256: str, records: list[Record]) -> RunFile:
    env = Env.of(records[0])
    if env.virtual:  # nothing disturbs a virtual clock
        records = [one.without("foreign_load") for one in records]
    found: dict[str, dict[tuple[Any, ...], Any]] = {kind: {} for kind in _KINDS}
    skips: list[Skip] = []
    unknown: Counter[str] = Counter()
    for record in before_end(records):
        kind = record.fields["rec"]
        if kind in _KINDS:
            make, key_of, what = _KINDS[kind]
            one = make.of(record)
            _require_p(record, env)
            key = key_of(one)
            if key in found[kind]:
                raise record.error(f"{what.format(*key)} stands there a second time. {AGAIN}")
            found[kind][key] = one
        elif kind == "skip":
            skips.append(Skip.of(record))
        elif kind == "env":
            raise record.error(f"a second 'env' record; a run file is one launch. {AGAIN}")
        else:
            unknown[kind] += 1
    notes = [f"{path.name}: ignored {n} records of the unknown kind {kind!r}" for kind, n in sorted(unknown.items())]
    notes += [f"{path.name}: {skip.op} was skipped at {env.p} processes: {skip.why}" for skip in skips]
    cells, memories, counts, units, regions, trips = (tuple(found[kind].values()) for kind in _KINDS)
    complete = records[-1].fields["rec"] == "end"
    return RunFile(path, sha256, env, cells, memories, tuple(skips), complete, tuple(notes), counts, units, trips, regions)


def _require_p(record: Record, env: Env) -> None:
    p = record.whole("p", least=1)
    if p != env.p:
        raise record.error(f"p is {p}, but the launch had {env.p} processes (line 1). {AGAIN}")
