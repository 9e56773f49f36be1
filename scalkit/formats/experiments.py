"""Run files of sk_neighbours: experiments on neighbourhoods as a table for `scalkit.guidelines.assess`."""

import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from scalkit.errors import DataError, RunFileError
from scalkit.measure.records import Env, Record
from scalkit.measure.runfile import AGAIN, EXPERIMENTS, before_end, records_of
from scalkit.measure.virtual_time import clock_attributes
from scalkit.support.arrays import Floats
from scalkit.support.bundled import here_or_bundled
from scalkit.support.files import require_own_files

_HEAD = 4096
_TEXT_FIELDS = ("op", "datatype", "topology", "order", "constructor")
_NUMBER_FIELDS = ("experiment", "size_B", "work", "n_dim", "n_finite", "radius", "reorder")


@dataclass(frozen=True)
class ExperimentFile:
    """The content of one run file.

    `cells`: one for each experiment that was measured: its record.
    `notes`: what is missing, a sentence each.
    """

    env: Env
    cells: tuple[Mapping[str, Any], ...]
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
    if records[-1].fields["rec"] != "end":
        planned = records[0].whole("experiments", 0)
        notes.append(f"{path.name} is truncated: {len(cells)} of {planned} experiments were measured, and count")
    return ExperimentFile(env, tuple(cells), tuple(notes))


def _cell(record: Record, p: int) -> Mapping[str, Any]:
    """Return the fields of an experiment, checked."""
    fields = record.fields
    if fields.get("p") != p:
        raise record.error(f"p is {fields.get('p')!r:.40}, but the launch had {p} processes (line 1). {AGAIN}")
    for key in _TEXT_FIELDS:
        if key in fields or key == "op":
            record.name(key)
    for key in _NUMBER_FIELDS:
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


Value = Literal["completion", "local"]
PathLike = str | os.PathLike[str]

_FILE = re.compile(r"\.jsonl(\.gz|\.part)?$")
_JOBS = "jobs"
"""The folder that jobs of a batch system measure into, before their files are collected."""

_LEAST_VALID = 5
"""With fewer repetitions than these, the flagged ones stay."""

_TEXTS = ("operation", "datatype", "topology", "order", "constructor")
_NUMBERS = ("size", "work", "n_dim", "n_finite", "radius", "reorder")


def holds_experiments(path: PathLike | Sequence[PathLike]) -> bool:
    """Return whether there are run files of sk_neighbours at a path, or below it."""
    return any(is_experiment_file(one) for one in _files(path))


def read_experiments(path: PathLike | Sequence[PathLike], *, value: Value = "completion") -> pd.DataFrame:
    """Return the measurements of neighbourhood campaigns, all run files at and below some paths.

    Repetitions that some process began too late are NaN, unless fewer than 5 would remain.

    `path`: folders, or run files; also compressed, ``.jsonl.gz``. Other run files are left out.
    `value`: from the common start to the end of the last process; or the longest that any process was inside the call.
    Returns: a row is one experiment in one run. Columns are ``operation``, ``datatype``, ``topology``, ``order``,
    ``constructor``, ``size`` [B], ``work``, ``n_dim``, ``n_finite``, ``radius``, ``reorder``, ``p``, ``library`` where there
    are several, ``run``, ``oversubscribed``, ``foreign_load``, and ``time``: an array of the repetitions in s. Parameters that
    an experiment does not have are missing. ``attrs`` has ``mpi_library``, ``host``, ``started``, ``simulated``, ``clock``
    and ``virtual`` if it was virtual, ``value``, ``units``, ``foreign_load`` (the mean share of the machine that others
    used), and ``notes``, a sentence each about what is missing or was left out.
    Raises RunFileError if a file is malformed; the text names file and line.
    Raises DataError if there is no such file.
    """
    if value not in ("completion", "local"):
        raise DataError(f"value is {value!r}; choose completion or local.")
    paths = [one for one in _files(path) if is_experiment_file(one)]
    if not paths:
        raise DataError(f"there are no run files of sk_neighbours at {_shown(path)}; name another folder, or measure.")
    files = [read_experiment_file(one) for one in paths]
    files = [file for file in files if file.cells]
    if not files:
        raise DataError(f"the run files at {_shown(path)} hold no measurements: all launches died early; measure again.")
    frame = _frame(files, "t_ns" if value == "completion" else "local_ns")
    notes = [note for file in files for note in file.notes] + list(_differences(frame))
    if frame["library"].nunique() == 1:
        frame = frame.drop(columns="library")
    frame.attrs = {**_facts(files), "value": value, "units": "s", "notes": notes}
    return frame


