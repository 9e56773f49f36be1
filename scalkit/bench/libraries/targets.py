"""What a campaign runs on: MPI libraries of this machine, simulated machines, or both, each with a name for its column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import ceil
from pathlib import Path

from scalkit.bench.libraries.installing import compiler_at, find_library
from scalkit.bench.libraries.mpi import Mpi, find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.bench.virtual.mpi import CLOCKS, proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import UsageError

_LAUNCHERS = ("MPICH", "Intel MPI", "Open MPI")
"""Launchers that can be told where processes go, beside srun."""


@dataclass(frozen=True)
class PlacedMpi(Mpi):
    """A library whose launcher puts at most `per_node` processes on a node."""

    per_node: int = field(kw_only=True)

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
    """Return the library with a launcher that places at most `per_node` processes on a node.

    `per_node`: None leaves the placement to the launcher. Simulated and virtual machines place
    their processes themselves; for these the library is returned unchanged.
    Raises UsageError if the option of its launcher is unknown.
    """
    if mpi.repeats_exactly or per_node is None:
        return mpi
    if mpi.launcher not in _LAUNCHERS and Path(mpi.mpiexec).name != "srun":
        raise UsageError(
            f"processes_per_node = {per_node}: the option of {mpi.mpiexec!r} for it is unknown; use srun, or leave it out."
        )
    return PlacedMpi(**{one.name: getattr(mpi, one.name) for one in fields(Mpi)}, per_node=per_node)


def nodes_needed(processes: int, per_node: int) -> int:
    """Return how many nodes hold so many processes."""
    return ceil(processes / per_node)


@dataclass(frozen=True)
class Target:
    """A library or a simulated machine. `label`: name of its folder and of its column in a report."""

    label: str
    mpi: Mpi


def find_targets(
    libraries: Sequence[str] = (),
    platforms: Sequence[str] = (),
    *,
    per_node: int | None = None,
    mpiexec: str | None = None,
    clock: str = "real",
    network: str | None = None,
) -> tuple[Target, ...]:
    """Return everything that is named, each after two ranks met in it; the library that is found if nothing is named.

    `libraries`: names of libraries that were added, or paths of compilers.
    `platforms`: names of simulated machines, or platform files.
    `per_node`: processes on a node of a simulated or virtual machine; by default 1.
    `mpiexec`: launcher of the only library; by default found.
    `clock`: what run times of the libraries are read from.
    `network`: the machine of the virtual clock, as `read_network` takes it; by default ``"cluster"``.
    Raises UsageError if options exclude each other, or a name is unknown or given twice; BuildError or LaunchError if
    one does not work.
    """
    if mpiexec and (len(libraries) > 1 or platforms):
        raise UsageError("--mpiexec starts the processes of one library; name one with --mpi, and no --platform.")
    if clock not in CLOCKS:
        raise UsageError(f"the clock {clock!r:.40} is unknown; choose {' or '.join(CLOCKS)}.")
    is_virtual = clock == "virtual"
    if is_virtual and platforms:
        raise UsageError("--clock virtual is for MPI libraries, --platform for SimGrid; leave one of them out.")
    if network is not None and not is_virtual:
        raise UsageError("--network is the machine of a virtual clock; add --clock virtual.")
    if per_node is not None and not platforms and not is_virtual:
        raise UsageError("--per-node places processes on a simulated machine; name one with --platform, or add --clock virtual.")
    machine = read_network(network or "cluster").with_per_node(per_node) if is_virtual else None
    platform_files = [load_platform(name) for name in platforms]
    targets = [_library(name, mpiexec) for name in libraries]
    if not libraries and not platforms:
        targets = [Target("", find_mpi(None, mpiexec))]
    if machine:
        targets = [replace(target, mpi=proved(virtual(target.mpi, machine))) for target in targets]
    targets += [Target(one.name, simulate(one, per_node=1 if per_node is None else per_node)) for one in platform_files]
    for number, target in enumerate(targets):
        for earlier in targets[:number]:
            if target.label == earlier.label or target.mpi == earlier.mpi:
                raise UsageError(f"{target.label!r} is named twice by --mpi or --platform; name each once.")
    return tuple(targets)


def _library(name: str, mpiexec: str | None) -> Target:
    if "/" in name:
        mpi = find_mpi(compiler_at(name), mpiexec)
        return Target(re.sub(r"[^A-Za-z0-9.]+", "-", mpi.name).strip("-").lower(), mpi)
    library = find_library(name)
    return Target(library.name, library.check(mpiexec))
