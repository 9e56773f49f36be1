"""`read_experiments`: run files of sk_neighbours become columns, as `scalkit.guidelines.assess` takes them."""

import gzip
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from scalkit.arrays import Floats, Ints
from scalkit.bundled import here_or_bundled
from scalkit.errors import DataError, RunFileError
from scalkit.files import require_own_files
from scalkit.measure.records import Env, Record
from scalkit.measure.runfile import AGAIN, EXPERIMENTS, before_end, records_of
from scalkit.measure.virtual_time import clock_attributes

_HEAD = 4096
_TEXT_FIELDS = ("op", "datatype", "topology", "order", "constructor")
_NUMBER_FIELDS = ("experiment", "size_B", "work", "n_dim", "n_finite", "radius", "reorder")


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

_TEXTS = {"operation": "op", **{name: name for name in ("datatype", "topology", "order", "constructor")}}
_NUMBERS = {"size": "size_B", **{name: name for name in ("work", "n_dim", "n_finite", "radius", "reorder")}}
_PARAMETERS = (*_TEXTS, *_NUMBERS)


class ExperimentTable(dict[str, Any]):
    """Columns by name; a row is one experiment in one run.

    `attrs`: ``mpi_library``, ``host``, ``started``, ``simulated``, ``clock`` and ``virtual`` if it was virtual,
    ``value``; ``foreign_load``, the mean share of the machine that others used; ``notes``, what is missing or was
    left out, a sentence each.
    """

    def __init__(self, columns: Mapping[str, Any], attrs: Mapping[str, Any]) -> None:
        super().__init__(columns)
        self.attrs = dict(attrs)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each repetition, in order of execution."""
        import pandas as pd

        times = self["time"]
        row, repetition = np.nonzero(~np.isnan(times))
        columns = {name: pd.Series(column).iloc[row].array for name, column in self.items() if name != "time"}
        frame = pd.DataFrame({**columns, "repetition": repetition, "time": times[row, repetition]})
        frame.attrs = dict(self.attrs)
        return frame


def holds_experiments(path: PathLike | Sequence[PathLike]) -> bool:
    """Return whether there are run files of sk_neighbours at a path, or below it."""
    return any(is_experiment_file(one) for one in _files(path))


def read_experiments(
    path: PathLike | Sequence[PathLike], *, value: Value = "completion", keep_flagged: bool = False
) -> ExperimentTable:
    """Return the measurements of neighbourhood campaigns, all run files at and below some paths.

    `path`: folders, or run files; also compressed, ``.jsonl.gz``. Other run files are left out.
    `value`: from the common start to the end of the last process; or the longest that any process was inside the call.
    `keep_flagged`: keep repetitions that some process began too late; by default they are NaN, unless fewer than 5 would
    remain.
    Returns: columns ``operation``, ``datatype``, ``topology``, ``order``, ``constructor``, ``size`` [B], ``work``,
    ``n_dim``, ``n_finite``, ``radius``, ``reorder``, ``p``, ``library`` where there are several, ``run``,
    ``oversubscribed``; ``time`` in s of shape (rows, repetitions), NaN at the end of shorter rows. What an experiment does
    not have is missing.
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
    columns = _columns(files, "t_ns" if value == "completion" else "local_ns", keep_flagged)
    notes = [note for file in files for note in file.notes] + list(_differences(files, columns))
    return ExperimentTable(columns, {**_facts(files), "value": value, "notes": notes})


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


@dataclass(frozen=True)
class _Rows:
    """What the rows of the table come from."""

    cells: list[Mapping[str, Any]]
    owner: Ints
    """Place in the list of files."""


