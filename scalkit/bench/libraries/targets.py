"""What a campaign runs on: MPI libraries of this machine, simulated machines, or both, each with a name for its column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scalkit.bench.libraries.added import compiler_at, find_library
from scalkit.bench.libraries.mpi import Mpi, find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import read_algorithms, simulate
from scalkit.bench.virtual.mpi import CLOCKS, proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import UsageError


@dataclass(frozen=True)
class Target:
    """A library or a simulated machine.

    `label`: name of its folder and of its column in a report.
    """

    label: str
    mpi: Mpi


def find_targets(
    libraries: Sequence[str] = (),
    platforms: Sequence[str] = (),
    *,
    per_node: int | None = None,
    algorithms: Sequence[str] = (),
    mpicc: str | None = None,
    mpiexec: str | None = None,
    clock: str = "real",
    network: str | None = None,
) -> tuple[Target, ...]:
    """Return everything that is named, each after two ranks met in it; the library that is found if nothing is named.

    `libraries`: names of libraries that were added, or paths of compilers.
    `platforms`: names of simulated machines, or platform files.
    `per_node`: processes on a node of a simulated or virtual machine; by default 1.
    `algorithms`: for simulated machines, as ``"bcast=binomial_tree"``.
    `mpicc`, `mpiexec`: the one library to take, as `find_mpi`.
    `clock`: what run times of the libraries are read from.
    `network`: the machine of the virtual clock, as `read_network` takes it; by default ``"cluster"``.
    Raises UsageError if options exclude each other, or a name is unknown or given twice; BuildError or LaunchError if
    one does not work.
    """
    if (mpicc or mpiexec) and (libraries or platforms):
        raise UsageError("--mpicc and --mpiexec name one library; leave them out with --mpi and --platform.")
    if algorithms and not platforms:
        raise UsageError("--algorithm chooses what a simulated machine does; name one with --platform.")
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
    if not libraries and not platforms:
        found = find_mpi(mpicc, mpiexec)
        return (Target("", proved(virtual(found, machine)) if machine else found),)
    chosen = read_algorithms(algorithms)
    platform_files = [load_platform(name) for name in platforms]
    targets = [_library(name) for name in libraries]
    if machine:
        targets = [replace(target, mpi=proved(virtual(target.mpi, machine))) for target in targets]
    targets += [
        Target(one.name, simulate(one, per_node=1 if per_node is None else per_node, algorithms=chosen)) for one in platform_files
    ]
    for number, target in enumerate(targets):
        for earlier in targets[:number]:
            if target.label == earlier.label or target.mpi == earlier.mpi:
                raise UsageError(f"{target.label!r} is named twice by --mpi or --platform; name each once.")
    return tuple(targets)


def _library(name: str) -> Target:
    if "/" in name:
        mpi = find_mpi(compiler_at(name))
        return Target(re.sub(r"[^A-Za-z0-9.]+", "-", mpi.name).strip("-").lower(), mpi)
    library = find_library(name)
    return Target(library.name, library.check())
