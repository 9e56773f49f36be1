"""A command in virtual time: its launcher is taken off, and its ranks are started above the layer that owns the clock."""

import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.launch import StopError
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.bench.virtual.program import read_account, stall_of
from scalkit.errors import LaunchError, UsageError
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
