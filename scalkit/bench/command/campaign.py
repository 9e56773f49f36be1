"""A campaign of a command: launched at every point, its time and that of its regions kept in run files, and resumed."""

import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from scalkit import __version__
from scalkit.bench.campaign.folder import Folder, Launch, drawn_orders, write_whole
from scalkit.bench.campaign.loop import Campaign, Start, StopError
from scalkit.bench.command.regions import Region, region_name, regions_of
from scalkit.bench.command.template import Point, Template, begins_with_launcher
from scalkit.bench.functions.sampling import Effort, Status, status_of
from scalkit.bench.libraries.mpi import cores
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.limits import CampaignArguments, require_range
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.bench.provenance import ForeignLoad, digest_of_files, env_record, environment, machine
from scalkit.bench.virtual.account import Account, read_account, stall_of
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import LaunchError, UsageError
from scalkit.support.json_values import json_fields
from scalkit.support.text import shortened

_RANKS = re.compile(r"[1-9][0-9]{0,5}|\{\w+\}")


def program_of(words: Sequence[str]) -> list[str]:
    """Return the program and its arguments of a command such as ``mpiexec -n {p} ./app {n}``, without the launcher.

    Raises UsageError if the command begins otherwise.
    """
    if not begins_with_launcher(words) or not _RANKS.fullmatch(words[2]) or words[3].startswith("-"):
        raise UsageError(
            f"--command {shortened(' '.join(words))}: in virtual time scalkit starts the ranks itself; write "
            "'mpiexec -n {p} PROGRAM ...', without other options of mpiexec, or leave --clock virtual out."
        )
    return list(words[3:])


def clock_name(mpi: VirtualMpi) -> str:
    """Return the library, and all numbers of the machine: two campaigns with the same ones have the same times."""
    return f"{mpi.name}: {mpi.network.words} compute={mpi.compute}"


def _timed(
    mpi: VirtualMpi, words: Sequence[str], variables: Mapping[str, str], timeout_s: float, lock: int
) -> tuple[Outcome, dict[str, Any]]:
    """Return the end of a command in virtual time and the record of the layer; nothing if the command failed.

    Raises LaunchError if it ended without calling the library, or with another one.
    """
    program = program_of(words)
    with TemporaryDirectory(prefix="scalkit-") as scratch, mpi.opened() as opened:
        account = Path(scratch) / "account.json"
        watched = replace(opened, output=str(account), stall_s=stall_of(opened, timeout_s))
        command = watched.command(int(words[2]), *program, forward=variables)
        options = {"timeout_s": timeout_s, "environment": {**mpi.probing, **variables}, "inherited": (lock,)}
        outcome = started(command, StopError, "; check --command", **options)
        told = read_account(account)
    if outcome.status == 0 and told is None:
        raise LaunchError(
            f"the command ended, but not in virtual time: does {program[0]!r} call MPI_Init and MPI_Finalize, and use the "
            f"library of {mpi.mpicc}? {LAST_LINES}\n{outcome.last_lines}"
        )
    return outcome, told or {}


def virtual_mpi(words: Sequence[str], libraries: Sequence[str] = (), *, compute: str = "none", **machine: Any) -> VirtualMpi:
    """Return the library in virtual time that times a command, found and proved.

    `compute`: as `scalkit.bench.virtual.mpi.VirtualMpi.compute`.
    `libraries`, `machine`: arguments of `find_targets`.
    Raises UsageError if the command does not begin with a launcher, and as that does.
    """
    program_of(words)
    (target,) = find_targets(libraries, clock="virtual", **machine)
    assert isinstance(target.mpi, VirtualMpi)
    return replace(target.mpi, compute=compute)


KIND = "command"
_SHARE_S = 2.0
"""Repetitions of a launch go on for so long where no budget is given; a program that lasts longer has the fewest."""


