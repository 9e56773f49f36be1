"""The part of a Slurm job that runs there: find the library, compile, do some launches."""

from collections.abc import Callable, Sequence
from pathlib import Path

from scalkit.bench.campaign.campaign import prepare
from scalkit.bench.campaign.file import read_campaign
from scalkit.bench.campaign.here import variant_mpi
from scalkit.bench.campaign.loop import Progress, Result
from scalkit.errors import UsageError


def run_job(
    file: str,
    base: str,
    variant: str,
    launches: Sequence[str],
    folder: str,
    *,
    identity: str,
    budget_s: float | None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Do launches of a campaign in a folder of their own.

    `file`, `base`: the campaign file as it was submitted, and the folder that its paths are relative to.
    `variant`, `launches`: names.
    `identity`: begin of all ``run_id``.
    `budget_s` in s: for all of them.
    Raises UsageError if the file has no such variant or launch; BuildError or LaunchError, as `prepare` and
    `Campaign.run` say.
    """
    read = read_campaign(Path(file), Path(base))
    found = next((one for one in read.variants if one.name == variant), None)
    if found is None:
        names = ", ".join(repr(one.name) for one in read.variants)
        raise UsageError(f"{file} has no variant {variant!r}; it has {names}.")
    mpi = variant_mpi(found, read.slurm.launcher if read.slurm else "mpiexec")
    campaign = prepare(Path(folder), found.arguments, mpi, identity=identity)
    known = {launch.name: launch for launch in campaign.plan}
    unknown = [name for name in launches if name not in known]
    if unknown:
        raise UsageError(f"{file} has no launch {unknown[0]!r}; submit the campaign again.")
    mine = [known[name] for name in launches]
    return campaign.run(launches=mine, budget_s=budget_s, timeout_s=read.timeout_s, on_progress=on_progress)
