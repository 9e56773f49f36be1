"""OTF2 archives: read, as Score-P and others write them, and written, so that the tools of that world can read a trace."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.errors import BuildError, DataError
from scalkit.support.native import build, sources
from scalkit.support.text import counted
from scalkit.trace.files.builder import write_header
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.files.otf2_events import More, events_of
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import extent
from scalkit.trace.local.part import LocalTrace, Table, load, require_all_calls

_NAMED = 8
_SITE = "call site"
_STRINGS = ("", _SITE, "process", "machine")


def read_otf2(archive: str | PathLike[str], folder: str | PathLike[str], *, keep_going: bool = False) -> dict[str, int]:
    """Write the trace that an OTF2 archive holds.

    Locations that are ranks of MPI are read, or those of all processors if the archive names no ranks. Offsets of clocks are
    applied. The first completion of a one-sided operation counts, be it local or remote.

    `archive`: the anchor file, ``traces.otf2``. `folder`: of the trace; must be empty, or not there.
    `keep_going`: read what can be read of locations that are truncated or missing; the trace lacks the rest, and says so.
    Result, dict from str to int: ``"locations"`` that were read, ``"others"`` that were not, ``"events"``, and leaves that were
    ``"unmatched"``.
    Raises BuildError if the OTF2 library is missing; DataError if the archive cannot be read, or the folder is in use.
    """
    if not Path(archive).is_file():
        raise DataError(f"there is no archive {str(archive)!r}; name its anchor file, as in scorep-run/traces.otf2.")
    with _filled(folder) as place:
        said = _run("sk_otf2_read", str(archive), str(place), *["keep-going"] * keep_going)
        lines = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
        facts: dict[str, Any] = json.loads(lines.pop("facts", "{}"))
        others = [lines.pop(name) for name in list(lines) if re.fullmatch(r"other\d+", name)]
        found = {name: int(value) for name, value in lines.items()}
        if found["locations"] == 0:
            raise DataError(f"{archive} has no locations; record the program again.")
        for name in ("format", "schema", "locations"):
            facts.pop(name, None)
        if found["unmatched"]:
            where = f"location {found.pop('unmatched_at')}"
            facts["unmatched"] = (
                f"{where}: a region is left that was not the innermost one ({found['unmatched']} of all locations)"
            )
            if not keep_going:
                raise DataError(f"{archive}: {facts['unmatched']}; record it again, or analyse the rest with --keep-going.")
        if found["others"]:
            threads = max(found["others"] - len(others), 0)
            named = [*map(str.strip, others[:_NAMED]), *["..."] * (len(others) > _NAMED)]
            named += [counted(threads, "thread")] * (threads > 0)
            facts["others"] = f"{counted(found['others'], 'location')} of the archive without a rank of MPI: {', '.join(named)}"
        write_header(place, found["locations"], **facts)
    return found


def write_otf2(folder: str | PathLike[str], archive: str | PathLike[str], *, keep_going: bool = False) -> int:
    """Write a trace as an OTF2 archive by the conventions of Score-P, and return how many events it has.

    Times are those on the clock of all. Layouts of data, and the time that flushes of the recorder took, are not kept. A call
    site stands as the file of a region of its own.

    `folder`: of the trace. `archive`: folder of the archive, empty or not there; its anchor file is ``traces.otf2``.
    `keep_going`: leave out what is wrong with the trace.
    Raises BuildError if the OTF2 library is missing; DataError if something is wrong with the trace, or calls of threads
    overlap.
    """
    with _filled(archive) as place, tempfile.TemporaryDirectory() as made:
        trace = load(folder, keep_going=keep_going)
        require_all_calls(trace, "an archive")
        words = _Words(trace)
        events = [Path(made) / f"{k}.events" for k in range(trace.count)]
        counts = _write_events(trace, words, events)
        definitions = Path(made) / "definitions"
        definitions.write_text(words.text(counts), encoding="utf-8")
        _run("sk_otf2_write", str(place), "traces", str(definitions), *map(str, events))
    return sum(counts)


def _write_events(trace: LocalTrace, words: "_Words", paths: list[Path]) -> list[int]:
    first, last = extent(trace.calls["enter"], trace.calls["leave"], trace.marks["time"])
    shift = max(0, -first)
    words.clock = (first + shift, last - first)
    counts = []
    posts = np.searchsorted(trace.transfers["location"], np.arange(trace.count)).tolist()
    for k, (begin, tables) in enumerate(zip(trace.begins, trace.parts(), strict=True)):
        more = More(
            *_of_location(trace.landings, trace.landings["location"] == k, begin, ("transfer", posts[k])),
            *_of_location(trace.collectives, trace.calls["location"][trace.collectives["call"]] == k, begin, ("call", begin)),
        )
        rows = events_of(k, begin, tables, more, trace.definitions, words.numbers, words.groups[k])
        rows[:, 1] += shift
        rows.tofile(paths[k])
        counts.append(len(rows))
    return counts


def _of_location(table: Table, mine: Any, begin: int, key: tuple[str, int]) -> tuple[Any, Any]:
    """Return a column of the rows of a location, counted from where it begins, and the call that completed each, or -1."""
    done = table["done"][mine].astype(np.int64)
    return table[key[0]][mine].astype(np.int64) - key[1], np.where(done >= 0, done - begin, -1)


class _Words:
    """The definitions of an archive, and the numbers that they get in it."""

    def __init__(self, trace: LocalTrace) -> None:
        self.clock = (0, 0)
        self._lines: list[str] = []
        self._strings = {text: k for k, text in enumerate(_STRINGS)}
        self._known = {tuple(range(trace.count)): 1}
        self._facts = trace.header.facts
        self._groups = [tuple(range(trace.count))] * 2
        self.numbers = {"region": self._regions(trace.definitions), **self._scopes(trace)}
        self.groups = [{k: self._group(members) for k, members in one.items()} for one in trace.groups]

    def text(self, counts: list[int]) -> str:
        """Return all definitions, a line each, for locations with so many events."""
        lines = [f"F {json.dumps(self._facts)}", f"T {self.clock[0]} {self.clock[1]}"]
        lines += [f"S {' '.join(text.split())}" for text in self._strings]
        lines += [" ".join(map(str, ("G", len(members), *members))) for members in self._groups]
        lines += self._lines
        lines += [f"L {n}" for n in counts]
        return "\n".join(lines) + "\n"

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _group(self, members: tuple[int, ...]) -> int:
        if members not in self._known:
            self._known[members] = len(self._groups)
            self._groups.append(members)
        return self._known[members]

    def _regions(self, definitions: Definitions) -> Any:
        steps: dict[tuple[str, str], int] = {}
        found = []
        for path in definitions.paths:
            step = path[-1] if path else ("program", "")
            if step not in steps:
                steps[step] = len(steps)
                site = self._string(step[1]) if step[1] else -1
                self._lines.append(f"R {self._string(step[0])} {site} {_kind(definitions, step[0])}")
            found.append(steps[step])
        return np.array(found, dtype=np.int64)

    def _scopes(self, trace: LocalTrace) -> dict[str, Any]:
        """Return the communicator or window of each scope, and its window.

        A window has a communicator of its own; a communicator gets a window if there are one-sided operations on it, as those of
        ARMCI, which has no windows.
        """
        is_rma = ~np.isin(trace.transfers["kind"] & 0xFF, (SEND, RECEIVE))
        used = frozenset(np.unique(trace.transfers["scope"][is_rma]).tolist())
        n_wins = 0
        scopes, windows = [], []
        for n_comms, scope in enumerate(trace.definitions.scopes):
            if (scope.members < 0).any():
                missing = int(np.flatnonzero(scope.members < 0)[0])
                raise DataError(f"rank {missing} of the {scope.key[0]} {scope.name!r} is of no location that was recorded.")
            group = self._group(tuple(scope.members.tolist()))
            self._lines.append(f"C {self._string('' if scope.is_window else scope.name)} {group}")
            has_window = scope.is_window or n_comms in used
            if has_window:
                self._lines.append(f"W {self._string(scope.name)} {n_comms}")
            scopes.append(n_wins if scope.is_window else n_comms)
            windows.append(n_wins if has_window else -1)
            n_wins += has_window
        return {"scope": np.array(scopes, dtype=np.int64), "window": np.array(windows, dtype=np.int64)}


def _kind(definitions: Definitions, region: str) -> int:
    """Return 1 for a function of MPI, 2 for one of another communication library, else 0."""
    return 1 if region.startswith("MPI_") else 2 * int(definitions.is_function(region))


@contextmanager
def _filled(folder: str | PathLike[str]) -> Iterator[Path]:
    """Give a folder that is empty; if it cannot be filled, it becomes what it was, so that one may try again."""
    was_there = Path(folder).exists()
    place = _empty(folder)
    try:
        yield place
    except BaseException:
        for one in place.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        if not was_there:
            place.rmdir()
        raise


def _empty(folder: str | PathLike[str]) -> Path:
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise DataError(f"{folder} is in use; name a folder that is empty or not there.")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make {folder}: {error.strerror or error}; choose another place.") from error
    return place


def _run(program: str, *words: str) -> str:
    try:
        tool = build(sources("microbench"), "cc", makefile="trace/otf2/Makefile").program(program)
    except BuildError as error:
        raise BuildError(
            f"what reads and writes OTF2 cannot be compiled ({error}); it needs a C compiler and the OTF2 library, "
            "Debian's libotf2-trace-dev."
        ) from error
    done = subprocess.run([str(tool), *words], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("sk_otf2_")]
        reason = (said or done.stderr.splitlines() or [f"{program} ended with status {done.returncode}"])[-1]
        raise DataError(f"{reason.partition(': ')[2] or reason} Check the archive with otf2-print.")
    return done.stdout
