"""Who sends what to whom in one call of an operation: its messages in virtual time, as the layer writes them down."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scalkit.bench.process import LAST_LINES, run_program
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import LaunchError
from scalkit.native import build, sources

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