def _columns(files: Sequence[ExperimentFile], value: str, keep_flagged: bool) -> dict[str, Any]:
    import pandas as pd

    cells = [cell for file in files for cell in file.cells]
    rows = _Rows(cells, np.repeat(np.arange(len(files)), [len(file.cells) for file in files]))
    columns: dict[str, Any] = {}
    for name, key in _TEXTS.items():
        found = [cell.get(key) for cell in cells]
        if any(one is not None for one in found):
            columns[name] = pd.Categorical(found)
    for name, key in _NUMBERS.items():
        found = [cell.get(key) for cell in cells]
        if any(one is not None for one in found):
            columns[name] = pd.array(found, dtype="Int64")
    columns["p"] = np.array([file.env.p for file in files])[rows.owner]
    libraries = [short_library(file.env.mpi_library) for file in files]
    if len(set(libraries)) > 1:
        columns["library"] = pd.Categorical(np.array(libraries, dtype=object)[rows.owner])
    columns["oversubscribed"] = np.array([file.env.oversubscribed for file in files])[rows.owner]
    if any("foreign_load" in cell for cell in cells):
        columns["foreign_load"] = np.array([cell.get("foreign_load", math.nan) for cell in cells], dtype=np.float64)
    columns["run"] = _runs(files, rows, columns)
    columns["time"] = _times(cells, value, keep_flagged)
    return columns


def _runs(files: Sequence[ExperimentFile], rows: _Rows, columns: Mapping[str, Any]) -> Any:
    """Return the number of each row's run; the name of its launch where numbers are not enough."""
    numbers = [re.search(r"-r(\d{1,6})$", file.env.run_id) for file in files]
    if all(numbers):
        found = np.array([int(one.group(1)) for one in numbers if one])[rows.owner]
        names = [name for name in columns if name not in ("oversubscribed", "foreign_load")]
        if int(_numbered([*(columns[name] for name in names), found]).max()) + 1 == len(found):
            return found
    return np.array([file.env.run_id for file in files], dtype=object)[rows.owner]


def _codes(column: Any) -> Ints:
    import pandas as pd

    return np.asarray(pd.factorize(column)[0], dtype=np.int64)


def _numbered(columns: Sequence[Any]) -> Ints:
    """Return a number for each row, the same for equal rows, from 0 without gaps."""
    found = _codes(columns[0])
    for column in columns[1:]:
        codes = _codes(column) + 1
        found = _codes((found + 1) * (int(codes.max()) + 1) + codes)
    return found


def _times(cells: Sequence[Mapping[str, Any]], value: str, keep_flagged: bool) -> Floats:
    """Return the repetitions of each row in s, flagged ones and the rest of shorter rows as NaN."""
    lengths = np.array([len(cell[value]) for cell in cells])
    times = np.full((len(cells), int(lengths.max())), np.nan)
    times[np.arange(times.shape[1]) < lengths[:, None]] = [t for cell in cells for t in cell[value]]
    if not keep_flagged:
        for row, cell in enumerate(cells):
            late = cell["late_at"]
            if late and lengths[row] - len(late) >= _LEAST_VALID:
                times[row, late] = np.nan
    return times * 1e-9


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


def _differences(files: Sequence[ExperimentFile], columns: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each number of processes, and library, whose runs do not have the same experiments."""
    names = [name for name in _PARAMETERS if name in columns]
    experiment = _numbered([columns[name] for name in names])
    group = _codes(np.array([f"{short_library(f.env.mpi_library)} {f.env.p}" for f in files for _ in f.cells], dtype=object))
    run = _codes(columns["run"])
    for one in range(int(group.max()) + 1):
        mine = group == one
        everything = set(experiment[mine])
        lacking = Counter({r: len(everything - set(experiment[mine & (run == r)])) for r in np.unique(run[mine])}).most_common()
        short = [(r, n) for r, n in lacking if n]
        if short:
            p = int(columns["p"][np.argmax(mine)])
            worst = columns["run"][np.argmax(mine & (run == short[0][0]))]
            more = f", and {len(short) - 1} other runs lack some" if len(short) > 1 else ""
            yield (
                f"runs with {p} processes differ in their experiments: run {worst} lacks {short[0][1]} of "
                f"{len(everything)}{more}; what was measured counts"
            )
