"""Launches of MPI programs that write run files: the command, the run file put in place, the message when one fails."""

import json
import os
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scalkit.bench.campaign.folder import Folder, Launch, write_whole
from scalkit.bench.campaign.loop import Campaign, Start, StopError
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.limits import CampaignArguments
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.bench.provenance import conditions, write_provenance
from scalkit.errors import LaunchError
from scalkit.support.native import Build

_WRONG_INPUT, _WRONG_WORLD, _WRONG_RESULT = 2, 3, 4
"""Exit statuses of the programs; with the last one the run file is complete, and marked."""

_END_B = 65536
"""The last record of a run file is shorter than this."""


@dataclass(frozen=True)
class MpiCampaign(Campaign):
    """A campaign of MPI programs that write run files. A subclass says which program a launch starts, and its options."""

    folder: Folder
    arguments: CampaignArguments
    mpi: Mpi
    build: Build

    @abstractmethod
    def program(self, launch: Launch) -> tuple[str, ...]:
        """Return the program of a rank, and its first arguments."""

    @abstractmethod
    def options(self, launch: Launch) -> Mapping[str, object]:
        """Return the options of the program that not all programs take."""

    def table(self, launch: Launch) -> str:
        """Return the text of the table that the program reads (``--experiments``); empty if it reads none."""
        return ""

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """The conditions in campaign.toml: library, settings, environment, programs, machine."""
        return conditions(self.mpi, self.build, self.settings)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that scalkit sets, the same for all numbers of processes."""
        most = max(launch.p for launch in self.plan)
        return self.mpi.environment_for(min(most, self.arguments.processes_per_node or most))

    @contextmanager
    def opened(self, run_id: str, lock: int) -> Iterator[Start]:
        """Yield the function that does a launch."""
        settings = self.settings
        with TemporaryDirectory(prefix="scalkit-") as scratch:
            write_provenance(Path(scratch), {launch.kind for launch in self.plan}, self.mpi, self.build, settings)
            yield _Launcher(self, run_id, settings, Path(scratch), lock).run


@dataclass(frozen=True)
class _Launcher:
    """The launches of a campaign.

    `environment`: settings that were applied.
    `provenance`: folder of JSON files for the run files, one for each kind of launch.
    `lock`: file descriptor that the launches inherit.
    """

    campaign: MpiCampaign
    run_id: str
    environment: Mapping[str, str]
    provenance: Path
    lock: int

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Start a launch, put its run file in place, and return a sentence for each operation with a wrong result.

        Raises LaunchError if it died, hung, wrote nothing, or could not start; what it measured stays in its ``.part``
        file.
        """
        folder, mpi = self.campaign.folder, self.campaign.mpi
        part, path = folder.part(launch), folder.finished(launch)
        table = path.with_suffix(".csv")
        if text := self.campaign.table(launch):
            write_whole(table, text)
        before = _written(part)
        with mpi.for_kind(launch.kind).opened() as opened:
            command = self._command(opened, launch, budget_s, {"experiments": str(table.absolute())} if text else {})
            outcome = started(command, timeout_s=timeout_s, environment=self.environment, inherited=(self.lock,))
        if outcome.status not in (0, _WRONG_RESULT):
            raise _failure(launch, outcome)
        if _written(part) == before:
            raise LaunchError(
                f"{launch.name}: {mpi.mpiexec!r} {outcome.ending}, but the program wrote nothing; check that this launcher "
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
        table.unlink(missing_ok=True)  # after a failure it is kept, to try again by hand
        return ()

    def _command(self, mpi: Mpi, launch: Launch, budget_s: float, more: Mapping[str, object]) -> list[str]:
        options = {
            "out": str(self.campaign.folder.part(launch).absolute()),
            "expect-np": launch.p,
            "seed": launch_seed(self.campaign.arguments.seed, launch),
            "run-id": f"{self.run_id}-r{launch.run:02d}",
            "provenance": str(self.provenance / f"{launch.kind}.json"),
            "budget": f"{budget_s:.3f}",
            **more,
            **self.campaign.options(launch),
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        program = self.campaign.program(launch)
        return mpi.for_run(launch.run).command(launch.p, *program, *words, forward=self._forward())

    def _forward(self) -> dict[str, str]:
        """Return variables that change what is measured and that a launcher may not hand on by itself."""
        names = {"LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SKFAULT", *self.environment}
        return {name: os.environ.get(name, "") for name in sorted(names) if name in os.environ or name in self.environment}


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
