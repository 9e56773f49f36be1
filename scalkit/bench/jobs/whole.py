"""One job that measures a whole campaign, for the batch systems that are known."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from scalkit.bench.campaign.file import CampaignFile, JobOptions, limit_seconds
from scalkit.bench.command.file import CommandFile
from scalkit.bench.jobs.templating import filled, shell_word
from scalkit.errors import UsageError


@dataclass(frozen=True)
class BatchSystem:
    """How a batch system is asked for a job.

    `suffix`: of the script.
    `submit`: what takes the script.
    `begin`: of a line of the script that the system reads.
    `options`: what is asked for, a line each, from the name of the job, its options and its time limit in s.
    """

    suffix: str
    submit: str
    begin: str
    options: Callable[[str, JobOptions, int | None], list[str]]


def _slurm(name: str, job: JobOptions, limit_s: int | None) -> list[str]:
    per_node = [f"--ntasks-per-node={job.processes_per_node}"] if job.processes_per_node else []
    limit = [f"--time={ceil(limit_s / 60)}"] if limit_s else []
    named = {"partition": job.queue, "account": job.account}
    found = [f"--job-name={name}", f"--output={name}.out", f"--nodes={job.nodes}", *per_node, *limit]
    return found + [f"--{key}={value}" for key, value in named.items() if value]


def _pbs(name: str, job: JobOptions, limit_s: int | None) -> list[str]:
    places = f":ncpus={job.processes_per_node}:mpiprocs={job.processes_per_node}" if job.processes_per_node else ""
    limit = [f"-l walltime={_clock(limit_s, with_seconds=True)}"] if limit_s else []
    named = {"q": job.queue, "A": job.account}
    found = [f"-N {name}", f"-o {name}.out", "-j oe", f"-l select={job.nodes}{places}", *limit]
    return found + [f"-{key} {value}" for key, value in named.items() if value]


def _lsf(name: str, job: JobOptions, limit_s: int | None) -> list[str]:
    per_node = job.processes_per_node
    places = [f"-n {job.nodes * per_node}", f'-R "span[ptile={per_node}]"'] if per_node else [f"-nnodes {job.nodes}"]
    limit = [f"-W {_clock(limit_s, with_seconds=False)}"] if limit_s else []
    named = {"q": job.queue, "P": job.account}
    found = [f"-J {name}", f"-o {name}.out", *places, *limit]
    return found + [f"-{key} {value}" for key, value in named.items() if value]


def _flux(name: str, job: JobOptions, limit_s: int | None) -> list[str]:
    limit = [f"--time-limit={ceil(limit_s / 60)}m"] if limit_s else []
    named = {"queue": job.queue, "bank": job.account}
    found = [f"--job-name={name}", f"--output={name}.out", f"--nodes={job.nodes}", "--exclusive", *limit]
    return found + [f"--{key}={value}" for key, value in named.items() if value]


SYSTEMS = {
    "slurm": BatchSystem(".slurm.sh", "sbatch", "#SBATCH", _slurm),
    "pbs": BatchSystem(".pbs.sh", "qsub", "#PBS", _pbs),
    "lsf": BatchSystem(".lsf.sh", "bsub <", "#BSUB", _lsf),
    "flux": BatchSystem(".flux.sh", "flux batch", "#flux:", _flux),
}
"""By name. Only Slurm's scripts were tried; those of PBS Professional, LSF and Flux follow their manuals."""


def whole_job(file: CampaignFile | CommandFile, system: str) -> str:
    """Return the script of a job that measures all of a campaign, one launch after the other.

    `system`: one of `SYSTEMS`.
    Raises UsageError if the file has no table ``[job]``.
    """
    job, known = file.job, SYSTEMS[system]
    if job is None:
        raise UsageError(f"{file.path} does not say what {system} is asked for; add a table [job] with nodes, time and so on.")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", file.path.stem).strip("-.") or "scalkit"
    folder = file.path.absolute().parent
    return filled(
        "job.sh.jinja",
        shell_word,
        begin=known.begin,
        options=[*known.options(name, job, _limit(job)), *job.options],
        comment=file.title or " ".join(file.path.name.split()),
        name=name,
        modules=job.modules,
        environment=job.environment,
        lines=[*job.lines, f"cd {shell_word(folder)} || exit 1"],
        command=[sys.executable, "-m", "scalkit.cli", "campaign", "run", f"./{file.path.name}"],
    )


def _limit(job: JobOptions) -> int | None:
    seconds = limit_seconds(job.time)
    return None if seconds is None else ceil(seconds)


def _clock(seconds: int, *, with_seconds: bool) -> str:
    minutes = seconds // 60 if with_seconds else ceil(seconds / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}" + (f":{seconds % 60:02d}" if with_seconds else "")
