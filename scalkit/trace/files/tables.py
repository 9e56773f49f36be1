"""The tables of a location file: which columns they have, and how they stand in a block."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[np.integer[Any]]]
"""A table: its columns by name, all of one length."""

TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "calls": (("enter", "<i8"), ("leave", "<i8"), ("number", "<u4"), ("path", "<u4"), ("scope", "<i4"), ("peer", "<i4")),
    "transfers": (
        ("bytes", "<i8"),
        ("call", "<u4"),
        ("order", "<u4"),
        ("kind", "<u4"),
        ("scope", "<i4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
    ),
    "completions": (("call", "<u4"), ("posted", "<u4")),
    "marks": (("time", "<i8"), ("number", "<u4"), ("path", "<u4"), ("way", "<i4")),
    "clock": (("local", "<i8"), ("offset", "<i8"), ("error", "<i8")),
    "flushes": (("begin", "<i8"), ("end", "<i8"), ("number", "<u4")),
}
"""Columns of each table in their order, with the type of each in the file."""

KINDS = {"definitions": 1, "calls": 2, "transfers": 3, "completions": 4, "marks": 5, "clock": 6, "flushes": 7, "end": 8}
"""Number of each kind of block."""

PUT, GET, ACCUMULATE, RMW, SEND, RECEIVE, COLLECTIVE = range(1, 8)
OPERATIONS = dict(enumerate(("put", "get", "accumulate", "rmw", "send", "receive", "collective"), 1))
"""What a transfer is: the low 8 bits of its `kind`; the last says how much a process gives to a collective operation. The next 8
bits are the layout of its data: 0 contiguous, 1 strided, 2 vector."""

BLOCKING = 1 << 17
"""Bit in the `kind` of a transfer that the call which posts it also completes."""

SYNCHRONOUS = 1 << 16
"""Bit in the `kind` of a send that cannot end before its receive began."""

EXCLUSIVE = 1 << 30
"""Bit that is added to the `peer` of a call of MPI_Win_lock whose lock is exclusive."""

MAGIC = b"SKTRACE1"
ORDER = 0x01020304
FILE = np.dtype([("magic", "S8"), ("location", "<u4"), ("order", "<u4")])
BLOCK = np.dtype([("magic", "S4"), ("kind", "<u2"), ("columns", "<u2"), ("records", "<u8"), ("bytes", "<u8")])
"""Head of the file, and of each block in it."""


def block_bytes(name: str, records: int) -> int:
    """Return the bytes of the columns of a block; each column begins at a multiple of 8."""
    return sum(-(-records * np.dtype(kind).itemsize // 8) * 8 for _, kind in TABLES[name])


def empty_tables() -> dict[str, Columns]:
    """Return all tables, without records."""
    return {name: {column: np.empty(0, kind) for column, kind in columns} for name, columns in TABLES.items()}
