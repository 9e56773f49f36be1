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


_KERNELS = ("sk_function", "sk_mafia")
_RMA = re.compile(r"MPI_(R?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap)|(MPI_)?win_\w+", re.I)
_SIMPLE = re.compile(
    r"MPI_(wtime|wtick|comm_(rank|size|group)|group_\w+|type_\w+|iprobe|reduce_local|pack|unpack|buffer_\w+)", re.I
)
_TWO_SIDED = re.compile(
    r"(MPI_(I?[bsr]?send\w*|I?recv\w*|I?sendrecv\w*|m?probe)|Ping_pong|Bw|Bibw|Mbw_mr|Recv_any_\w+|Sendrecv_\w+)(?!\w)", re.I
)
_MASTER_WORKER = re.compile(r"master[_-]?worker", re.I)


def pattern_of(op: str, program: str, said: str = "") -> str:
    """Return the pattern that an operation was measured by: what its record says, else what its name tells.

    Simple are calls without communication; one that makes a communicator is a collective.

    >>> pattern_of("MPI_Gather", "sk_time"), pattern_of("MPI_Send", "sk_time"), pattern_of("MPI_Comm_rank[x1000]", "sk_time")
    ('collective', 'point-to-point', 'simple')
    >>> pattern_of("MPI_Put[flush]", "sk_time"), pattern_of("MPI_Comm_split", "sk_time")
    ('rma', 'collective')
    """
    from scalkit.store.runs.columns import PATTERNS

    if said in PATTERNS:
        return said
    if program in _KERNELS:
        return "kernel"
    name = op.partition("[")[0]
    for pattern, found in (
        ("master-worker", _MASTER_WORKER.match(name)),
        ("point-to-point", _TWO_SIDED.fullmatch(name)),
        ("rma", _RMA.fullmatch(name)),
        ("simple", _SIMPLE.fullmatch(name)),
    ):
        if found:
            return pattern
    return "collective"


def role_of(op: str) -> str:
    """Return whether an operation is MPI's own, a ``subject``, or one that is programmed with others, a ``substitute``."""
    is_subject = op.startswith("MPI_") or op.partition("[")[0] in ("Ping_pong", "Bw", "Bibw", "Mbw_mr")
    return "subject" if is_subject else "substitute"
