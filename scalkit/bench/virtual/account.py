"""The account that the layer of virtual time gives of a launch, and the messages of single operations."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from scalkit.bench.process import LAST_LINES, run_program
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import LaunchError
from scalkit.support.native import build, sources

_STALL_SHARE = 0.6
"""Of the time limit of a launch: who waits for whom is said before it ends, after MPI_Init has taken its time."""


@dataclass(frozen=True)
class Account:
    """What one launch of a program needed in virtual time.

    `p`: processes.
    `completion_s` in s: from the end of MPI_Init to the begin of MPI_Finalize, of the last process.
    `mpi_share`, `most_mpi_share`: time within calls of MPI over all time, mean and maximum over the processes.
    `messages`, `bytes`: sent by all processes; what the library adds for itself counts.
    """

    p: int
    completion_s: float
    mpi_share: float
    most_mpi_share: float
    messages: int
    bytes: int

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Account":
        """Return the account that the layer wrote."""
        shares = [spent / max(1, lasted) for spent, lasted in zip(told["mpi_ns"], told["clock_ns"], strict=True)]
        mean = sum(shares) / len(shares)
        return cls(told["processes"], 1e-9 * told["completion_ns"], mean, max(shares), told["messages"], told["bytes"])


def stall_of(mpi: VirtualMpi, timeout_s: float) -> int:
    """Return after how many s without an event the layer says who waits for whom: before the time limit of a launch."""
    return max(1, min(mpi.stall_s, int(_STALL_SHARE * timeout_s)))


def read_account(path: Path) -> dict[str, Any] | None:
    """Return the account of the layer; None if there is none, or it is not whole."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("completion_ns"), int) else None


_REDUCING = ("MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter_block")


class Message(NamedTuple):
    """What one process put on the wire, with the headers of its library; times in ps since the operation began."""

    source: int
    to: int
    n_bytes: int
    sent: int
    arrival: int


@dataclass(frozen=True)
class Recorded:
    """The messages of one call on `P` processes with `S` bytes.

    `messages`: in the order in which they were sent.
    `done` in ps since the operation began, of each process.
    """

    function: str
    P: int
    S: int
    messages: tuple[Message, ...]
    done: tuple[int, ...]


def record_messages(mpi: VirtualMpi, ops: Sequence[str], P: int, S: int, *, timeout_s: float = 600.0) -> tuple[Recorded, ...]:
    """Return the messages of the last call of each operation, in the order of `ops`.

    `ops`: names of operations of MPI that `sk_time` measures, such as ``"MPI_Bcast"``.
    Raises LaunchError if a launch failed.
    """
    found: dict[str, Recorded] = {}
    for datatype in ("double", "byte"):  # played reductions are of items of 8 B; other operations cut data at any byte
        mine = [op for op in ops if (op in _REDUCING and S % 8 == 0) == (datatype == "double")]
        if mine:
            lines = _lines(mpi, mine, P, S, datatype, timeout_s)
            found |= {op: _last_call(lines, op, P, S) for op in mine}
    return tuple(found[op] for op in ops)


def _lines(mpi: VirtualMpi, ops: Sequence[str], P: int, S: int, datatype: str, timeout_s: float) -> list[str]:
    program = str(build(sources("microbench"), mpi.mpicc, library=mpi.library).program("sk_time"))
    with TemporaryDirectory(prefix="scalkit-") as scratch, mpi.opened() as opened:
        file = Path(scratch) / "messages.txt"
        words = [f"--out={scratch}/run.jsonl", f"--expect-np={P}", "--seed=1", f"--size={S}", f"--ops={','.join(ops)}"]
        words += [f"--datatype={datatype}"]
        words += [f"--{name}={value}" for name, value in mpi.options.items()]
        command = replace(opened, messages=str(file)).command(P, program, *words)
        outcome = run_program(command, timeout_s=timeout_s, environment=mpi.probing)
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    if outcome.status != 0:
        raise LaunchError(f"{', '.join(ops)} with {P} processes and {S} B {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}")
    return lines


def _last_call(lines: Sequence[str], function: str, P: int, S: int) -> Recorded:
    rows: dict[str, list[list[int]]] = {"call": [], "message": []}
    for kind, call, name, *rest in map(str.split, lines):
        if name == function:
            rows[kind].append([int(call), *map(int, rest)])
    last = max((row[0] for row in rows["call"]), default=0)
    calls = sorted(row[1:] for row in rows["call"] if row[0] == last)
    if len(calls) != P:
        raise LaunchError(f"{len(calls)} of {P} processes called {function} in virtual time; name an operation of all processes.")
    start = max(begin for _, begin, _ in calls)
    found = [
        Message(source, to, n_bytes, sent - start, arrival - start)
        for call, source, to, n_bytes, sent, arrival in rows["message"]
        if call == last
    ]
    done = tuple(end - start for _, _, end in calls)
    return Recorded(function, P, S, tuple(sorted(found, key=lambda one: one.sent)), done)
