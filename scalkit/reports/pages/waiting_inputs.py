"""What a report on waiting is made of: results of analyses, or traces that are analysed and timed."""

import csv
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from scalkit.errors import DataError
from scalkit.plots.traces.waiting import WaitingRun
from scalkit.support.bundled import here_or_bundled
from scalkit.trace import analyse, read_result
from scalkit.trace.files.builder import HEADER
from scalkit.trace.files.reader import read_header
from scalkit.trace.results.over_processes import breakdown

TIMES = "times.csv"
"""Table beside results, with columns ``processes``, ``analysis_s`` and ``analysis_processes``, in s of one process."""


@dataclass(frozen=True, eq=False)
class Source:
    """A result with what it comes from.

    `name`: as the report names it.
    `trace`: folder of the trace, if that was given.
    `sha256`: of the result's file, or of all files of the trace.
    """

    name: str
    ds: xr.Dataset
    run: WaitingRun
    trace: Path | None
    sha256: str


def found_in(paths: Sequence[str]) -> list[tuple[Path, str]]:
    """Return results and traces, and how each is named; of a folder that is no trace, what is in it.

    Raises DataError if there is nothing.
    """
    found: list[tuple[Path, str]] = []
    for name in paths:
        path = here_or_bundled(Path(name))
        if not path.exists():
            raise DataError(f"there is no {name!r}; name results of `scalkit trace analyse --out`, or traces.")
        if not path.is_dir() or (path / HEADER).is_file():
            found.append((path, name))
            continue
        inner = sorted(one for one in path.iterdir() if one.name.endswith((".nc", ".nc.gz")) or (one / HEADER).is_file())
        if not inner:
            raise DataError(f"there is no trace and no result in {name!r}; name what `scalkit trace` recorded or wrote.")
        found += [(one, f"{name}/{one.name}") for one in inner]
    return found


def read_source(path: Path, name: str, region: str = "", *, keep_going: bool = False) -> Source:
    """Return a result, with the time of its analysis if ``times.csv`` beside it has it.

    A trace is analysed, which is timed.

    `path`: file of a result, or folder of a trace.
    `region`: only what happens within this region.
    `keep_going`: leave out what is wrong with a trace; the result names it.
    Raises DataError if it is neither, or something is wrong with it.
    """
    trace = path if path.is_dir() else None
    if trace is None:
        ds = read_result(path)
        spent = _noted(path.parent / TIMES, int(ds.sizes["location"]))
    else:
        read_header(trace)
        begin = time.perf_counter()
        ds = analyse(trace, keep_going=keep_going)
        spent = time.perf_counter() - begin
    run = WaitingRun(int(ds.sizes["location"]), breakdown(ds, region), spent, bool(ds.attrs["simulated"]))
    return Source(name, ds, run, trace, _hash(path))


def _noted(table: Path, processes: int) -> float:
    """Return how long one process took to analyse, as a table beside the result says; NaN if it does not."""
    try:
        lines = [line for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        for row in csv.DictReader(lines):
            if (int(row["processes"]), int(row["analysis_processes"])) == (processes, 1):
                return float(row["analysis_s"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return float("nan")


def _hash(path: Path) -> str:
    found = hashlib.sha256()
    for file in _files(path):
        found.update(file.read_bytes())
    return found.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield path / HEADER
        yield from sorted(path.glob("*.sktrace"))
