"""Reads what a location had in memory when its process was killed: a file that the recorder had mapped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.trace.files.tables import ORDER, TABLES, Columns

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
