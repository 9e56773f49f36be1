"""The campaigns of a file made ready: its MPI libraries found, and what is measured on this machine."""

from scalkit.bench.campaign.file import CampaignFile, Library, Variant
from scalkit.bench.campaign.folder import Folder
from scalkit.bench.campaign.refining import Range, range_of
from scalkit.bench.libraries.installing import find_library
from scalkit.bench.libraries.mpi import Mpi, find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import chosen_algorithms, simulate
from scalkit.bench.virtual.mpi import virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import LaunchError, UsageError


def prepare_here(file: CampaignFile, *, set_aside: bool = False) -> tuple[Range, ...]:
    """Return the campaigns of a file, ready to run here: a range of message sizes for each library and placement.

    `set_aside`: rename folders that hold other campaigns, rather than refuse them.
    Raises UsageError if a placement needs several nodes, or a folder cannot be used; BuildError or LaunchError if a
    library or its programs do not work.
    """
    for variant in file.variants:
        p, per_node = max(variant.arguments.counts), variant.arguments.processes_per_node
        is_real = variant.library.platform is None and variant.library.network is None
        if is_real and per_node is not None and p > per_node:
            raise UsageError(
                f"{file.path}: {p} processes with {per_node} on a node need several nodes, and this machine is one; leave "
                "out processes_per_node, or submit the campaign."
            )
        Folder(variant.folder(file.out)).require_usable()
    groups: dict[str, list[Variant]] = {}
    for variant in file.variants:
        groups.setdefault(variant.label, []).append(variant)
    ranges = []
    for label, members in groups.items():
        first = members[0]
        sizes = [one.arguments.size for one in members] if first.name != label else []
        ranges.append(range_of(file.out, first.arguments, variant_mpi(first), sizes, label=label, set_aside=set_aside))
    return tuple(ranges)


def variant_mpi(variant: Variant, launcher: str = "mpiexec") -> Mpi:
    """Return the MPI library and machine of a variant, after two ranks met in it.

    `launcher`: ``"srun"``, or ``"mpiexec"`` for the library's own.
    """
    library, per_node = variant.library, variant.arguments.processes_per_node
    if library.platform is not None:
        algorithms = chosen_algorithms(library.algorithms)
        return simulate(load_platform(library.platform), per_node=per_node or 1, algorithms=algorithms)
    mpi = _library_mpi(library, launcher)
    return mpi if library.network is None else virtual(mpi, read_network(library.network).with_per_node(per_node))


def _library_mpi(library: Library, launcher: str) -> Mpi:
    starter = library.mpiexec or ("srun" if launcher == "srun" else None)
    try:
        if library.is_own:
            return find_mpi(library.mpicc, starter)
        return find_library(library.name).check(starter)
    except LaunchError as error:
        if starter != "srun":
            raise
        hint = "Perhaps srun needs another srun_mpi in [slurm]: 'srun --mpi=list' says which it has."
        raise LaunchError(f"{error}\n{hint}") from error
