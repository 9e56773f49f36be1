"""Reads a profile: what all locations together spent at each place that calls a function of MPI."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.trace.calls.source_lines import Site, of_object, site_of, source_lines

HEADER = "profile.json"
_HEAD = np.dtype(
    [("magic", "S8"), ("location", "<u4"), ("order", "<u4"), ("rows", "<u8"), ("run", "<u8")]
    + [(f"{when}_{clock}", "<i8") for when in ("loaded", "begun", "last") for clock in ("ticks", "ns")]
    + [("is_complete", "<u8"), ("left_out", "<i8")]
)
_ROW = np.dtype([(name, "<i8") for name in ("calls", "ticks", "least", "most", "bytes")])
_MOST_ROWS = 1 << 20
"""More rows than any recorder makes room for: a file that says more is damaged."""


@dataclass
class Calls:
    """What all locations together did at one place.

    `site`: function and offset of the calling code; empty where it is not known.
    `where`: ``file:line`` or, where that is not to be found, the calling function; empty if neither is known.
    `bytes`: sent, put or got, or given to a collective operation. `most_at`: the location with the most time.
    Times in s.
    """

    function: str
    site: str
    where: str = ""
    calls: int = 0
    time_s: float = 0.0
    least_s: float = float("inf")
    most_s: float = 0.0
    bytes: int = 0
    locations: int = 0
    most_at: int = -1
    most_at_s: float = 0.0


@dataclass(frozen=True)
class Profile:
    """What a program spent in MPI.

    `facts`: what the header says. `calls`: the longest time first.
    `time_s`: of all locations, from their start to the end of ``MPI_Finalize``, or to the last call of one that was killed.
    `problems`: what is missing, in sentences.
    """

    facts: dict[str, Any]
    calls: list[Calls]
    time_s: float
    problems: list[str]

    @property
    def mpi_s(self) -> float:
        """Time in functions of MPI, of all locations."""
        return sum(one.time_s for one in self.calls)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``calls.json`` holds."""
        head = {
            "format": "scalkit calls",
            "schema": 1,
            **{key: self.facts.get(key) for key in ("program", "library", "locations")},
        }
        times = {"time_s": self.time_s, "mpi_s": self.mpi_s}
        return {**head, **times, "problems": self.problems, "calls": [asdict(one) for one in self.calls]}


def read_profile(folder: str | os.PathLike[str]) -> Profile:
    """Return the profile in a folder, as ``scalkit trace run --profile-only`` writes it, with lines of the source.

    Raises DataError if there is none, or none of its files can be read.
    """
    path = Path(folder) / HEADER
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"there is no profile in {str(folder)!r} ({HEADER}: {error}); name the folder of one.") from error
    if not isinstance(facts, dict) or facts.get("format") != "scalkit profile" or facts.get("schema") != 1:
        raise DataError(f"{path} is not the header of a profile of schema 1; record it again, or use a newer scalkit.")
    locations = facts.get("locations")
    if not isinstance(locations, int) or isinstance(locations, bool) or not 1 <= locations <= 1 << 24:
        raise DataError(f"{path} says that there are {locations!r} locations; a number from 1 on is needed.")
    found: dict[tuple[str, Site], Calls] = {}
    problems: list[str] = []
    time_s, n_read = 0.0, 0
    for location in range(locations):
        file = path.parent / f"{location:06d}.profile"
        try:
            time_s += _add(file, location, str(facts.get("run")), found, problems)
            n_read += 1
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            problems.append(f"location {location}: {file.name} cannot be read ({error})")
    if n_read == 0:
        raise DataError(f"{path.parent}: no location can be read: {problems[0]}; record it again.")
    lines, unknown = source_lines({site for _, site in found})
    for (_, site), one in found.items():
        one.where = lines.get(site, "") or of_object(site)
    ordered = sorted(found.values(), key=lambda one: (-one.time_s, one.function, one.site))
    return Profile(facts, ordered, time_s, problems + unknown)


def _add(file: Path, location: int, run: str, found: dict[tuple[str, Site], Calls], problems: list[str]) -> float:
    """Add what a location did, and return the time of it in s. Raises ValueError if its file is damaged."""
    data = file.read_bytes()
    if len(data) < _HEAD.itemsize:
        raise ValueError(f"{len(data)} bytes, and {_HEAD.itemsize} are its head")
    head = np.frombuffer(data, _HEAD, 1)[0]
    if head["magic"] != b"SKPROFI1" or head["order"] != 0x01020304 or head["location"] != location:
        raise ValueError("it does not begin as a profile of this location")
    if f"{int(head['run']):016x}" != run:
        raise ValueError(f"it is of another run than {HEADER}")
    n, is_complete = int(head["rows"]), bool(head["is_complete"])
    end = _HEAD.itemsize + n * _ROW.itemsize
    if not 0 < n <= _MOST_ROWS or len(data) < end:
        raise ValueError(f"it is shorter than the {n} rows that it says it has")
    until = "last" if is_complete else "begun"
    ticks, ns = (int(head[f"{until}_{clock}"]) - int(head[f"loaded_{clock}"]) for clock in ("ticks", "ns"))
    if ticks <= 0 or ns <= 0:
        raise ValueError("its clock does not run")
    second = 1e-9 * ns / ticks
    rows = np.frombuffer(data, _ROW, n, _HEAD.itemsize)
    for number, function, site in _texts(data[end:], n):
        row = {name: int(rows[name][number]) for name in _ROW.names or ()}
        if min(row.values()) < 0:
            raise ValueError(f"row {number} has a negative number")
        if row["calls"]:
            _sum(found.setdefault((function, site), Calls(function, site.text)), row, second, location)
    if head["left_out"]:
        problems.append(f"location {location}: {int(head['left_out']):,} calls between MPI_Pcontrol(0) and (1) are not counted")
    if not is_complete:
        problems.append(f"location {location} did not come to the end of MPI_Finalize; what it did until its last call counts")
    return second * max(0, int(head["last_ticks"]) - int(head["loaded_ticks"]))


def _sum(total: Calls, row: dict[str, int], second: float, location: int) -> None:
    here = row["ticks"] * second
    total.calls += row["calls"]
    total.time_s += here
    total.bytes += row["bytes"]
    total.locations += 1
    total.least_s, total.most_s = min(total.least_s, row["least"] * second), max(total.most_s, row["most"] * second)
    if total.most_at < 0 or here > total.most_at_s:
        total.most_at, total.most_at_s = location, here


def _texts(data: bytes, n: int) -> Iterator[tuple[int, str, Site]]:
    """Yield the rows that stand for something: number, function, site; a last line that was cut off is left out."""
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        said = json.loads(line)
        number = int(said["row"])
        if not 0 <= number < n:
            raise ValueError(f"it describes row {number} of {n}")
        yield number, str(said["function"]), site_of(said)
