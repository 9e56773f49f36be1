"""The columns of a run's Parquet file: a row is a measurement, repeated attributes of its suite included."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 5
"""Written into every file and marker. This scalkit reads this schema alone: those before it were never released."""

PATTERNS = ("point-to-point", "collective", "master-worker", "simple", "rma", "memory", "kernel")
"""How measurements are performed: those of one pattern can be compared."""

UNITS = {"ns": 1e-9, "By": 1.0, "op": 1.0, "1": 1.0, "[ppm]": 1e-6}
"""Units of stored whole numbers (UCUM), and what one is in the base unit that scalkit computes with."""

BASE_UNITS = {"ns": "s", "By": "B", "op": "op", "1": "1", "[ppm]": "1"}
"""The base unit of each, as scalkit prints it."""

STATISTICS = ("value", "min", "q1", "med", "q3", "max", "mean", "cut_mean")
"""What may stand for a measurement; `cut_mean` is the mean between the quartiles, as in SKaMPI."""

SUITE_KEY = ("op", "pattern", "metric", "x_name", "fixed", "datatype", "sync")
"""What suites of different runs must share to be the same suite."""


@dataclass(frozen=True)
class Column:
    """A column: its name and its kind.

    `kind`, {"int64", "double", "string", "bool", "ints"}: ``ints`` is a list of whole numbers a row.
    `derived`: computed from the raw repetitions: no part of what the name of a file is a hash of.
    """

    name: str
    kind: str
    nullable: bool = False
    derived: bool = False


_SUITE = (
    *(Column(name, "string") for name in ("op", "variant", "pattern", "metric", "unit", "x_name", "x_unit", "axis")),
    *(Column(name, "string") for name in ("fixed", "datatype", "sync", "definition", "role")),
    *(Column(name, "int64", nullable=True) for name in ("warmup", "rep_min", "rep_max")),
    *(Column(name, "double", nullable=True) for name in ("allowed_stderr", "x_step")),
    Column("auto_refined", "bool", nullable=True),
)

_MEASUREMENT = (
    Column("program", "string"),
    *(Column(name, "int64") for name in ("launch", "x")),
    Column("x_real", "double", nullable=True),
    *(Column(name, "int64") for name in ("p", "msg_By", "seq")),
    Column("offset_ms", "int64", nullable=True),
    Column("status", "string"),
    *(Column(name, "bool") for name in ("verified", "oversubscribed")),
    Column("processes_per_node", "int64"),
    Column("foreign_load", "double", nullable=True),
    Column("first", "int64", nullable=True),
    *(Column(name, "ints") for name in ("passes", "raw", "late_at", "overrun_at")),
    *(Column(name, "ints", nullable=True) for name in ("pure", "work")),
    Column("detail", "string", nullable=True),
    # what root alone needed in each repetition, and each process's median
    Column("root_raw", "ints", nullable=True),
    Column("process_med", "ints", nullable=True),
    # the quarters that the mean of the stop rule leaves out; repetitions of which each process's time was kept, and these times
    Column("cut", "string", nullable=True),
    Column("process_at", "ints", nullable=True),
    Column("process_raw", "ints", nullable=True),
)

_DERIVED = (
    *(Column(name, "string", derived=True) for name in ("statistic", "outlier_rule")),
    *(Column(name, "int64", derived=True) for name in ("n", "n_kept")),
    *(Column(name, "double", derived=True) for name in ("value", "min", "q1", "med", "q3", "max", "mean")),
    Column("raw_hash", "int64", derived=True),
    *(Column(name, "double", nullable=True, derived=True) for name in ("sd", "cut_mean")),
    Column("stderr", "double", nullable=True, derived=True),
)

COLUMNS = (Column("suite", "int64"), *_SUITE, *_MEASUREMENT, *_DERIVED)
"""All columns of the newest schema, in the order of the file."""


def names(kind: str | None = None) -> list[str]:
    """Return the names of all columns, or those of a kind."""
    return [column.name for column in COLUMNS if kind is None or column.kind == kind]


def arrow_schema() -> pa.Schema:
    """Return the newest schema as pyarrow knows it."""
    import pyarrow as pa

    kinds: dict[str, Any] = {
        "int64": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "bool": pa.bool_(),
        "ints": pa.list_(pa.int64()),
    }
    return pa.schema([pa.field(column.name, kinds[column.kind], nullable=column.nullable) for column in COLUMNS])


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
