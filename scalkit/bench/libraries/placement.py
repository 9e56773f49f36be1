"""An MPI library whose processes are put on nodes so many at a time, or bound to cores."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil
from pathlib import Path
from typing import Any

from scalkit.bench.libraries.mpi import Mpi, cores
from scalkit.errors import UsageError


@dataclass(frozen=True)
class PlacedMpi(Mpi):
    """A library whose launcher gets a placement.

    `per_node`: at most so many processes on a node; None leaves it to the launcher.
    `bind`: what each is bound to, ``"core"``, ``"socket"`` or ``"none"``; None leaves it to the launcher.
    """

    per_node: int | None = None
    bind: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What a run file says about it."""
        return {} if self.bind is None else {"bind": self.bind}

    def command(self, n: int, program: str, *arguments: str, forward: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that starts `n` ranks on as few nodes as the placement allows."""
        words = super().command(n, program, *arguments, forward=forward)
        bound = [] if self.bind is None else binding(self.mpiexec, self.launcher, self.bind, min(n, self.per_node or n))
        return [words[0], *([] if self.per_node is None else self._options(n, self.per_node)), *bound, *words[1:]]

    def _options(self, n: int, most: int) -> list[str]:
        per_node = min(n, most)
        if Path(self.mpiexec).name == "srun":
            return [f"--nodes={nodes_needed(n, most)}", f"--ntasks-per-node={per_node}"]
        if self.launcher == "Open MPI":
            return ["--map-by", f"ppr:{per_node}:node:OVERSUBSCRIBE"]
        return ["-ppn", str(per_node)]


def place_processes(mpi: Mpi, per_node: int | None) -> Mpi:
    """Return the library with a placement; as it is without one.

    Raises UsageError if it is not known how its launcher is told.
    """
    if per_node is None:
        return mpi
    if mpi.launcher not in ("MPICH", "Intel MPI", "Open MPI") and Path(mpi.mpiexec).name != "srun":
        raise UsageError(
            f"processes_per_node = {per_node}: it is not known how {mpi.mpiexec!r} is told; use srun, or leave it out."
        )
    return PlacedMpi(**{one.name: getattr(mpi, one.name) for one in fields(mpi)}, per_node=per_node)


def bind_processes(mpi: Mpi, bind: str | None, most: int) -> Mpi:
    """Return the library with a launcher that binds processes, at `most` so many on a node; as it is if `bind` is None.

    Raises UsageError as `binding`, and if they have no cores.
    """
    if bind is None:
        return mpi
    if mpi.repeats_exactly:
        raise UsageError(f"--bind {bind}: processes of a simulated or virtual machine have no cores; leave it out.")
    binding(mpi.mpiexec, mpi.launcher, bind, most)
    return PlacedMpi(**{one.name: getattr(mpi, one.name) for one in fields(mpi)} | {"bind": bind})


def binding(mpiexec: str, launcher: str, bind: str, n: int) -> list[str]:
    """Return the options by which a launcher binds `n` processes of a node.

    Raises UsageError if it is not known how it is told, or there are fewer cores.
    """
    if Path(mpiexec).name == "srun":
        return [f"--cpu-bind={bind}{'s' * (bind != 'none')}"]
    if launcher not in ("MPICH", "Intel MPI", "Open MPI"):
        raise UsageError(f"--bind {bind}: it is not known how {mpiexec!r} is told; use mpiexec or srun, or leave it out.")
    if bind != "none" and n > cores():
        raise UsageError(f"--bind {bind}: {n} processes are more than the {cores()} cores here; use fewer, or --bind none.")
    if launcher == "Intel MPI":
        return ["-genv", "I_MPI_PIN", str(int(bind != "none")), "-genv", "I_MPI_PIN_DOMAIN", bind]
    return ["--bind-to", bind]


def nodes_needed(processes: int, per_node: int) -> int:
    """Return how many nodes hold so many processes."""
    return ceil(processes / per_node)
