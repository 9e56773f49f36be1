"""Root and reduction of a measurement, which follow from what measured it and from what its suite says to be fixed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

FACTS = ("root", "reduction")
"""Columns of the index that no file has: the process that is the root, and the operation of a reduction, as ``"MPI_SUM"``."""

_OURS = "sk_time"
"""The program whose root is always process 0, and whose reductions are always sums."""

_ROOTED = frozenset(("bcast", "gather", "scatter", "reduce"))
_ROOTED_SUBSTITUTES = ("Bcast_", "Gather_")
_REDUCING = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "reduce_local", "scan", "exscan")
_REDUCING_SUBSTITUTES = ("Allreduce_", "Reduce_scatter_", "Scan_")


def with_facts(table: pa.Table) -> pa.Table:
    """Return measurements with the columns of `FACTS`: null, or an empty text, where there is nothing of the kind.

    `table`: with ``program``, ``op``, ``x_name``, ``x`` and ``fixed``.
    """
    import pyarrow as pa

    columns = (table[name].to_pylist() for name in ("program", "op", "x_name", "fixed"))
    known: dict[tuple[str, ...], tuple[Any, str]] = {}
    roots, reductions = [], []
    for key, x in zip(zip(*columns, strict=True), table["x"].to_pylist(), strict=True):
        if key not in known:
            known[key] = _facts(*key)
        root, reduction = known[key]
        roots.append(x if key[2] == "root" else root)
        reductions.append(reduction)
    found = {"root": pa.array(roots, pa.int64()), "reduction": pa.array(reductions, pa.string())}
    for name, column in found.items():
        table = table.append_column(name, column)
    return table


def _facts(program: str, op: str, x_name: str, fixed: str) -> tuple[int | None, str]:
    """Return the root, None if there is none or it is unknown, and the reduction, empty likewise."""
    del x_name
    try:
        said = json.loads(fixed or "{}")
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    root, reduction = said.get("root"), said.get("reduction")
    plain = op.partition("[")[0]
    standard = re.match(r"MPI_I?(\w+)", plain)
    name = standard[1].lower() if standard else ""
    if root is None and program == _OURS and (name in _ROOTED or plain.startswith(_ROOTED_SUBSTITUTES)):
        root = 0
    if reduction is None and program == _OURS and (name in _REDUCING or plain.startswith(_REDUCING_SUBSTITUTES)):
        reduction = "MPI_SUM"
    return (root if isinstance(root, int) and abs(root) < 2**62 else None), str(reduction or "")
