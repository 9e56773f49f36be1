"""Reads traces: the header of the folder, and the file of a location as far as it goes."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.support.arguments import path_of
from scalkit.trace.calls.profile import LINES
from scalkit.trace.files.builder import HEADER, location_file
from scalkit.trace.files.checks import Problem
from scalkit.trace.files.definitions import LocalDefinitions
from scalkit.trace.files.tables import BLOCK, FILE, KINDS, MAGIC, ORDER, TABLES, Columns, block_bytes, empty_tables

_MANY = 1024
"""Locations that are looked for one by one, so that each file that is missing is named."""

_NAMES = {number: name for name, number in KINDS.items()}


@dataclass(frozen=True)
class Header:
    """What ``trace.json`` says. `facts`: the whole object. `lines`: ``file:line`` of call sites, from ``lines.json``."""

    folder: Path
    locations: int
    facts: dict[str, Any]
    lines: dict[str, str] = field(default_factory=dict)

    @property
    def is_simulated(self) -> bool:
        """Whether times are those of a simulation."""
        return bool(self.facts.get("simulated", False))

    @property
    def is_asynchronous(self) -> bool:
        """Whether something other than the calls of a process progressed communication: then none waits for calls."""
        return bool(self.facts.get("asynchronous_progress", False))

    @property
    def not_read(self) -> list[str]:
        """Sentences on what an archive had that the trace has not: locations that are no ranks, and some leaves."""
        return [str(self.facts[name]) for name in ("others", "unmatched") if self.facts.get(name)]


@dataclass
class LocationFile:
    """What the file of a location holds, unchecked.

    `tables`, dict of Columns: all tables, in the order of the file. `problems`: truncation, damage.
    """

    tables: dict[str, Columns]
    definitions: LocalDefinitions
    problems: list[Problem]


def read_header(folder: str | os.PathLike[str]) -> Header:
    """Return the header of a trace.

    Raises DataError if there is no trace in the folder, its header is damaged, or it is of a newer schema.
    """
    path = path_of(folder, "a trace") / HEADER
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"there is no trace in {str(folder)!r} ({HEADER}: {error.strerror or error}); name the folder of a recording."
        ) from error
    except ValueError as error:
        raise DataError(f"{path} is no JSON object ({error}); record the trace again.") from error
    if not isinstance(facts, dict) or facts.get("format") != "scalkit trace":
        raise DataError(f"{path} is not the header of a trace: its 'format' is not 'scalkit trace'.")
    if facts.get("schema") != 1:
        raise DataError(f"{path} has schema {facts.get('schema')!r}, and this scalkit reads 1; use a newer scalkit.")
    locations = facts.get("locations")
    if not isinstance(locations, int) or isinstance(locations, bool) or locations < 1:
        raise DataError(f"{path} says that there are {locations!r} locations; a number from 1 on is needed.")
    if locations > _MANY and 2 * (there := len(list(Path(folder).glob("*.sktrace")))) < locations:
        raise DataError(f"{path} says that there are {locations:,} locations, and there are files of {there}; record it again.")
    return Header(Path(folder), locations, facts, _lines(Path(folder) / LINES))


def _lines(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        lines = json.loads(path.read_text(encoding="utf-8"))
        return {str(site): str(line) for site, line in lines.items()}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{path} is no JSON object of call sites ({error}); delete it, and sites have no lines.") from error


def read_location(header: Header, location: int) -> LocationFile:
    """Return what stands in the file of a location, as far as it goes; problems are in it, not raised."""
    found = LocationFile(empty_tables(), LocalDefinitions(), [])
    path = location_file(header.folder, location)
    try:
        data: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.empty(0, np.uint8)
    except OSError as error:
        found.problems.append(Problem(location, -1, "missing", f"{path.name} cannot be read ({error.strerror or error})"))
        data = np.empty(0, np.uint8)
    else:
        _read_blocks(data, path.name, location, found, read_live(header.folder, location))
        sites = found.definitions.sites
        found.definitions.sites = {number: header.lines.get(text, text) for number, text in sites.items()}
    if not found.definitions.run or found.definitions.run == header.facts.get("run", found.definitions.run):
        return found
    text = f"{path.name} is of another run than {HEADER} ({found.definitions.run}, {header.facts['run']})"
    return LocationFile(empty_tables(), LocalDefinitions(), [Problem(location, -1, "damaged", text)])


def _read_blocks(data: NDArray[np.uint8], name: str, location: int, found: LocationFile, live: "Live | None") -> None:
    parts: dict[str, list[Columns]] = {table: [] for table in TABLES}
    head = _record(data, 0, FILE)
    if head is None or head["magic"] != MAGIC or head["order"] != ORDER or head["location"] != location:
        found.problems.append(Problem(location, -1, "damaged", f"{name} does not begin as the file of this location"))
    else:
        _walk(data, name, location, parts, found, live.base if live else len(data))
    cut = [one for one in found.problems if one.kind == "truncated"]
    for table, pieces in parts.items():
        if live and cut:
            pieces.append(live.table(table))
        if pieces:
            found.tables[table] = {column: np.concatenate([piece[column] for piece in pieces]) for column, _ in TABLES[table]}
    for problem in cut:
        numbers = found.tables["calls"]["number"]
        last = int(numbers.max()) if len(numbers) else -1
        text = f"{name} has no end{_how_it_ended(found.definitions, live)}" if live else problem.text
        found.problems.remove(problem)
        found.problems.append(Problem(location, last, "truncated", text))


def _how_it_ended(definitions: LocalDefinitions, live: "Live") -> str:
    """Return in which call a process was when it was killed, or why its recording ended before it did."""
    if live.failed:
        return f": the recorder could write nothing after this record ({os.strerror(live.failed)})"
    _, region, site = definitions.paths.get(live.open_path, (0, -1, -1))
    if region not in definitions.regions:
        that = "that is recorded, " if definitions.left_out else ""
        return f": the process ended outside of any call{' ' * bool(that) or ', '}{that}after this record"
    at = f" at {definitions.sites[site]}" if site in definitions.sites else ""
    return f": the process ended in {definitions.regions[region]}{at}, after this record"


def _walk(
    data: NDArray[np.uint8], name: str, location: int, parts: dict[str, list[Columns]], found: LocationFile, base: int
) -> None:
    """Read block after block, from byte `base` on without records; a problem ends it."""

    def stop(kind: str, text: str) -> None:
        found.problems.append(Problem(location, -1, kind, f"{name} {text}"))

    at = FILE.itemsize
    while True:
        head = _record(data, at, BLOCK)
        if head is None:
            return stop("truncated", "ends after this record, without an end" if at == len(data) else "ends within a block")
        kind, records, size = _NAMES.get(int(head["kind"]), ""), int(head["records"]), int(head["bytes"])
        if head["magic"] != b"SKTB" or not kind or (kind in TABLES and size != block_bytes(kind, records)):
            return stop("damaged", f"holds no block at byte {at}")
        at += BLOCK.itemsize
        if at + size > len(data):
            return stop("truncated", f"ends within a block of {kind}")
        if kind in TABLES and at <= base:
            parts[kind].append(_columns(data, at, kind, records))
        elif kind not in TABLES:
            try:
                content = json.loads(bytes(data[at : at + size]))
                if kind == "definitions":
                    found.definitions.add(content)
            except ValueError as error:
                return stop("damaged", f"has a damaged block of {kind} at byte {at}: {error}")
            if kind == "end":
                return None
        at += -(-size // 8) * 8


def _columns(data: NDArray[np.uint8], at: int, name: str, records: int) -> Columns:
    found: Columns = {}
    for column, kind in TABLES[name]:
        found[column] = np.frombuffer(data, dtype=kind, count=records, offset=at)
        at += -(-found[column].nbytes // 8) * 8
    return found


def _record(data: NDArray[np.uint8], at: int, kind: np.dtype[np.void]) -> np.void | None:
    if at + kind.itemsize > len(data):
        return None
    found: np.void = np.frombuffer(data, dtype=kind, count=1, offset=at)[0]
    return found


_HEAD_BYTES = 4096
_HEAD = np.dtype(
    {
        "names": ["magic", "location", "order", "room", "epoch", "base", "used", "enter", "path", "failed"],
        "formats": ["S8", "<u4", "<u4", "<u8", "<u8", ("<u8", 2), ("<u8", len(TABLES)), "<i8", "<u4", "<u4"],
        "offsets": [0, 8, 12, 16, 24, 32, 48, *(48 + 8 * len(TABLES) + more for more in (0, 8, 16))],
    }
)
_ROWS = {name: np.dtype(list(columns), align=True) for name, columns in TABLES.items()}


@dataclass(frozen=True)
class Live:
    """Records that are in no block.

    `base`: bytes of the file of the location whose blocks count: later blocks hold records that stand here, too.
    `records`, dict from str to int: how many there are of each table.
    `open_path`: call path of the call that the process was in; 0 for none.
    `failed`: number of the system's error that ended the recording, while the program went on; 0 for none.
    """

    base: int
    records: dict[str, int]
    open_path: int
    failed: int
    _data: NDArray[np.uint8]
    _room: int

    def table(self, name: str) -> Columns:
        """Return the records of a table."""
        at = _HEAD_BYTES
        for one, rows in _ROWS.items():
            if one == name:
                found = np.frombuffer(self._data, dtype=rows, count=self.records[name], offset=at)
                return {column: np.ascontiguousarray(found[column]) for column, _ in TABLES[name]}
            at += self._room * rows.itemsize
        raise KeyError(name)


def live_file(folder: Path, location: int) -> Path:
    """Return the file of the records of a location that are in no block; it is there until the program ends."""
    return folder / f"{location:06d}.live"


def read_live(folder: Path, location: int) -> Live | None:
    """Return the records of a location that are in no block; None if there is no such file, or not a whole one."""
    try:
        data: NDArray[Any] = np.memmap(live_file(folder, location), dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    if len(data) < _HEAD_BYTES:
        return None
    head = np.frombuffer(data, dtype=_HEAD, count=1)[0]
    room, epoch = int(head["room"]), int(head["epoch"])
    whole = _HEAD_BYTES + room * sum(rows.itemsize for rows in _ROWS.values())
    if head["magic"] != b"SKTLIVE1" or head["order"] != ORDER or head["location"] != location or whole != len(data):
        return None
    counts = [int(one) & 0xFFFFFFFF if int(one) >> 32 == epoch & 0xFFFFFFFF else 0 for one in head["used"]]
    records = {name: min(count, room) for name, count in zip(_ROWS, counts, strict=True)}
    return Live(int(head["base"][epoch & 1]), records, int(head["path"]), int(head["failed"]), data, room)
