"""Writes traces: the header of the folder, and a file for each location."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from scalkit.errors import DataError
from scalkit.trace.files.tables import BLOCK, FILE, KINDS, MAGIC, ORDER, TABLES, Columns, block_bytes

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
