"""The script of a job: what it asks of the batch system, and the command that it runs there."""

import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path

from scalkit.bench.campaign.file import CampaignFile, Variant, limit_seconds
from scalkit.bench.campaign.plan import Launch, least_time, make_plan
from scalkit.bench.jobs.slurm import availability
from scalkit.bench.jobs.templating import filled, shell_word
from scalkit.bench.libraries.placement import nodes_needed
from scalkit.errors import UsageError

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
    command = [sys.executable, "-m", "scalkit.cli", "campaign", "job", str(submitted.absolute())]
    command += [f"--launches={','.join(launch.name for launch in launches)}", f"--variant={variant.name}"]
    command += [f"--base={file.path.parent.absolute()}", f"--folder={folder}", f"--id={identity}"]
    command += [f"--budget={budget_s:.1f}"] if budget_s else []
    return filled(
        "job.sh.jinja",
        shell_word,
        begin="#SBATCH",
        options=[
            shell_word(option)
            for option in (
                f"--job-name=scalkit-{name}",
                f"--output={str(folder).replace('%', '%%')}.out",
                "--no-requeue",
                *_allocation(variant, launches),
                *_time(file, budget_s, launches),
                *slurm.options_of("account", "partition", "qos", "constraint", "reservation"),
                *slurm.options,
            )
        ],
        comment=file.title or " ".join(file.path.name.split()),
        name=name,
        modules=[*slurm.modules, *variant.library.modules],
        environment=environment,
        lines=slurm.lines,
        command=command,
    )


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
    """Return nothing if time limit and partition can hold every job.

    Raises UsageError if a job needs more time at the least, or more processes than the partition has.
    """
    assert file.slurm is not None
    limit_s = limit_seconds(file.slurm.time if file.slurm else None)
    for name, _, launches in jobs:
        least_s = least_time(launches)
        if limit_s is not None and limit_s * _USED < least_s:
            raise UsageError(
                f"{file.path}: time of [slurm] is {limit_s:.0f} s, and the {len(launches)} launches of job {name} need "
                f"{ceil(least_s / _USED)} s at the least; give more."
            )
    found = availability(file.slurm.partition)
    if found is None:
        return
    partition, nodes, cores = found
    for variant in file.variants:
        p, per_node = max(variant.arguments.counts), variant.arguments.processes_per_node
        text = f"partition {partition!r} has {nodes} node{'s' if nodes > 1 else ''} of {cores} cores"
        if per_node is None and p > nodes * cores:
            raise UsageError(f"{file.path}: processes has {p}, and {text}; leave it out, or name another partition.")
        if per_node is not None and per_node > cores:
            raise UsageError(f"{file.path}: processes_per_node has {per_node}, and {text}; name fewer.")
        if per_node is not None and nodes_needed(p, per_node) > nodes:
            raise UsageError(
                f"{file.path}: {p} processes with {per_node} on a node need {nodes_needed(p, per_node)} nodes, and {text}; "
                "leave them out, or name another partition."
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
