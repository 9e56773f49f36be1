"""What a campaign runs on: MPI libraries of this machine, simulated machines, or both, each with a name for its column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from pathlib import Path
from typing import Any

from scalkit.bench.libraries.installing import compiler_at, find_library
from scalkit.bench.libraries.mpi import Mpi, cores, find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.bench.virtual.mpi import CLOCKS, proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import UsageError

_LAUNCHERS = ("MPICH", "Intel MPI", "Open MPI")
"""Launchers that can be told where processes go, beside srun."""


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


def place_processes(mpi: Mpi, per_node: int | None, bind: str | None = None, most: int = 1) -> Mpi:
    """Return the library with a launcher that places and binds processes; as it is where neither is asked for.

    `per_node`, `bind`: as `PlacedMpi` has them. Simulated and virtual machines place their processes themselves.
    `most`: processes on a node of the largest launch.
    Raises UsageError if it is not known how its launcher is told, or the processes have no cores.
    """
    if mpi.repeats_exactly and bind is not None:
        raise UsageError(f"--bind {bind}: processes of a simulated or virtual machine have no cores; leave it out.")
    if mpi.repeats_exactly or (per_node is None and bind is None):
        return mpi
    if per_node is not None and mpi.launcher not in _LAUNCHERS and Path(mpi.mpiexec).name != "srun":
        raise UsageError(
            f"processes_per_node = {per_node}: it is not known how {mpi.mpiexec!r} is told; use srun, or leave it out."
        )
    if bind is not None:
        binding(mpi.mpiexec, mpi.launcher, bind, most)
    return PlacedMpi(**{one.name: getattr(mpi, one.name) for one in fields(Mpi)}, per_node=per_node, bind=bind)


def binding(mpiexec: str, launcher: str, bind: str, n: int) -> list[str]:
    """Return the options by which a launcher binds `n` processes of a node.

    Raises UsageError if it is not known how it is told, or there are fewer cores.
    """
    if Path(mpiexec).name == "srun":
        return [f"--cpu-bind={bind}{'s' * (bind != 'none')}"]
    if launcher not in _LAUNCHERS:
        raise UsageError(f"--bind {bind}: it is not known how {mpiexec!r} is told; use mpiexec or srun, or leave it out.")
    if bind != "none" and n > cores():
        raise UsageError(f"--bind {bind}: {n} processes are more than the {cores()} cores here; use fewer, or --bind none.")
    if launcher == "Intel MPI":
        return ["-genv", "I_MPI_PIN", str(int(bind != "none")), "-genv", "I_MPI_PIN_DOMAIN", bind]
    return ["--bind-to", bind]


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
    return Target(library.name, (replace(library, mpiexec=mpiexec) if mpiexec else library).check())
