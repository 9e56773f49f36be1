"""Reads one run file of sk_neighbours: strict about what stands there, lenient about where it stops."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import RunFileError
from scalkit.measure.record_lines import AGAIN, before_end, records_of
from scalkit.measure.records import Env, Record
from scalkit.measure.runfile import EXPERIMENTS

_HEAD = 4096
_TEXTS = ("op", "datatype", "topology", "order", "constructor")
_NUMBERS = ("experiment", "size_B", "work", "n_dim", "n_finite", "radius", "reorder")


@dataclass(frozen=True)
class ExperimentFile:
    """The content of one run file.

    `cells`: one for each experiment that was measured: its record.
    `complete`: whether the ``end`` record is there.
    `notes`: what is missing, a sentence each.
    """

    env: Env
    cells: tuple[Mapping[str, Any], ...]
    complete: bool
    notes: tuple[str, ...]


def is_experiment_file(path: Path) -> bool:
    """Return whether a file begins as a run file of sk_neighbours does."""
    try:
        with _opened(path) as stream:
            head = stream.read(_HEAD)
    except (OSError, EOFError):
        return False
    return head.lstrip()[:1] == b"{" and b'"rec":"env"' in head and f'"program":"{EXPERIMENTS}"'.encode() in head


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def read_experiment_file(path: Path) -> ExperimentFile:
    """Return the content of a run file of sk_neighbours (docs/file-formats.md).

    Raises RunFileError, naming file and line, if a line is malformed, missing or contradicts another, or the schema is
    newer.
    """
    try:
        with _opened(path) as stream:
            content = stream.read()
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunFileError(f"cannot read {path}: {reason}; check the path and its permissions.") from error
    records = records_of(path.name, content)
    if not records or records[0].fields["rec"] != "env":
        raise RunFileError(f"{path.name}, line 1: the first record is not 'env'. {AGAIN}")
    env = Env.of(records[0])
    cells: list[Mapping[str, Any]] = []
    notes: list[str] = []
    for record in before_end(records):
        match record.fields["rec"]:
            case "cell":
                cells.append(_cell(record, env.p))
            case "skip":
                notes.append(_skipped(record, path))
    complete = records[-1].fields["rec"] == "end"
    if not complete:
        planned = records[0].whole("experiments", 0)
        notes.append(f"{path.name} is truncated: {len(cells)} of {planned} experiments were measured, and count")
    return ExperimentFile(env, tuple(cells), complete, tuple(notes))


def _cell(record: Record, p: int) -> Mapping[str, Any]:
    """Return the fields of an experiment, checked."""
    fields = record.fields
    if fields.get("p") != p:
        raise record.error(f"p is {fields.get('p')!r:.40}, but the launch had {p} processes (line 1). {AGAIN}")
    for key in _TEXTS:
        if key in fields or key == "op":
            record.name(key)
    for key in _NUMBERS:
        if key in fields:
            record.whole(key)
    n = record.whole("n", least=1)
    for key in ("t_ns", "local_ns"):
        values = fields.get(key)
        if not isinstance(values, list) or len(values) != n:
            raise record.error(f"{key} does not have the {n} values that n says. {AGAIN}")
        if set(map(type, values)) != {int} or min(values) < 1 or max(values) >= 2**63:
            record.wholes(key, least=1)
            raise record.error(f"{key} holds something else than whole numbers. {AGAIN}")
    record.wholes("late_at", [], most=n - 1)
    record.number("foreign_load", 0.0)
    return fields


def _skipped(record: Record, path: Path) -> str:
    which = f", experiment {record.whole('experiment')}" if "experiment" in record.fields else ""
    return f"{path.name}: {record.name('op')}{which} was left out: {record.text('why', 'for no reason given')}"


def short_library(text: str) -> str:
    """Return what distinguishes MPI libraries of the text in which one says its version: its first line, without words."""
    first = text.strip().partition("\n")[0].partition(",")[0]
    return " ".join(first.replace("Version:", "").replace("for Linux* OS", "").split())
