"""Any MPI program in virtual time, at several numbers of processes: launched, accounted for by the layer, kept as run files."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from scalkit.bench.arguments import require_counts
from scalkit.bench.campaign.campaign import CellCampaign
from scalkit.bench.campaign.folder import Folder, Launch, write_whole
from scalkit.bench.campaign.launch import Launcher
from scalkit.bench.limits import CampaignArguments
from scalkit.bench.process import LAST_LINES, run_program
from scalkit.bench.provenance import digest_of_files, env_record, utc_now
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import LaunchError, UsageError
from scalkit.native import build, sources

KIND = "program"

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


@dataclass(frozen=True)
class ProgramArguments(CampaignArguments):
    """What decides a campaign of a program.

    `command`: the program and its arguments.
    `counts`: numbers of processes, ascending.
    `machine`: the numbers of the virtual machine, and what computing costs.
    Raises UsageError if there is no program, or a number of processes is not allowed.
    """

    command: tuple[str, ...]
    counts: tuple[int, ...]
    machine: str
    runs: int = 1
    seed: int = 0
    budget_s: float | None = None
    files: str = field(default="", init=False)
    """SHA-256 of the files that the command names, so that a changed program is another one."""

    def __post_init__(self) -> None:
        if not self.command:
            raise UsageError("no program is named; write it after --, as in -- ./prog 1000.")
        require_counts("-n", self.counts, least=1)
        object.__setattr__(self, "files", digest_of_files(self.command))

    @property
    def name(self) -> str:
        """What the whole program is called in run files: that of its script, if it has one."""
        scripts = [Path(word).stem for word in self.command if word.endswith(".py")]
        return (scripts or [Path(self.command[0]).name])[0] or "program"

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        return {"kinds": [KIND], **super().as_table()}

    def differing(self, table: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that differ from those in a campaign.toml; more processes may be added."""
        return [name for name in super().differing(table) if name != "counts"]


@dataclass(frozen=True)
class _ProgramLauncher(Launcher):
    """Starts the program, and writes the run file that it cannot write itself."""

    own: ProgramArguments = field(kw_only=True)

    def command(self, launch: Launch, budget_s: float) -> list[str]:
        """Return the command of a launch."""
        return self.mpi.command(launch.p, *self.own.command, forward=self._forward())

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Start a launch and write its run file; what the program printed stands beside it, as ``.txt``.

        Raises LaunchError if it failed, hung, or the layer gave no account of it.
        """
        assert isinstance(self.mpi, VirtualMpi)
        began = utc_now()
        with tempfile.TemporaryDirectory(prefix="scalkit-") as scratch, self.mpi.opened() as mpi:
            output = Path(scratch) / "account.json"
            opened = replace(mpi, output=str(output), stall_s=stall_of(mpi, timeout_s))
            command = replace(self, mpi=opened).command(launch, budget_s)
            outcome = self._started(command, timeout_s)
            told = read_account(output)
        write_whole(self.folder.finished(launch).with_suffix(".txt"), outcome.output)
        if outcome.status != 0:
            raise LaunchError(f"{launch.name} {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}")
        if told is None:
            raise LaunchError(
                f"{launch.name} ended, but not in virtual time: does {self.own.command[0]!r} call MPI_Init and MPI_Finalize, "
                f"and use the library of {self.mpi.mpicc}? {LAST_LINES}\n{outcome.last_lines}"
            )
        provenance = json.loads((self.provenance / f"{KIND}.json").read_text(encoding="utf-8"))
        lines = self._records(launch, told, began, provenance)
        write_whole(self.folder.finished(launch), "".join(f"{json.dumps(line)}\n" for line in lines))
        return ()

    def _records(
        self, launch: Launch, told: Mapping[str, Any], began: str, provenance: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        times = {self.own.name: int(told["completion_ns"])}
        for region in told.get("regions", []):
            times.setdefault(region["name"], max(region["ns"]))
        env = env_record(
            f"{self.run_id}-r{launch.run:02d}",
            KIND,
            self.own.command,
            launch.p,
            started=began,
            mpi_library=self.mpi.library,
            mpi_standard=self.mpi.standard,
            account=dict(told),
            provenance=dict(provenance),
        )
        cells = [
            {"rec": "cell", "op": name, "p": launch.p, "size_B": 0, "n": 1, "t_ns": [max(1, ns)], "status": "converged"}
            for name, ns in times.items()
        ]
        return [env, *cells, {"rec": "end", "records": 1 + len(cells)}]


@dataclass(frozen=True)
class ProgramCampaign(CellCampaign):
    """A campaign of a program that is ready to run."""

    arguments: ProgramArguments

    starter = _ProgramLauncher

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, the smallest first."""
        return tuple(Launch(KIND, p, run) for run in range(self.arguments.runs) for p in self.arguments.counts)


def prepare_program(out: Path, command: tuple[str, ...], counts: tuple[int, ...], mpi: VirtualMpi) -> ProgramCampaign:
    """Return a campaign of a program that is ready to run.

    `out`: folder of the run files; the same program there is resumed.
    `command`: the program and its arguments.
    `counts`: numbers of processes, ascending.
    Raises UsageError if an argument makes no sense, or the folder holds something else.
    """
    folder = Folder(out)
    folder.require_usable()
    machine = f"{mpi.network.words} compute={mpi.compute} scale={mpi.scale:g}"
    campaign = ProgramCampaign(folder, ProgramArguments(command, counts, machine), mpi, mpi.layer)
    campaign.require_same()
    return campaign


def accounts(campaign: ProgramCampaign) -> tuple[Account, ...]:
    """Return the accounts of all launches whose run file is there, by number of processes."""
    found = []
    for launch in campaign.plan:
        path = campaign.folder.finished(launch)
        if path.is_file():
            with path.open(encoding="utf-8") as stream:
                found.append(Account.of(json.loads(stream.readline())["account"]))
    return tuple(found)


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