@dataclass(frozen=True)
class CommandArguments(CampaignArguments):
    """What decides a campaign of a command; two with the same ones are the same.

    `runs`: how often every point is launched anew.
    `min_reps`, `max_reps`: repetitions of the command in a launch.
    `budget_s` in s: for the whole campaign.
    `seed`: of the order.
    `clock`: in virtual time the library and the machine, as `clock_name`.
    Raises UsageError if one makes no sense.
    """

    template: Template
    points: tuple[Point, ...]
    runs: int = 5
    min_reps: int = 3
    max_reps: int = 100
    budget_s: float | None = None
    seed: int = 0
    clock: str | None = None
    files: str = field(default="", init=False)
    """SHA-256 of the files that the command names, so that a changed program is another one."""

    def __post_init__(self) -> None:
        self.template.require([name for name, _ in self.points[0]])
        for option, value in (("--min-reps", self.min_reps), ("--max-reps", self.max_reps)):
            require_range(option, value, 1, 100_000)
        self.require_usual()
        object.__setattr__(self, "files", digest_of_files(self.template.words))

    @property
    def effort(self) -> Effort:
        """When there are enough repetitions."""
        return Effort(max_samples=self.max_reps, min_samples=self.min_reps, tolerance=0.05)

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        table = {
            "kinds": [KIND],
            "command": self.template.command,
            "set": list(self.template.settings),
            "files": self.files,
            "parameters": [name for name, _ in self.points[0]],
            **json_fields(self, "runs min_reps max_reps seed clock"),
        }
        return {key: value for key, value in table.items() if value is not None}

    def differing(self, table: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that differ from those in a campaign.toml; more points and runs may be added."""
        return [name for name in super().differing(table) if name not in ("runs", "seed")]


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
class _Launcher:
    """Starts the command, and writes the run files."""

    campaign: "CommandCampaign"
    run_id: str
    lock: int

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Repeat the command at one point and write its run file line by line.

        Raises LaunchError if it failed or hung; its output is kept beside the run files as ``.txt``, and its complete
        repetitions in ``.part``.
        """
        assert isinstance(launch, PointLaunch)
        own, folder = self.campaign.arguments, self.campaign.folder
        part = folder.part(launch)
        values: list[float] = []
        regions: dict[str, list[Region]] = {}
        until = monotonic() + (budget_s if own.budget_s is not None else min(budget_s, _SHARE_S))
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
                while status == "budget" and (len(values) < own.min_reps or monotonic() < until):
                    seconds, found, more = self._repetition(launch, timeout_s)
                    values.append(seconds)
                    status = status_of(values, own.effort)
                    write({**_cell(own.template.name, launch.p, len(values) - 1, seconds, status), **more})
                    for one in found:
                        cell = _cell(one.name, launch.p, len(values) - 1, one.seconds, status)
                        write({**cell, **{key: value for key, value in more.items() if key != "account"}})
                        regions.setdefault(one.name, []).append(one)
                for name, several in regions.items():
                    write({"rec": "region", "op": name, "p": launch.p, **Region.joined(several)})
                write({"rec": "end", "records": records})
            os.replace(part, folder.finished(launch))
        except OSError as error:
            raise LaunchError(f"cannot write {part}: {error.strerror or error}; check the folder.") from error
        finally:
            if not values:
                part.unlink(missing_ok=True)
        return ()

    def _repetition(self, launch: PointLaunch, timeout_s: float) -> tuple[float, list[Region], dict[str, Any]]:
        """Return the time of the command, its regions, and further fields of its record: the load, or the account."""
        own, virtual = self.campaign.arguments, self.campaign.virtual
        words, variables = own.template.filled(launch.point)
        account: dict[str, Any] = {}
        with TemporaryDirectory(prefix="scalkit-") as scratch, ForeignLoad() as load:
            variables = {**variables, "SCALKIT_REGIONS": scratch}
            if virtual is None:
                options = {"timeout_s": timeout_s, "environment": variables, "inherited": (self.lock,)}
                outcome = started(words, StopError, "; check --command", **options)
            else:
                outcome, account = _timed(virtual, words, variables, timeout_s, self.lock)
            found, odd = regions_of(Path(scratch), own.template.name)
        self.campaign.odd.update(dict.fromkeys(odd))
        output = self.campaign.folder.finished(launch).with_suffix(".txt")
        if outcome.status != 0 or account:
            write_whole(output, outcome.output)
        if outcome.status != 0:
            where = ", ".join(f"{name} = {value}" for name, value in launch.point) or "the only point"
            raise LaunchError(
                f"{launch.name}: the command {outcome.ending} at {where}; its output is in {output}. {LAST_LINES}\n"
                f"{outcome.last_lines}"
            )
        if not account:
            return outcome.wall_s, found, {} if load.share is None else {"foreign_load": round(load.share, 4)}
        known = {one.name for one in found}
        for one in account.get("regions", ()):
            name = region_name(one["name"], own.template.name)
            if name not in known:  # those of scalkit/region.h left a file, with their memory
                found.append(Region(name, 1e-9 * max(one["ns"]), max(one["calls"]), None, None))
        return 1e-9 * account["completion_ns"], found, {"account": account}

    def _environment(self, launch: PointLaunch) -> dict[str, Any]:
        own, virtual = self.campaign.arguments, self.campaign.virtual
        words, variables = own.template.filled(launch.point)
        facts = {} if virtual is None else virtual.facts
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
            provenance={"scalkit": __version__, "files": own.files, **machine(), **facts},
        )


