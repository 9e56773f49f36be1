"""Reads a profile: what all locations together spent at each place that calls a function of MPI."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scalkit.errors import DataError
from scalkit.support.text import as_percent, counted
from scalkit.support.units import format_quantity

_CYTHON = re.compile(r"__pyx_(?:pw|pf|f|fuse_\d+__pyx_pw)_(?P<scopes>(?:\d+[A-Za-z]\w*?_)+)\d*(?P<name>[A-Za-z]\w*)\+")
_SECONDS = 60
LINES = "lines.json"


class Site(NamedTuple):
    """An address that a call returns to.

    `text`: function and offset, as in ``solve+0x1c``. `object`: path of the program or library it is in.
    `address`: as that counts it. `size` in bytes and `changed` in s since 1970: of the object, when it was recorded.
    """

    text: str
    object: str
    address: int
    size: int
    changed: int


def site_of(said: Mapping[str, Any]) -> Site:
    """Return a site as a line of a recorder's file has it. Raises ValueError or TypeError if that is damaged."""
    numbers = (int(said.get(name, 0)) for name in ("address", "size", "changed"))
    return Site(str(said.get("site", "")), str(said.get("object", "")), *numbers)


def write_lines(folder: Path) -> None:
    """Write ``lines.json``, from texts of sites to ``file:line``, and delete the files of sites that it is made of."""
    sites: set[Site] = set()
    for file in folder.glob("[0-9]*.sites"):
        # a process that was killed may have cut the last line off
        sites |= {site_of(json.loads(line)) for line in file.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]}
        file.unlink()
    of_text: dict[str, set[str]] = {}
    for site, place in source_lines(sites)[0].items():
        of_text.setdefault(site.text, set()).add(Path(place).name)
    lines = {text: next(iter(places)) for text, places in of_text.items() if len(places) == 1}
    if lines:
        (folder / LINES).write_text(json.dumps(lines, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def source_lines(sites: Iterable[Site]) -> tuple[dict[Site, str], list[str]]:
    """Return ``function file:line`` of those sites where it is to be found, and sentences on what is missing."""
    of_file: dict[str, list[Site]] = {}
    for site in sorted(sites):
        if site.object:
            of_file.setdefault(site.object, []).append(site)
    tool = shutil.which("addr2line")
    if of_file and tool is None:
        return {}, ["there is no addr2line here, so no lines of the source; install binutils"]
    found: dict[Site, str] = {}
    problems = []
    for path, here in of_file.items():
        try:
            now = Path(path).stat()
            same = [site for site in here if (site.size, site.changed) == (now.st_size, int(now.st_mtime))]
        except (OSError, ValueError) as error:
            problems.append(f"{path}: {error}, so no lines of its source")
            continue
        if len(same) < len(here):
            problems.append(f"{path} was changed since: no lines of its source for {counted(len(here) - len(same), 'place')}")
        if same:
            found |= _lines(str(tool), path, same)
    return found, problems


def _lines(tool: str, path: str, sites: list[Site]) -> dict[Site, str]:
    """Return what addr2line says; the call itself ends before the address that it returns to."""
    asked = "".join(f"{site.address - 1:#x}\n" for site in sites)
    words = [tool, "-f", "-C", "-e", path]
    try:
        done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=_SECONDS, check=False, errors="replace")
    except subprocess.TimeoutExpired:
        return {}
    said = done.stdout.splitlines()
    if done.returncode != 0 or len(said) != 2 * len(sites):
        return {}
    found = {}
    for site, function, line in zip(sites, said[::2], said[1::2], strict=True):
        place = line.partition(" (discriminator")[0]
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found[site] = f"{function} {place}"
    return found


def of_object(site: Site) -> str:
    """Return a name for code without lines: that of a function of Cython as Python has it, else function and file."""
    cython = _CYTHON.match(site.text)
    if cython:
        return ".".join([*re.findall(r"\d+([A-Za-z]\w*?)_(?=\d|$)", cython["scopes"]), cython["name"]])
    return f"{site.text} in {Path(site.object).name}" if site.object else site.text


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


FUNCTIONS = ("function", "calls", "time", "of all time", "bytes", "places")
PLACES = ("function", "called by", "calls", "time", "of all time", "mean", "least", "most", "bytes", "most at location")


def function_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return the sums of each function, the longest time first."""
    rows = []
    for function in dict.fromkeys(one.function for one in profile.calls):
        here = [one for one in profile.calls if one.function == function]
        time = sum(one.time_s for one in here)
        told = (f"{sum(one.calls for one in here):,}", _s(time), _share(profile, time), _bytes(sum(one.bytes for one in here)))
        rows.append((time, (function, *told, str(len(here)))))
    return [row for _, row in sorted(rows, key=lambda one: -one[0])]


def place_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return what was spent at each place, the longest time first."""
    return [
        (
            one.function,
            one.where or "–",
            f"{one.calls:,}",
            _s(one.time_s),
            _share(profile, one.time_s),
            _s(one.time_s / one.calls),
            _s(one.least_s),
            _s(one.most_s),
            _bytes(one.bytes),
            f"{one.most_at}: {_s(one.most_at_s)}",
        )
        for one in profile.calls
    ]


def head_line(profile: Profile) -> str:
    """Return how much was spent in MPI, in a sentence."""
    processes = counted(int(profile.facts["locations"]), "process", "processes")
    share = f", {_share(profile, profile.mpi_s)}," if profile.time_s else ""
    return f"{processes}, {_s(profile.time_s)} of all together; {_s(profile.mpi_s)} of it{share} in MPI"


def _share(profile: Profile, time_s: float) -> str:
    return as_percent(time_s / profile.time_s, ".1f") if profile.time_s else "–"


def _s(time_s: float) -> str:
    return format_quantity(time_s, "s") if time_s else "0 s"


def _bytes(n: int) -> str:
    return format_quantity(n, "B") if n else "–"
