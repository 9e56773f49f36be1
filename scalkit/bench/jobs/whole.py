"""One job that measures a whole campaign, for the batch systems that are known."""

import re
import sys
from dataclasses import dataclass
from math import ceil

from scalkit.bench.campaign.file import CampaignFile, JobOptions, limit_seconds
from scalkit.bench.command.file import CommandFile
from scalkit.bench.jobs.templating import filled, shell_word
from scalkit.errors import UsageError
from scalkit.toml.tables import table_beside


@dataclass(frozen=True)
class BatchSystem:
    """How a batch system is asked for a job.

    `suffix`: of the script.
    `submit`: what takes the script.
    `begin`: of a line of the script that the system reads.
    `always`, `alone`, `placed`, `limit`, `queue`, `account`: what is asked for, a line each, with names in braces.
    """

    suffix: str
    submit: str
    begin: str

    always: list[str]
    alone: list[str]
    placed: list[str]
    limit: str
    queue: str
    account: str

    def options(self, name: str, job: JobOptions) -> list[str]:
        """Return what the system is asked for, from the name of the job and its options."""
        limit_s = ceil(limit_seconds(job.time) or 0)
        minutes, per_node = ceil(limit_s / 60), job.processes_per_node
        asked = [*self.always, *(self.placed if per_node else self.alone)]
        asked += [form for form, given in ((self.limit, limit_s), (self.queue, job.queue), (self.account, job.account)) if given]
        values = {
            "name": name,
            "nodes": job.nodes,
            "per_node": per_node,
            "processes": job.nodes * (per_node or 1),
            "minutes": minutes,
            "hh_mm": f"{minutes // 60:02d}:{minutes % 60:02d}",
            "hh_mm_ss": f"{limit_s // 3600:02d}:{limit_s // 60 % 60:02d}:{limit_s % 60:02d}",
            "queue": job.queue,
            "account": job.account,
        }
        return [form.format_map(values) for form in asked]


SYSTEMS = {name: BatchSystem(**row) for name, row in table_beside(__file__, "systems.toml").items()}
"""By name."""


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
        options=[*known.options(name, job), *job.options],
        comment=file.title or " ".join(file.path.name.split()),
        name=name,
        modules=job.modules,
        environment=job.environment,
        lines=[*job.lines, f"cd {shell_word(folder)} || exit 1"],
        command=[sys.executable, "-m", "scalkit.cli", "campaign", "run", f"./{file.path.name}"],
    )
