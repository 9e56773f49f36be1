"""A campaign of a command: launched at every point, its time and that of its regions kept in run files, and resumed."""

import json
import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scalkit import __version__
from scalkit.bench.campaign.folder import Folder, Launch, drawn_orders, new_record, write_whole
from scalkit.bench.campaign.launch import StopError
from scalkit.bench.campaign.loop import Progress, Result, do_missing
from scalkit.bench.command.regions import FUNCTIONS, Region, auditing, regions_of, unseen
from scalkit.bench.command.template import Point, Template
from scalkit.bench.functions.sampling import Effort, Status, status_of
from scalkit.bench.libraries.mpi import cores, launcher_kind
from scalkit.bench.libraries.targets import binding, find_targets
from scalkit.bench.limits import CampaignArguments, first_change, require_range
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.bench.provenance import ForeignLoad, digest_of_files, env_record, environment, machine
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.bench.virtual.program import read_account, stall_of
from scalkit.errors import LaunchError, UsageError
from scalkit.json_values import json_fields
from scalkit.text import shortened

_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")
_COUNTS = ("-n", "-np", "--np")
_RANKS = re.compile(r"[1-9][0-9]{0,5}|\{\w+\}")


def program_of(words: Sequence[str]) -> list[str]:
    """Return the program and its arguments of a command such as ``mpiexec -n {p} ./app {n}``, without the launcher.

    Raises UsageError if the command begins otherwise.
    """
    begins = len(words) > 3 and Path(words[0]).name in _LAUNCHERS and words[1] in _COUNTS
    if not begins or not _RANKS.fullmatch(words[2]) or words[3].startswith("-"):
        raise UsageError(
            f"--command {shortened(' '.join(words))}: in virtual time scalkit starts the ranks itself; write "
            "'mpiexec -n {p} PROGRAM ...', without other options of mpiexec, or leave --clock virtual out."
        )
    return list(words[3:])


@dataclass(frozen=True)
class VirtualClock:
    """Starts the ranks of a command in virtual time, and takes what the layer says they took."""

    mpi: VirtualMpi

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the run files say about the clock."""
        return self.mpi.facts

    @property
    def name(self) -> str:
        """The library, and all numbers of the machine: two campaigns with the same ones have the same times."""
        return f"{self.mpi.name}: {self.mpi.network.words} compute={self.mpi.compute} scale={self.mpi.scale:g}"

    def timed(self, words: Sequence[str], variables: Mapping[str, str], timeout_s: float, lock: int) -> tuple[Outcome, float]:
        """Return how the command ended, and the virtual seconds from MPI_Init to MPI_Finalize of the last rank.

        Raises LaunchError if it ended without calling them, or with another library.
        """
        program = program_of(words)
        with tempfile.TemporaryDirectory(prefix="scalkit-") as scratch, self.mpi.opened() as opened:
            account = Path(scratch) / "account.json"
            mpi = replace(opened, output=str(account), stall_s=stall_of(opened, timeout_s))
            command = mpi.command(int(words[2]), *program, forward=variables)
            options = {"timeout_s": timeout_s, "environment": {**mpi.probing, **variables}, "inherited": (lock,)}
            outcome = started(command, StopError, "; check --command", **options)
            told = read_account(account)
        if outcome.status == 0 and told is None:
            raise LaunchError(
                f"the command ended, but not in virtual time: does {program[0]!r} call MPI_Init and MPI_Finalize, and use the "
                f"library of {self.mpi.mpicc}? {LAST_LINES}\n{outcome.last_lines}"
            )
        return outcome, math.nan if told is None else 1e-9 * told["completion_ns"]


def virtual_clock(words: Sequence[str], libraries: Sequence[str] = (), **machine: Any) -> VirtualClock:
    """Return the clock that times a command, its library found and proved.

    `libraries`, `machine`: arguments of `find_targets`.
    Raises UsageError if the command does not begin with a launcher, and as that does.
    """
    program_of(words)
    (target,) = find_targets(libraries, clock="virtual", **machine)
    assert isinstance(target.mpi, VirtualMpi)
    return VirtualClock(target.mpi)


KIND = "command"
_SHARE_S = 2.0
"""Repetitions of a launch go on for so long where no budget is given; a program that lasts longer has the fewest."""


@dataclass(frozen=True)
class CommandArguments(CampaignArguments):
    """What decides a campaign of a command; two with the same ones are the same.

    `runs`: how often every point is launched anew.
    `min_reps`, `max_reps`: repetitions of the command in a launch.
    `standard_error`: as in `scalkit.bench.functions.sampling.Effort`.
    `budget_s` in s: for the whole campaign.
    `seed`: of the order.
    `clock`: in virtual time the library and the machine, as `VirtualClock.name`.
    Raises UsageError if one makes no sense.
    """

    template: Template
    points: tuple[Point, ...]
    runs: int = 5
    min_reps: int = 3
    max_reps: int = 100
    standard_error: float | None = None
    budget_s: float | None = None
    seed: int = 0
    clock: str | None = None
    bind: str | None = None
    """What the launcher binds each process to, as in `scalkit.bench.arguments.Arguments`."""
    files: str = field(default="", init=False)
    """SHA-256 of the files that the command names, so that a changed program is another one."""

    def __post_init__(self) -> None:
        self.template.require([name for name, _ in self.points[0]])
        for option, value in (("--runs", self.runs), ("--min-reps", self.min_reps), ("--max-reps", self.max_reps)):
            require_range(option, value, 1, 100_000)
        if self.min_reps > self.max_reps:
            raise UsageError(
                f"--min-reps {self.min_reps} is greater than --max-reps {self.max_reps}; lower the first or raise the second."
            )
        for option, given in (("--budget", self.budget_s), ("--standard-error", self.standard_error)):
            if given is not None and not 0 < given < float("inf"):
                raise UsageError(f"{option} {given:g}: a positive number is needed.")
        if self.bind and self.clock:
            raise UsageError(f"--bind {self.bind}: processes of a virtual machine have no cores; leave it out.")
        if self.clock and any(text.startswith(f"{FUNCTIONS}=") for text in self.template.settings):
            raise UsageError("--functions sees no virtual time; mark regions by scalkit/region.h there.")
        object.__setattr__(self, "files", digest_of_files(self.template.words))

    def filled(self, point: Point) -> tuple[list[str], dict[str, str]]:
        """Return the words of the command at a point, with its launcher's options to bind, and its variables."""
        words, variables = self.template.filled(point)
        if self.bind is not None:
            words[1:1] = binding(words[0], launcher_kind(words[0]), self.bind, dict(point).get("p", 1))
        return words, variables

    @property
    def effort(self) -> Effort:
        """When there are enough repetitions."""
        return Effort(max_samples=self.max_reps, min_samples=self.min_reps, standard_error=self.standard_error, tolerance=0.05)

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        table = {
            "kinds": [KIND],
            "command": self.template.command,
            "set": list(self.template.settings),
            "files": self.files,
            "parameters": [name for name, _ in self.points[0]],
            **json_fields(self, "runs min_reps max_reps standard_error seed clock bind"),
        }
        return {key: value for key, value in table.items() if value is not None}


