"""Script of a job: its requests to Slurm, and the command that it runs."""

import json
import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from shlex import join, quote

from scalkit.bench.campaign.file import CampaignFile, Variant, limit_seconds
from scalkit.bench.campaign.folder import Launch, least_time, make_plan
from scalkit.bench.libraries.targets import nodes_needed
from scalkit.errors import UsageError

_FIND_MODULE = """\
if ! type module >/dev/null 2>&1; then
  for init in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do
    if [ -r "$init" ]; then . "$init"; break; fi
  done
fi"""
_USED = 0.8
"""A job measures for this part of its time limit at most; the rest is for starting and compiling."""

_START_S = 120.0


def job_script(
    file: CampaignFile, variant: Variant, launches: Sequence[Launch], *, name: str, identity: str, folder: Path, submitted: Path
) -> str:
    """Return the script of a job.

    `file`: with a table ``[slurm]``.
    `launches`: what it measures.
    `name`, `identity`: of the job; begin of all ``run_id``.
    `folder`, `submitted`: where it measures into, and the copy of the campaign file.
    """
    slurm = file.slurm
    assert slurm is not None
    folder = folder.absolute()
    environment = {**slurm.environment, **variant.library.environment}
    if slurm.srun_mpi:
        environment = {"SLURM_MPI_TYPE": slurm.srun_mpi, **environment}
    budget_s = job_budget(file, variant, launches)
    told = {
        "file": str(submitted.absolute()),
        "base": str(file.path.parent.absolute()),
        "variant": variant.name,
        "launches": [launch.name for launch in launches],
        "folder": str(folder),
        "identity": identity,
        "budget_s": budget_s and round(budget_s, 1),
    }
    options = [
        f"--job-name=scalkit-{name}",
        f"--output={str(folder).replace('%', '%%')}.out",
        "--no-requeue",
        *_allocation(variant, launches),
        *_time(file, budget_s, launches),
        *([f"--account={slurm.account}"] if slurm.account is not None else []),
        *([f"--partition={slurm.partition}"] if slurm.partition is not None else []),
        *slurm.options,
    ]
    modules = [*slurm.modules, *variant.library.modules]
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {quote(option)}" for option in options),
        f"# Written by scalkit for {file.title or ' '.join(file.path.name.split())}: job {name}.",
        *([_FIND_MODULE] if modules else []),
        *(f"module load {quote(module)} || exit 1" for module in modules),
        *(f"export {variable}={quote(value)}" for variable, value in environment.items()),
        *slurm.lines,  # as the user wrote them
        f"exec {join([sys.executable, '-m', 'scalkit.cli.terminal.job', json.dumps(told)])}",
    ]
    return "\n".join(lines) + "\n"


def job_budget(file: CampaignFile, variant: Variant, launches: Sequence[Launch]) -> float | None:
    """Return for how many seconds a job may measure: its share of the budget, within its time limit; None without limit."""
    limits = []
    given = variant.arguments.budget_s
    if given is not None:
        plan = make_plan(variant.arguments)
        limits.append(given * sum(launch.weight for launch in launches) / sum(launch.weight for launch in plan))
    limit_s = limit_seconds(file.slurm.time if file.slurm else None)
    if limit_s is not None:
        limits.append(_USED * limit_s)
    return min(limits, default=None)


def require_enough(file: CampaignFile, jobs: Sequence[tuple[str, Variant, tuple[Launch, ...]]]) -> None:
    """Return nothing if the time limit can hold every job. Raises UsageError if one needs more time at the least."""
    assert file.slurm is not None
    limit_s = limit_seconds(file.slurm.time if file.slurm else None)
    for name, _, launches in jobs:
        least_s = least_time(launches)
        if limit_s is not None and limit_s * _USED < least_s:
            raise UsageError(
                f"{file.path}: time of [slurm] is {limit_s:.0f} s, and the {len(launches)} launches of job {name} need "
                f"{ceil(least_s / _USED)} s at the least; give more."
            )


def _allocation(variant: Variant, launches: Sequence[Launch]) -> list[str]:
    p, per_node = max(launch.p for launch in launches), variant.arguments.processes_per_node
    if per_node is None:
        return [f"--ntasks={p}"]
    return [f"--nodes={nodes_needed(p, per_node)}", f"--ntasks-per-node={min(p, per_node)}"]


def _time(file: CampaignFile, budget_s: float | None, launches: Sequence[Launch]) -> list[str]:
    assert file.slurm is not None
    if file.slurm.time is not None:
        return [f"--time={file.slurm.time}"]
    if budget_s is None:
        return []
    needed_s = max(budget_s, least_time(launches)) + 2 * sum(launch.start_s for launch in launches) + _START_S
    return [f"--time={ceil(needed_s / _USED / 60)}"]