def _cell(name: str, p: int, number: int, seconds: float, status: str) -> dict[str, Any]:
    t_ns = [max(1, round(seconds * 1e9))]
    return {"rec": "cell", "op": name, "p": p, "size_B": 0, "pass": number, "n": 1, "t_ns": t_ns, "status": status}


@dataclass(frozen=True)
class CommandCampaign(Campaign):
    """A campaign of a command that is ready to run.

    `odd`: what is odd about regions, each sentence once.
    """

    folder: Folder
    arguments: CommandArguments
    virtual: VirtualMpi | None = None
    odd: dict[str, None] = field(default_factory=dict, compare=False)

    @property
    def plan(self) -> tuple[PointLaunch, ...]:
        """All launches, run after run, within each in an order drawn from the seed."""
        runs = (((point, run) for point in self.arguments.points) for run in range(self.arguments.runs))
        return tuple(_launch(point, run) for point, run in drawn_orders(self.arguments.seed, runs))

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """The conditions in campaign.toml."""
        return {"settings": {}, "environment": environment(), "machine": machine()}

    @contextmanager
    def opened(self, run_id: str, lock: int) -> Iterator[Start]:
        """Yield the function that does a launch."""
        yield _Launcher(self, run_id, lock).run

    def remarks(self) -> tuple[str, ...]:
        """Return what is odd about regions."""
        return tuple(self.odd)

    def accounts(self) -> tuple[Account, ...]:
        """Return what the layer of virtual time says of the launches that are done, by number of processes."""
        found = []
        for launch in self.plan:
            path = self.folder.finished(launch)
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() and launch.run == 0 else ()
            told = next((record["account"] for record in map(json.loads, lines) if "account" in record), None)
            found += [Account.of(told)] if told else []
        return tuple(sorted(found, key=lambda one: one.p))


def _launch(point: Point, run: int) -> PointLaunch:
    others = " ".join(f"{name}={value}" for name, value in point if name != "p")
    return PointLaunch(f"{KIND} {others}".strip(), dict(point).get("p", 1), run, point)


def prepare_command(out: Path, arguments: CommandArguments, virtual: VirtualMpi | None = None) -> CommandCampaign:
    """Return a campaign of a command that is ready to run: folder and program checked.

    `virtual`: what its times are read from; by default the clock of this machine.
    Raises UsageError if the folder cannot be used or holds something else, or there is no such program.
    """
    folder = Folder(out)
    folder.require_usable()
    words, *_ = (arguments.template.filled(point)[0] for point in arguments.points)
    program = (words if virtual is None else program_of(words))[0]
    if shutil.which(program) is None:
        raise UsageError(f"--command: there is no program {program!r}; give its path, as in ./app.")
    campaign = CommandCampaign(folder, arguments, virtual)
    campaign.require_same()
    return campaign