@dataclass(frozen=True)
class PointLaunch(Launch):
    """One start of the command's repetitions at one point; `kind` names the other parameters, for messages."""

    point: Point = ()

    @property
    def name(self) -> str:
        """Name of its run file without suffix."""
        at = "-".join(f"{name}{value}" for name, value in self.point)
        return f"{KIND}-{at}-r{self.run:02d}" if at else f"{KIND}-r{self.run:02d}"


@dataclass(frozen=True)
class CommandLauncher:
    """Starts the command, and writes the run files."""

    arguments: CommandArguments
    folder: Folder
    run_id: str
    lock: int
    has_budget: bool
    virtual: VirtualClock | None = None
    odd: dict[str, None] = field(default_factory=dict)
    """What is odd about regions, each sentence once."""

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Repeat the command at one point and write its run file line by line.

        Raises LaunchError if it failed or hung; its output is kept beside the run files as ``.txt``, and its complete
        repetitions in ``.part``.
        """
        assert isinstance(launch, PointLaunch)
        part = self.folder.part(launch)
        values: list[float] = []
        regions: dict[str, list[Region]] = {}
        until = time.monotonic() + (budget_s if self.has_budget else min(budget_s, _SHARE_S))
        try:
            with part.open("w", encoding="utf-8") as stream:
                records = 0

                def write(record: Mapping[str, Any]) -> None:
                    nonlocal records
                    records += 1
                    stream.write(f"{json.dumps(record)}\n")
                    stream.flush()

                write(self._environment(launch))
                status: Status = "budget"
                while status == "budget" and (len(values) < self.arguments.min_reps or time.monotonic() < until):
                    wall_s, found, odd, load = self._repetition(launch, timeout_s)
                    values.append(wall_s)
                    self.odd.update(dict.fromkeys(odd))
                    status = status_of(values, self.arguments.effort)
                    times = {self.arguments.template.name: wall_s} | {one.name: one.seconds for one in found}
                    for name, seconds in times.items():
                        write(_cell(name, launch.p, len(values) - 1, seconds, load, status))
                    for one in found:
                        regions.setdefault(one.name, []).append(one)
                for name, several in regions.items():
                    write({"rec": "region", "op": name, "p": launch.p, **Region.joined(several)})
                write({"rec": "end", "records": records})
            os.replace(part, self.folder.finished(launch))
        except OSError as error:
            raise LaunchError(f"cannot write {part}: {error.strerror or error}; check the folder.") from error
        finally:
            if not values:
                part.unlink(missing_ok=True)
        return ()

    def _repetition(self, launch: PointLaunch, timeout_s: float) -> tuple[float, list[Region], list[str], float | None]:
        words, variables = self.arguments.filled(launch.point)
        with tempfile.TemporaryDirectory(prefix="scalkit-") as scratch, ForeignLoad() as load:
            variables = {**variables, **auditing(variables), "SCALKIT_REGIONS": scratch}
            outcome, seconds = self._timed(words, variables, timeout_s)
            found, odd = regions_of(Path(scratch), self.arguments.template.name)
            odd += unseen(variables, found)
        if outcome.status != 0:
            kept = self.folder.finished(launch).with_suffix(".txt")
            write_whole(kept, outcome.output)
            where = ", ".join(f"{name} = {value}" for name, value in launch.point) or "the only point"
            raise LaunchError(
                f"{launch.name}: the command {outcome.ending} at {where}; its output is in {kept}. {LAST_LINES}\n"
                f"{outcome.last_lines}"
            )
        return seconds, found, odd, load.share if self.virtual is None else None

    def _timed(self, words: list[str], variables: Mapping[str, str], timeout_s: float) -> tuple[Outcome, float]:
        if self.virtual is not None:
            return self.virtual.timed(words, variables, timeout_s, self.lock)
        options = {"timeout_s": timeout_s, "environment": variables, "inherited": (self.lock,)}
        outcome = started(words, StopError, "; check --command", **options)
        return outcome, outcome.wall_s

    def _environment(self, launch: PointLaunch) -> dict[str, Any]:
        words, variables = self.arguments.filled(launch.point)
        facts = {} if self.virtual is None else self.virtual.facts
        # "2,4" are the threads of nested regions
        threads = math.prod(map(int, re.findall(r"\d+", variables.get("OMP_NUM_THREADS", ""))))
        return env_record(
            f"{self.run_id}-r{launch.run:02d}",
            KIND,
            words,
            launch.p,
            **({"parameter": dict(launch.point)} if launch.point else {}),
            oversubscribed=launch.p * threads > cores(),
            environment=environment() | variables,
            provenance={"scalkit": __version__, "files": self.arguments.files, **machine(), **facts},
        )


def _cell(name: str, p: int, number: int, seconds: float, load: float | None, status: str) -> dict[str, Any]:
    cell = {"rec": "cell", "op": name, "p": p, "size_B": 0, "pass": number, "n": 1, "t_ns": [max(1, round(seconds * 1e9))]}
    return cell | {"status": status} | ({} if load is None else {"foreign_load": round(load, 4)})


@dataclass(frozen=True)
class CommandCampaign:
    """A campaign of a command that is ready to run."""

    folder: Folder
    arguments: CommandArguments
    virtual: VirtualClock | None = None

    @property
    def plan(self) -> tuple[PointLaunch, ...]:
        """All launches, run after run, within each in an order drawn from the seed."""
        runs = (((point, run) for point in self.arguments.points) for run in range(self.arguments.runs))
        return tuple(_launch(point, run) for point, run in drawn_orders(self.arguments.seed, runs))

    def run(self, *, timeout_s: float | None = None, on_progress: Callable[[Progress], None] | None = None) -> Result:
        """Do every launch whose run file is missing; see `scalkit.bench.campaign.campaign.Campaign.run`."""
        plan = self.plan
        with self.folder.locked() as lock:
            self.require_same()
            record = self.folder.record or new_record(self.arguments, (one.name for one in plan)) | {
                "failures": [],
                "settings": {},
                "environment": environment(),
                "machine": machine(),
            }
            self.folder.write(record)
            given = self.arguments.budget_s
            launcher = CommandLauncher(self.arguments, self.folder, str(record["id"]), lock, given is not None, self.virtual)
            budget_s = None if given is None else given * len(self.folder.missing(plan)) / len(plan)
            return do_missing(launcher, record, plan, budget_s, None, timeout_s, on_progress)

    def require_same(self) -> None:
        """Return nothing if the folder is new or holds the same campaign; more points and runs may be added.

        Raises UsageError, naming what differs.
        """
        record = self.folder.record
        if not record:
            return
        own = {"arguments": self.arguments.as_table(), "environment": environment(), "machine": machine()}
        if shown := first_change(record, own, leave_out=("runs", "seed", "system")):
            raise UsageError(
                f"{self.folder.path} holds other measurements: {shown}. Repeat the command to resume it, or name another --out."
            )


def _launch(point: Point, run: int) -> PointLaunch:
    others = " ".join(f"{name}={value}" for name, value in point if name != "p")
    return PointLaunch(f"{KIND} {others}".strip(), dict(point).get("p", 1), run, point)


def prepare_command(out: Path, arguments: CommandArguments, virtual: VirtualClock | None = None) -> CommandCampaign:
    """Return a campaign of a command that is ready to run: folder and program checked.

    `virtual`: what its times are read from; by default the clock of this machine.
    Raises UsageError if the folder cannot be used or holds something else, or there is no such program.
    """
    folder = Folder(out)
    folder.require_usable()
    words, *_ = (arguments.filled(point)[0] for point in arguments.points)
    program = (words if virtual is None else program_of(words))[0]
    if shutil.which(program) is None:
        raise UsageError(f"--command: there is no program {program!r}; give its path, as in ./app.")
    campaign = CommandCampaign(folder, arguments, virtual)
    campaign.require_same()
    return campaign
