"""Which pattern an operation is measured by, and what a run is measured over."""

from __future__ import annotations

import re

_KERNELS = ("sk_function", "sk_mafia")
_RMA = re.compile(r"MPI_(R?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap)|(MPI_)?win_\w+", re.I)
_SIMPLE = re.compile(
    r"MPI_(wtime|wtick|comm_(rank|size|group)|group_\w+|type_\w+|iprobe|reduce_local|pack|unpack|buffer_\w+)", re.I
)
_TWO_SIDED = re.compile(
    r"(MPI_(I?[bsr]?send\w*|I?recv\w*|I?sendrecv\w*|m?probe)|Ping_pong|Recv_any_\w+|Sendrecv_\w+)(?!\w)", re.I
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
    return "subject" if op.startswith("MPI_") or op == "Ping_pong" else "substitute"
