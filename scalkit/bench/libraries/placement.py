"""An MPI library whose processes are put on nodes so many at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil
from pathlib import Path

from scalkit.bench.libraries.mpi import Mpi
from scalkit.errors import UsageError


@dataclass(frozen=True)
class PlacedMpi(Mpi):
    """A library whose launcher gets a placement.

    `per_node`: at most so many processes on a node.
    """

    per_node: int = 1

    def command(self, n: int, program: str, *arguments: str, forward: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that starts `n` ranks on as few nodes as the placement allows."""
        words = super().command(n, program, *arguments, forward=forward)
        return [words[0], *self._options(n), *words[1:]]

    def _options(self, n: int) -> list[str]:
        per_node = min(n, self.per_node)
        if Path(self.mpiexec).name == "srun":
            return [f"--nodes={nodes_needed(n, self.per_node)}", f"--ntasks-per-node={per_node}"]
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


def nodes_needed(processes: int, per_node: int) -> int:
    """Return how many nodes hold so many processes."""
    return ceil(processes / per_node)
