"""One launch: the command, its time limit, the run file put in place, and what to say when it fails."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scalkit.bench.arguments import FUNCTIONS, NEIGHBOURHOOD, PROGRAMS, Arguments
from scalkit.bench.campaign.folder import Folder, Launch, write_whole
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.patterns.neighbourhood import experiments, table_text
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.errors import LaunchError
from scalkit.native import Build

_WRONG_INPUT, _WRONG_WORLD, _WRONG_RESULT = 2, 3, 4
"""Exit statuses of the programs; with the last one the run file is complete, and marked."""

_END_B = 65536
"""The last record of a run file is shorter than this."""


@dataclass(frozen=True)
class Launcher:
    """Everything that the launches of a campaign share.

    `run_id`: of the campaign; each launch adds its run.
    `environment`: settings that were applied.
    `provenance`: folder of JSON files for the run files, one for each kind of launch.
    `lock`: file descriptor that the launches inherit.
    `functions`: program and first arguments of a rank that measures functions of the user.
    """

    mpi: Mpi
    build: Build
    arguments: Arguments
    ops: Mapping[str, tuple[str, ...]]
    folder: Folder
    run_id: str
    environment: Mapping[str, str]
    provenance: Path
    lock: int
    functions: tuple[str, ...] = ()

    def options(self, launch: Launch, budget_s: float, seed: int) -> dict[str, object]:
        """Return the options that all programs take."""
        return {
            "out": str(self.folder.part(launch).absolute()),
            "expect-np": launch.p,
            "seed": launch_seed(seed, launch),
            "run-id": f"{self.run_id}-r{launch.run:02d}",
            "provenance": str(self.provenance / f"{launch.kind}.json"),
            "budget": f"{budget_s:.3f}",
        }

    def command(self, launch: Launch, budget_s: float) -> list[str]:
        """Return the command of a launch."""
        own = self.arguments
        options = self.options(launch, budget_s, own.seed)
        if launch.kind == NEIGHBOURHOOD:
            options |= {"experiments": str(self._table(launch).absolute()), "sync": own.sync}
            if self.mpi.is_virtual:
                options |= {"repetitions": self.mpi.options["min-reps"], "warmup": self.mpi.options["warmup"]}
        elif launch.kind == "memory":
            options |= {"ops": ",".join(self.ops[launch.kind]), "shapes": ",".join(own.shapes)}
        else:
            options |= {"ops": ",".join(self.ops[launch.kind]), "size": own.size, "datatype": own.datatype}
            options |= {**own.timing_options, **self.mpi.options}
        if launch.kind != FUNCTIONS:
            return self.started_with({**PROGRAMS, NEIGHBOURHOOD: "sk_neighbours"}[launch.kind], launch, options)
        words = (f"--{name}={value}" for name, value in options.items())
        return self.mpi.for_run(launch.run).command(launch.p, *self.functions, *words, forward=self._forward())

    def started_with(self, program: str, launch: Launch, options: Mapping[str, object]) -> list[str]:
        """Return the command that starts a program of the build for a launch."""
        words = [f"--{name}={value}" for name, value in options.items()]
        path = str(self.build.program(program))
        return self.mpi.for_run(launch.run).command(launch.p, path, *words, forward=self._forward())

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Start a launch, put its run file in place, and return what is wrong with the results in it.

        `budget_s`, `timeout_s` in s: what the program may use, and when it is ended by force.
        Returns: a sentence for each operation whose result was wrong; its records are marked.
        Raises LaunchError if it died, hung, wrote nothing, or could not start; what it measured stays in its ``.part``
        file.
        """
        if launch.kind == NEIGHBOURHOOD:
            rows = experiments(self.arguments.experiments or (), self.arguments.counts)
            write_whole(self._table(launch), table_text(rows, launch.p, launch_seed(self.arguments.seed, launch)))
        part, path = self.folder.part(launch), self.folder.finished(launch)
        before = _written(part)
        with self.mpi.for_kind(launch.kind).opened() as mpi:
            outcome = self._started(replace(self, mpi=mpi).command(launch, budget_s), timeout_s)
        if outcome.status not in (0, _WRONG_RESULT):
            raise _failure(launch, outcome)
        if _written(part) == before:
            raise LaunchError(
                f"{launch.name}: {self.mpi.mpiexec!r} {outcome.ending}, but the program wrote nothing; check that this launcher "
                f"starts programs, or name another with --mpiexec. {LAST_LINES}\n{outcome.last_lines}"
            )
        if not is_complete(part):
            raise LaunchError(
                f"{launch.name} {outcome.ending}, but {part} has no end; check that the launcher waits for its programs. "
                f"{LAST_LINES}\n{outcome.last_lines}"
            )
        try:
            os.replace(part, path)
        except OSError as error:
            raise LaunchError(f"cannot put {path} in place: {error.strerror or error}; check the folder.") from error
        if outcome.status == _WRONG_RESULT:
            return _remarks(launch, outcome)
        self._table(launch).unlink(missing_ok=True)
        return ()

    def _started(self, command: list[str], timeout_s: float) -> Outcome:
        return started(command, timeout_s=timeout_s, environment=self.environment, inherited=(self.lock,))

    def _table(self, launch: Launch) -> Path:
        """Return the path of the table that sk_neighbours reads; it stays there if the launch goes wrong."""
        return self.folder.finished(launch).with_suffix(".csv")

    def _forward(self) -> dict[str, str]:
        """Return variables that change what is measured and that a launcher may not hand on by itself."""
        names = {"LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SKFAULT", *self.environment}
        return {name: os.environ.get(name, "") for name in sorted(names) if name in os.environ or name in self.environment}


class StopError(LaunchError):
    """A launch failed for a reason that all others share: going on is useless."""


def time_limit(launch: Launch, budget_s: float, given_s: float | None) -> float:
    """Return after how many seconds a launch is ended by force: `given_s`, or amply more than its budget."""
    return given_s if given_s is not None else 60.0 + 3.0 * budget_s + 10.0 * launch.start_s


def launch_seed(seed: int, launch: Launch) -> int:
    """Return a seed of its own for each launch, the same in every campaign with this seed."""
    kind = 1 if launch.kind == "memory" else 0
    return (seed * 1_000_003 + launch.run * 20_011 + launch.p * 2 + kind) % 2**63


def _failure(launch: Launch, outcome: Outcome) -> LaunchError:
    text = f"{launch.name} {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}"
    if outcome.status in (_WRONG_INPUT, _WRONG_WORLD):
        return StopError(f"{text}\nEvery other launch would end like this; what was measured before is kept.")
    return LaunchError(text)


def _remarks(launch: Launch, outcome: Outcome) -> tuple[str, ...]:
    said = re.findall(r"\bsk_(?:time|memory|function|p2p|neighbours|master_worker): (.+)", outcome.output)
    return tuple(f"{launch.name}: {text.strip()}." for text in said) or (
        f"{launch.name}: a result was wrong; its records are kept and marked.",
    )


def _written(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; None if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def is_complete(path: Path) -> bool:
    """Return whether the last record of a run file is there, whole."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _END_B))
            tail = stream.read()
        last = json.loads(tail.splitlines()[-1]) if tail.endswith(b"\n") else None
    except (OSError, ValueError):
        return False
    return isinstance(last, dict) and last.get("rec") == "end"
