"""Traces made call by call, for simulators, converters and examples."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.support.arguments import each_of, path_of, require_kind, require_positive
from scalkit.support.text import brief
from scalkit.trace.files.tables import BLOCK, BLOCKING, FILE, KINDS, MAGIC, OPERATIONS, ORDER, TABLES, Columns, block_bytes

HEADER = "trace.json"


def location_file(folder: Path, location: int) -> Path:
    """Return the file of a location."""
    return folder / f"{location:06d}.sktrace"


def write_header(folder: Path, locations: int, **facts: Any) -> None:
    """Write ``trace.json``; makes the folder.

    `locations`: number of locations. `**facts`: more of what docs/file-formats.md lists, such as ``simulated=True``.
    Raises DataError if it cannot be written.
    """
    content = {"format": "scalkit trace", "schema": 1, "locations": locations, **facts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / HEADER).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {folder / HEADER}: {error.strerror or error}; choose another folder.") from error


def write_location(
    folder: Path,
    location: int,
    tables: Mapping[str, Columns],
    definitions: Mapping[str, Any],
    *,
    block: int = 1 << 16,
    complete: bool = True,
) -> None:
    """Write the file of a location.

    `tables`, mapping of name to Columns: as `tables.TABLES` names them; those that are missing are empty.
    `definitions`: the object of a definition block. `block`: records of a block at most.
    `complete`: whether it gets an end; without one it counts as truncated.
    """
    with location_file(folder, location).open("wb") as stream:
        stream.write(np.array((MAGIC, location, ORDER), FILE).tobytes())
        _write_text(stream, "definitions", definitions)
        for name in TABLES:
            table = tables.get(name, {})
            records = len(next(iter(table.values()))) if table else 0
            for start in range(0, records, block):
                _write_block(stream, name, {key: values[start : start + block] for key, values in table.items()})
        if complete:
            counts = {name: len(next(iter(table.values()))) for name, table in tables.items()}
            _write_text(stream, "end", {"records": counts})


def _write_text(stream: BinaryIO, kind: str, content: Mapping[str, Any]) -> None:
    text = json.dumps(content).encode()
    stream.write(np.array((b"SKTB", KINDS[kind], 0, 1, len(text)), BLOCK).tobytes())
    stream.write(text + b"\0" * (-len(text) % 8))


def _write_block(stream: BinaryIO, name: str, table: Columns) -> None:
    records = len(table[TABLES[name][0][0]])
    head = (b"SKTB", KINDS[name], len(TABLES[name]), records, block_bytes(name, records))
    stream.write(np.array(head, BLOCK).tobytes())
    for column, kind in TABLES[name]:
        data = np.ascontiguousarray(table[column], dtype=kind).tobytes()
        stream.write(data + b"\0" * (-len(data) % 8))


_OPERATION = {name: number for number, name in OPERATIONS.items()}


class TraceBuilder:
    """A trace in memory.

    `locations`: all of them are in scope 0, the communicator ``"world"``, and scope 1, the window ``"window"``, with their
    number as their rank.
    `functions`: functions of a communication library other than MPI and ARMCI: calls of them progress what others have
    begun.
    `**facts`: for ``trace.json``, such as ``simulated=True``.
    """

    def __init__(self, locations: int, *, functions: Sequence[str] = (), **facts: Any) -> None:
        require_kind(locations, int, "the number of locations", "give a whole number")
        functions = each_of(functions, str, "the functions", "give a list of names")
        self.locations = [_LocationBuilder(location, locations, functions) for location in range(locations)]
        self._facts = facts

    def _at(self, location: int) -> "_LocationBuilder":
        if not isinstance(location, int | np.integer) or not 0 <= location < len(self.locations):
            raise UsageError(f"the location is {brief(location)}; there are {len(self.locations)}.")
        return self.locations[location]

    def call(
        self, location: int, name: str, enter: int, leave: int, *, scope: int = -1, peer: int = -1, under: int | None = None
    ) -> int:
        """Add a call and return its number; the calls of a location come in the order in which they begin.

        `name`: function, such as ``"MPI_Win_flush"``.
        `enter`, `leave`: in ns.
        `scope`, `peer`: 0 the communicator, 1 the window; target, root, or number of a group, as the function has it.
        `under`: number of the call that makes this one; by default it is made by the innermost region.
        """
        return self._at(location).call(name, enter, leave, scope, peer, under)

    def transfer(
        self, location: int, operation: str, call: int, peer: int, *, tag: int = 0, size: int = 8, blocking: bool = False
    ) -> None:
        """Add a put, get, accumulate or rmw in the window, a send or receive, or the size of a collective one, to a call."""
        rows = self._at(location).rows
        if operation not in _OPERATION:
            raise UsageError(f"the operation is {operation!r:.60}; give {', '.join(_OPERATION)}.")
        scope = 0 if operation in ("send", "receive", "collective") else 1
        kind = _OPERATION[operation] | (BLOCKING if blocking else 0)
        rows["transfers"].append((size, call, call, kind, scope, peer, tag))

    def complete(self, location: int, call: int, posted: int) -> None:
        """Say that a call completed what another one posted."""
        self._at(location).rows["completions"].append((call, posted))

    def enter(self, location: int, region: str, time: int) -> None:
        """Enter a region of the user."""
        self._at(location).mark(region, time, 1)

    def leave(self, location: int, region: str, time: int) -> None:
        """Leave it."""
        self._at(location).mark(region, time, -1)

    def group(self, location: int, members: Sequence[int]) -> int:
        """Return the number of a group of locations, for post and start."""
        groups = self._at(location).groups
        groups.append((len(groups), list(members)))
        return len(groups) - 1

    def clock(self, location: int, local: int, offset: int, error: int = 0) -> None:
        """Add a sample of the clock."""
        self._at(location).rows["clock"].append((local, offset, error))

    def write(self, folder: str | Path, *, block: int = 1 << 16, rng: np.random.Generator | None = None) -> Path:
        """Write the trace and return its folder; with `rng`, records stand in random order."""
        folder = path_of(folder, "the trace")
        require_positive(block, "block", whole=True)
        require_kind(rng, np.random.Generator | None, "rng", "give numpy.random.default_rng(0)")
        write_header(folder, len(self.locations), **self._facts)
        for one in self.locations:
            tables = one.tables()
            if rng is not None:
                for name, table in tables.items():
                    order = rng.permutation(len(table[TABLES[name][0][0]]))
                    tables[name] = {column: values[order] for column, values in table.items()}
            write_location(folder, one.location, tables, one.definitions(), block=block)
        return folder


class _LocationBuilder:
    """One location of it."""

    def __init__(self, location: int, locations: int, functions: Sequence[str]) -> None:
        self.location, self._size, self._functions = location, locations, frozenset(functions)
        self.rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in TABLES}
        self.groups: list[tuple[int, list[int]]] = []
        self._regions: dict[str, int] = {}
        self._paths: dict[tuple[int, int], int] = {}
        self._of_call: dict[int, int] = {}
        self._open: list[int] = []
        self._number = 0

    def call(self, name: str, enter: int, leave: int, scope: int, peer: int, under: int | None) -> int:
        try:
            parent = self._of_call[under] if under is not None else self._open[-1] if self._open else 0
        except (KeyError, TypeError):
            raise UsageError(f"under is {brief(under)}; give the number of an earlier call of this location.") from None
        number = self._next()
        self._of_call[number] = self._path(parent, name)
        self.rows["calls"].append((enter, leave, number, self._of_call[number], scope, peer))
        return number

    def mark(self, region: str, time: int, way: int) -> None:
        inner = self._open[-1] if self._open else 0
        if way > 0:
            path = self._path(inner, region)
            self._open.append(path)
        else:
            path = self._open.pop() if self._open else self._path(0, region)
        self.rows["marks"].append((time, self._next(), path, way))

    def tables(self) -> dict[str, Columns]:
        found = {}
        for name, columns in TABLES.items():
            try:
                rows = np.array(self.rows[name], dtype=np.int64).reshape(-1, len(columns))
            except (TypeError, ValueError, OverflowError) as error:
                raise UsageError(f"the {name} of location {self.location} have no whole number somewhere: {error}.") from error
            found[name] = {column: rows[:, k].astype(kind) for k, (column, kind) in enumerate(columns)}
        return found

    def definitions(self) -> dict[str, Any]:
        return {
            "regions": [[number, name] for name, number in self._regions.items()],
            "functions": [number for name, number in self._regions.items() if name in self._functions],
            "paths": [[number, parent, region, -1] for (parent, region), number in self._paths.items()],
            "scopes": [
                [0, "communicator", 0, 0, self._size, self.location, "world"],
                [1, "window", 0, 0, self._size, self.location, "window"],
            ],
            "groups": [list(group) for group in self.groups],
        }

    def _next(self) -> int:
        self._number += 1
        return self._number - 1

    def _path(self, parent: int, name: str) -> int:
        region = self._regions.setdefault(name, len(self._regions))
        return self._paths.setdefault((parent, region), len(self._paths) + 1)
