"""What a job does where it runs: find the library, compile, do its launches."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from scalkit.bench.campaign.campaign import Campaign, prepare
from scalkit.bench.campaign.file import CampaignFile, Library, Variant
from scalkit.bench.campaign.loop import Progress, Result
from scalkit.bench.libraries.installing import find_library
from scalkit.bench.libraries.mpi import Mpi, find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import read_algorithms, simulate
from scalkit.bench.libraries.targets import place_processes
from scalkit.bench.virtual.mpi import virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import LaunchError, UsageError


def run_job(
    file: CampaignFile,
    variant: str,
    launches: Sequence[str],
    folder: Path,
    *,
    identity: str,
    budget_s: float | None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Do launches of a campaign in a folder of their own.

    `launches`: names.
    `identity`: begin of all ``run_id``.
    `budget_s` in s: for all of them.
    Raises UsageError if the file has no such variant or launch; BuildError or LaunchError, as `prepare` and
    `Campaign.run` say.
    """
    found = next((one for one in file.variants if one.name == variant), None)
    if found is None:
        names = ", ".join(repr(one.name) for one in file.variants)
        raise UsageError(f"{file.path} has no variant {variant!r}; it has {names}.")
    launcher = file.slurm.launcher if file.slurm else "mpiexec"
    campaign = prepare_variant(file, found, folder, launcher=launcher, identity=identity)
    known = {launch.name: launch for launch in campaign.plan}
    unknown = [name for name in launches if name not in known]
    if unknown:
        raise UsageError(f"{file.path} has no launch {unknown[0]!r}; submit the campaign again.")
    mine = [known[name] for name in launches]
    return campaign.run(launches=mine, budget_s=budget_s, timeout_s=file.timeout_s, on_progress=on_progress)


def prepare_variant(
    file: CampaignFile, variant: Variant, folder: Path, *, launcher: str = "mpiexec", identity: str = "", set_aside: bool = False
) -> Campaign:
    """Return the campaign of a variant, ready to run in a folder."""
    library, per_node = variant.library, variant.arguments.processes_per_node
    if library.platform is not None:
        chosen = read_algorithms([f"{key}={name}" for key, name in library.algorithms.items()])
        mpi: Mpi = simulate(load_platform(library.platform), per_node=per_node or 1, algorithms=chosen)
    else:
        mpi = library_mpi(library, launcher)
        if library.network is None:
            mpi = place_processes(mpi, per_node)
        else:
            mpi = virtual(mpi, read_network(library.network).with_per_node(per_node))
    return prepare(folder, variant.arguments, mpi, identity=identity, set_aside=set_aside)


def library_mpi(library: Library, launcher: str = "mpiexec") -> Mpi:
    """Return the MPI library of a campaign file. `launcher`: ``"srun"``, or ``"mpiexec"`` for the library's own."""
    starter = library.mpiexec or ("srun" if launcher == "srun" else None)
    try:
        return find_mpi(library.mpicc, starter) if library.is_own else _added(library.name, starter)
    except LaunchError as error:
        if starter != "srun":
            raise
        hint = "Perhaps srun needs another srun_mpi in [slurm]: 'srun --mpi=list' says which it has."
        raise LaunchError(f"{error}\n{hint}") from error


def _added(name: str, starter: str | None) -> Mpi:
    """Return a library that was added by `scalkit mpi add`."""
    library = find_library(name)
    return replace(library, mpiexec=starter).check() if starter else library.check()
