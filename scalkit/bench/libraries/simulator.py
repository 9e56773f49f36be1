"""SimGrid SMPI as if it were an MPI library: a platform, its settings, the algorithms of the collectives, and a check."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from scalkit.bench.libraries.mpi import PROBE, Mpi
from scalkit.bench.libraries.platforms import Platform
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.native import build, cache_folder, show_command
from scalkit.support.toml.tables import table_beside

KIND = "SimGrid SMPI"

REPETITIONS = 3
"""A simulation repeats itself: three show that it does."""

COLLECTIVES = tuple(
    "allgather allgatherv allreduce alltoall alltoallv barrier bcast gather reduce reduce_scatter scatter".split()
)
"""The collective operations whose algorithm can be chosen."""

ALGORITHMS: Mapping[str, str] = table_beside(__file__, "smpi.toml")["algorithms"]
"""Algorithms that are used unless others are named: logarithmic ones, as libraries use them for short messages."""

_PROBE_S = 60.0
_NOT_THERE = (
    "the simulator SimGrid SMPI is not here: no {} on PATH. Install it (Debian: apt-get install libsimgrid-dev), or measure "
    "without --platform."
)


@dataclass(frozen=True)
class SimulatedMpi(Mpi):
    """A machine that SimGrid simulates; it compiles and launches as `Mpi` does.

    `per_node`: processes on a host.
    `algorithms`: of the collective operations, all that are not SimGrid's own choice.
    """

    platform: Platform = field(kw_only=True)
    per_node: int = field(kw_only=True)
    algorithms: Mapping[str, str] = field(kw_only=True)
    is_simulated: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The machine in one short line."""
        return f"{self.platform.name}, simulated, {self.per_node} process{'es' if self.per_node > 1 else ''} a node"

    @property
    def usual_runs(self) -> int:
        """Five allocations where nodes are scattered; else one run, for all would be the same."""
        return 1 if self.platform.scatter_seed is None else 5

    def command(self, n: int, program: str, *arguments: str, forward: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that simulates `n` ranks; every rank sees the environment anyway.

        Raises UsageError if there is no room for them.
        """
        self.platform.require_room(n, self.per_node)
        machine = ["-np", str(n), "-hostfile", str(self._hostfile), "-platform", str(self.platform.file)]
        return [self.mpiexec, *machine, *self.configuration, "--log=root.thres:critical", program, *arguments]

    def for_run(self, run: int) -> "SimulatedMpi":
        """Return the same machine with the hosts that a run gets: each has an allocation of its own, where they are scattered."""
        seed = self.platform.scatter_seed
        return self if seed is None else replace(self, platform=replace(self.platform, scatter_seed=seed + run))

    @property
    def configuration(self) -> list[str]:
        """The options of SimGrid."""
        overheads = {"send": "os", "receive": "or", "isend": "ois"}
        settings = {
            "smpi/simulate-computation": "no",
            "smpi/wtime": "0",
            "smpi/privatization": "mmap",
            **{f"smpi/{overheads[key]}": f"0:{value:g}:0" for key, value in self.platform.overheads_s.items()},
            **{f"smpi/{key}": value for key, value in self.algorithms.items()},
        }
        return [f"--cfg={key}:{value}" for key, value in settings.items()]

    @property
    def facts(self) -> dict[str, Any]:
        """What a run file says about the simulation."""
        return {
            "simulation": {
                "platform": self.platform.name,
                "description": self.platform.description,
                "platform_sha256": self.platform.sha256,
                "processes_per_node": self.per_node,
                **({} if self.platform.scatter_seed is None else {"scatter_seed": self.platform.scatter_seed}),
                "overheads_s": dict(self.platform.overheads_s),
                "algorithms": dict(self.algorithms),
                "configuration": self.configuration,
            }
        }

    @property
    def options(self) -> dict[str, object]:
        """Options of sk_time that a simulation needs: it repeats itself."""
        return {"min-reps": REPETITIONS, "max-reps": REPETITIONS, "passes": 1, "warmup": 0}

    @cached_property
    def _hostfile(self) -> Path:
        """The host of each rank, one a line; written once."""
        text = "\n".join(self.platform.places(self.per_node)) + "\n"
        folder = cache_folder("hosts")
        path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.txt"
        if path.is_file():
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as stream:
                stream.write(text)
            os.replace(stream.name, path)
        except OSError as error:
            raise LaunchError(
                f"cannot keep the list of hosts in {folder}: {error.strerror or error}; make room there, or name another "
                "place with XDG_CACHE_HOME."
            ) from error
        return path


def chosen_algorithms(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the algorithms by collective, over those that scalkit uses otherwise.

    `wanted`: such as ``{"bcast": "flattree"}``; ``"default"`` leaves the choice to SimGrid.
    Raises UsageError if a key is no collective, or a name cannot be one.
    """
    for collective, name in wanted.items():
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            raise UsageError(f"algorithms: {name!r:.60} of {collective!r:.40} is no name of an algorithm, such as binomial_tree.")
        if collective not in COLLECTIVES:
            raise UsageError(
                f"algorithms: no algorithm can be chosen for {collective!r:.60}; known are {', '.join(COLLECTIVES)}."
            )
    return {**ALGORITHMS, **wanted}


def simulate(platform: Platform, *, per_node: int = 1, algorithms: Mapping[str, str] | None = None) -> SimulatedMpi:
    """Return a simulated machine, after two ranks met in it.

    `per_node`: processes on a host.
    `algorithms`: by default `ALGORITHMS`.
    Raises BuildError if SimGrid is not installed, or does not compile.
    Raises UsageError if SimGrid does not know an algorithm, or cannot read the platform.
    Raises LaunchError if it does not work otherwise.
    """
    smpicc, smpirun = _program("smpicc"), _program("smpirun")
    used = ALGORITHMS if algorithms is None else algorithms
    show = show_command(smpicc)
    mpi = SimulatedMpi(smpicc, smpirun, KIND, "", "", KIND, show, platform=platform, per_node=per_node, algorithms=dict(used))
    program = str(build(PROBE, smpicc).program("probe"))
    outcome = _run(mpi.command(1, program, "library"))
    _require_platform(mpi, outcome)
    match = re.search(r"^standard (\S+)\nlibrary (.*)", outcome.output, re.MULTILINE)
    if outcome.status != 0 or match is None:
        raise LaunchError(f"{smpirun!r} {outcome.ending}; check SimGrid. {LAST_LINES}\n{outcome.last_lines}")
    outcome = _run(mpi.command(min(2, len(platform.places(per_node))), program, "world"))
    if outcome.status != 0 or not re.search(r"^world [12]$", outcome.output, re.MULTILINE):
        raise LaunchError(
            f"two ranks on {platform.name} did not meet: {smpirun!r} {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}"
        )
    return replace(mpi, library=match[2].strip(), standard=match[1])


def _require_platform(mpi: SimulatedMpi, outcome: Outcome) -> None:
    """Return nothing if SimGrid could read the platform and knows the algorithms."""
    match = re.search(r"Collective '(\w+)' has no algorithm '([^']*)'! Valid algorithms: ([^\n]+)", outcome.output)
    if match is not None:
        known = ", ".join(name.strip() for name in match[3].rstrip(". ").split(","))
        raise UsageError(
            f"algorithms: {match[1]}={match[2]}: SimGrid has no algorithm {match[2]!r} for {match[1]}; known are {known}."
        )
    if outcome.status != 0 and not outcome.output.count("library "):
        said = re.findall(r"\[[^\]]*(?:CRITICAL|ERROR)\] ([^\n]+)", outcome.output)
        what = said[0].strip().rstrip(".") if said else outcome.ending
        raise UsageError(
            f"SimGrid cannot simulate the platform file {mpi.platform.file}: {what[:300]}; mend it, or choose another --platform."
        )


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise BuildError(_NOT_THERE.format(name))
    return path


def _run(command: list[str]) -> Outcome:
    return started(command, timeout_s=_PROBE_S)