def _shown(path: object) -> str:
    return str(path) if isinstance(path, str | os.PathLike) else ", ".join(map(str, path))  # type: ignore[call-overload]


def _files(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """Return the run files at some paths, those that were interrupted only where no complete one stands beside them."""
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    found: list[Path] = []
    for one in map(here_or_bundled, map(Path, given)):
        if not one.exists():
            raise DataError(f"there are no measurements at {str(one)!r}; name a run folder or a run file.")
        found += sorted(_below(one)) if one.is_dir() else [one]
    names = set(found)
    return [one for one in found if not (one.suffix == ".part" and one.with_suffix("") in names)]


def _below(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != _JOBS)
        found = [one for one in files if _FILE.search(one)]
        require_own_files(Path(name), found, hard_links=True)
        yield from (Path(name) / one for one in found)


def _frame(files: Sequence[ExperimentFile], value: str) -> pd.DataFrame:
    """Return a row for each experiment of each file, with the columns that some experiment has."""
    rows = [(file, cell) for file in files for cell in file.cells]
    frame = pd.DataFrame([cell for _, cell in rows]).rename(columns={"op": "operation", "size_B": "size"})
    texts, numbers = ([name for name in names if name in frame] for names in (_TEXTS, _NUMBERS))
    frame = frame[[*texts, *numbers, "p", *(["foreign_load"] if "foreign_load" in frame else [])]]
    frame = frame.astype(dict.fromkeys(texts, "category") | dict.fromkeys(numbers, "Int64"))
    frame["library"] = pd.Categorical([short_library(file.env.mpi_library) for file, _ in rows])
    frame["oversubscribed"] = [file.env.oversubscribed for file, _ in rows]
    frame["run"] = [file.env.run_id for file, _ in rows]
    number = frame["run"].str.extract(r"-r(\d{1,6})$", expand=False)
    keys = [*texts, *numbers, "p", "library", "run"]
    if number.notna().all() and not frame.assign(run=number).duplicated(keys).any():
        frame["run"] = number.astype(np.int64)
    frame["time"] = [_times(cell, value) for _, cell in rows]
    return frame


def _times(cell: Mapping[str, Any], value: str) -> Floats:
    """Return the repetitions of an experiment in s, flagged ones as NaN."""
    times: Floats = np.array(cell[value]) * 1e-9
    late = cell.get("late_at", [])
    if late and len(times) - len(late) >= _LEAST_VALID:
        times[late] = np.nan
    return times


def _facts(files: Sequence[ExperimentFile]) -> dict[str, Any]:
    every = [cell for file in files if not file.env.virtual for cell in file.cells]
    loads = [cell["foreign_load"] for cell in every if "foreign_load" in cell]
    return {
        "mpi_library": "; ".join(sorted({short_library(file.env.mpi_library) for file in files} - {""})),
        "host": ", ".join(sorted({file.env.host for file in files} - {""})),
        "started": min((file.env.started for file in files if file.env.started), default=""),
        "simulated": any(file.env.simulated for file in files),
        **clock_attributes([file.env.virtual for file in files]),
        "foreign_load": float(np.mean(loads)) if loads else float("nan"),
    }


def _differences(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each number of processes, and library, whose runs do not have the same experiments."""
    names = [name for name in (*_TEXTS, *_NUMBERS) if name in frame]
    experiment = frame.groupby(names, dropna=False, observed=True).ngroup()
    for (_, p), mine in experiment.groupby([frame["library"], frame["p"]], observed=True):
        lacking = mine.nunique() - mine.groupby(frame["run"], sort=False).nunique()
        short = lacking[lacking > 0].sort_values(ascending=False, kind="stable")
        if len(short):
            more = f", and {len(short) - 1} other runs lack some" if len(short) > 1 else ""
            yield (
                f"runs with {p} processes differ in their experiments: run {short.index[0]} lacks {short.iloc[0]} of "
                f"{mine.nunique()}{more}; what was measured counts"
            )
