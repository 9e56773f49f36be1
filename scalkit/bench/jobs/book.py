"""The jobs of a campaign: what each measures, and the file that lists them."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.campaign.lock import locked_folder
from scalkit.bench.campaign.plan import Launch, make_plan
from scalkit.bench.jobs.slurm import REJECTED, JobState
from scalkit.bench.provenance import utc_now
from scalkit.errors import UsageError

SCHEMA = 1
_BOOK = "jobs.json"
_SUBMITTED = "submitted.toml"


@dataclass(frozen=True)
class Job:
    """One job of the batch system.

    `name`: of its folder, script and output, such as ``"mpich-r03"``; a second attempt ends in ``".2"``.
    `variant`: name of the `Variant` that it measures.
    `launches`: names of its launches.
    `number`: that Slurm gave it; empty if it was rejected.
    `state`, `reason`: of Slurm, the last that is known; why it was rejected, waits or ended.
    `submitted`: UTC.
    """

    name: str
    variant: str
    launches: tuple[str, ...]
    number: str = ""
    state: str = ""
    reason: str = ""
    submitted: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it will do nothing any more."""
        return self.state == REJECTED or JobState(self.state).is_over

    @property
    def is_stuck(self) -> bool:
        """Whether it waits in vain."""
        return JobState(self.state, self.reason).is_stuck


class Book:
    """The folder ``jobs`` of a campaign: scripts, outputs, measurements of each job, and what is known of them."""

    def __init__(self, out: Path) -> None:
        self.path = out / "jobs"
        self._content: dict[str, Any] = {}

    @property
    def exists(self) -> bool:
        """Whether anything was submitted."""
        return (self.path / _BOOK).is_file()

    @property
    def identity(self) -> str:
        """Begin of all ``run_id``."""
        return str(self._content["id"])

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in the order of their submission."""
        return tuple(Job(**{**one, "launches": tuple(one["launches"])}) for one in self._content["jobs"])

    @property
    def submitted(self) -> Path:
        """The copy of the campaign file that jobs read."""
        return self.path / _SUBMITTED

    def folder(self, job: Job) -> Path:
        """Return the folder that a job measures into."""
        return self.path / job.name

    def script(self, job: Job) -> Path:
        """Return the path of a job's script."""
        return self.path / f"{job.name}.sh"

    def log(self, job: Job) -> Path:
        """Return the path of a job's output."""
        return self.path / f"{job.name}.out"

    @contextmanager
    def opened(self, file: CampaignFile) -> Iterator[None]:
        """Make the folder if need be, hold it against other processes, and read what is known.

        Raises UsageError if the folder cannot be used, another process holds it, or it belongs to another campaign.
        """
        with locked_folder(self.path, f"another 'scalkit campaign' works on {self.path}; wait for its end."):
            self._content = self._read() or _new(file)
            self._require_same(file)
            yield

    def keep(self, jobs: Sequence[Job]) -> None:
        """Write these jobs over those of the same name, and add the others."""
        kept = {job.name: asdict(job) for job in (*self.jobs, *jobs)}
        self._content = {**self._content, "jobs": list(kept.values())}
        write_whole(self.path / _BOOK, json.dumps(self._content, indent=1, ensure_ascii=False) + "\n")

    def attempt(self, name: str) -> str:
        """Return a name for a job that no other has, with a number if there were some; rejected ones do not count."""
        taken = {job.name for job in self.jobs if job.state != REJECTED}
        number = 1
        while (tried := name if number == 1 else f"{name}.{number}") in taken:
            number += 1
        return tried

    def _read(self) -> dict[str, Any]:
        path = self.path / _BOOK
        if not path.exists():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            known = isinstance(content, dict) and content["schema"] == SCHEMA
            _ = [Job(**one) for one in content["jobs"]], content["id"], content["arguments"].items()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            raise UsageError(f"cannot read {path}: {reason}; restore it, or choose another out.") from error
        if not known:
            raise UsageError(f"{path} has the schema {content['schema']!r}; this scalkit knows {SCHEMA}: update it.")
        return dict(content)

    def _require_same(self, file: CampaignFile) -> None:
        then, now = self._content["arguments"], _arguments(file)
        if then == now:
            return
        names = sorted({*then, *now})
        changed = next(name for name in names if then.get(name) != now.get(name))
        old, new = then.get(changed, {}), now.get(changed, {})
        keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        which = f" of {changed}" if changed else ""
        shown = "; ".join(f"{key}{which} was {_shown(old.get(key))}, is now {_shown(new.get(key))}" for key in keys)
        raise UsageError(
            f"{self.path.parent} holds a campaign with other arguments: {shown}. Restore them to go on with it, or give "
            f"this one another out."
        )


def planned_jobs(file: CampaignFile) -> Iterator[tuple[str, Variant, tuple[Launch, ...]]]:
    """Yield name, variant and launches of every job of a campaign that has measured nothing, run after run."""
    assert file.slurm is not None
    plans = [(variant, make_plan(variant.arguments)) for variant in file.variants]
    for run in range(max(variant.arguments.runs for variant in file.variants)):
        for variant, plan in plans:
            launches = [launch for launch in plan if launch.run == run]
            for p in variant.arguments.counts if file.slurm.job_per == "run and processes" else (None,):
                mine = tuple(launch for launch in launches if p is None or launch.p == p)
                words = [*([variant.name] if variant.name else []), *([f"p{p:04d}"] if p else []), f"r{run:02d}"]
                if mine:
                    yield "-".join(words), variant, mine


def _new(file: CampaignFile) -> dict[str, Any]:
    return {"schema": SCHEMA, "id": secrets.token_hex(4), "started": utc_now(), "arguments": _arguments(file), "jobs": []}


def _arguments(file: CampaignFile) -> dict[str, Mapping[str, Any]]:
    return {variant.name: variant.arguments.as_table() for variant in file.variants}


def _shown(value: object) -> str:
    return "absent" if value is None else json.dumps(value)
