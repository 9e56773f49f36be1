"""The jobs of a campaign: the file that lists them, and what they measured put into its folders, which `scalkit.read` reads."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import Folder, Launch, locked_folder, make_plan, other_conditions, write_whole
from scalkit.bench.campaign.launch import is_complete
from scalkit.bench.jobs.slurm import REJECTED, JobState
from scalkit.bench.limits import changed
from scalkit.bench.provenance import utc_now
from scalkit.errors import LaunchError, UsageError
from scalkit.support.toml.writer import to_toml

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
    def script(self) -> str:
        """Name of its script."""
        return f"{self.name}.sh"

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

    def log(self, job: Job) -> Path:
        """Return the path of a job's output."""
        return self.path / f"{job.name}.out"

    @contextmanager
    def opened(self, file: CampaignFile) -> Iterator[None]:
        """Make the folder if need be, hold it against other processes, and read what is known.

        Raises UsageError if the folder cannot be used, another process holds it, or it belongs to another campaign.
        """
        with locked_folder(self.path, f"another 'scalkit campaign' works on {self.path}; wait for its end."):
            new = {"schema": SCHEMA, "id": secrets.token_hex(4), "started": utc_now(), "arguments": _arguments(file), "jobs": []}
            self._content = self._read() or new
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
        if not (variants := changed(now, then)):
            return
        old, new = then.get(variants[0], {}), now.get(variants[0], {})
        which = f" of {variants[0]}" if variants[0] else ""
        shown = "; ".join(f"{key}{which} was {_shown(old.get(key))}, is now {_shown(new.get(key))}" for key in changed(new, old))
        raise UsageError(
            f"{self.path.parent} holds a campaign with other arguments: {shown}. Restore them to go on with it, or give "
            f"this one another out."
        )


def planned_jobs(file: CampaignFile) -> Iterator[tuple[str, Variant, tuple[Launch, ...]]]:
    """Yield name, variant and launches of every job of a campaign that has measured nothing, run after run."""
    plans = [(variant, make_plan(variant.arguments)) for variant in file.variants]
    for run in range(max(variant.arguments.runs for variant in file.variants)):
        for variant, plan in plans:
            if launches := tuple(launch for launch in plan if launch.run == run):
                yield "-".join(filter(None, [variant.name, f"r{run:02d}"])), variant, launches


def _arguments(file: CampaignFile) -> dict[str, Mapping[str, Any]]:
    return {variant.name: variant.arguments.as_table() for variant in file.variants}


def _shown(value: object) -> str:
    return "absent" if value is None else json.dumps(value)


def collect(file: CampaignFile, book: Book) -> list[str]:
    """Put run files into the folders of the variants, those that broke off too, and return what is wrong with them.

    `book`: opened.
    Returns: a sentence for each wrong result, and for each job whose results do not belong to those of the others.
    Raises LaunchError if a folder cannot be written to.
    """
    remarks: list[str] = []
    for variant in file.variants:
        jobs = [job for job in book.jobs if job.variant == variant.name]
        remarks += _collect_variant(Folder(variant.folder(file.out)), book, variant, jobs)
    return remarks


def _collect_variant(folder: Folder, book: Book, variant: Variant, jobs: Sequence[Job]) -> list[str]:
    records = {job.name: record for job in jobs if (record := _record(Folder(book.folder(job))))}
    if not records:
        return []
    kept = folder.record
    first = kept or next(iter(records.values()))
    remarks: list[str] = []
    table: dict[str, Any] = {}
    for job in jobs:
        own = records.get(job.name)
        if own and (other := "; ".join(other_conditions(first, own, same_machine=False))):
            remarks.append(f"job {job.name} measured under other conditions: {other}; its results stay in {book.folder(job)}.")
        elif own:
            remarks += [str(remark) for remark in own.get("remarks", [])]
            _take(folder, book, job, [other for other in jobs if other.name != job.name])
        table[job.name] = _entry(job, own or {})
    failures = [
        f"job {job.name}: {job.reason}."
        for job in jobs
        if job.is_over and job.reason and not all((folder.path / f"{name}.jsonl").is_file() for name in job.launches)
    ]
    content = {**first, "failures": failures, "remarks": remarks, "jobs": table}
    if content != kept:
        write_whole(folder.path / "campaign.toml", to_toml(content))
    return remarks


def _record(folder: Folder) -> dict[str, Any]:
    """Return what a job says of its conditions; nothing if it did not come so far."""
    try:
        return folder.record
    except UsageError:
        return {}


def _take(folder: Folder, book: Book, job: Job, others: Sequence[Job]) -> None:
    """Put a job's run files in place; a file that broke off only when no job will complete it."""
    source = book.folder(job)
    coming = {name for other in others if not other.is_over for name in other.launches}
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        for name in job.launches:
            whole, part = folder.path / f"{name}.jsonl", folder.path / f"{name}.jsonl.part"
            if not whole.exists() and (source / whole.name).is_file():
                _put(source / whole.name, whole)
            if not whole.exists() and job.is_over and is_complete(source / part.name):
                _put(source / part.name, whole)  # its job ended before it could rename it
            if whole.exists():
                part.unlink(missing_ok=True)
            elif job.is_over and name not in coming and _size(source / part.name) > _size(part):
                _put(source / part.name, part)
    except OSError as error:
        raise LaunchError(f"cannot put {error.filename} in place: {error.strerror}; check the folder.") from error


def _put(source: Path, target: Path) -> None:
    """Let a file appear whole. It is a copy, as a store takes no file that has another name elsewhere."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    new.unlink(missing_ok=True)  # of a process with this number that was killed; or a link, which would be followed
    shutil.copyfile(source, new)
    os.replace(new, target)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _entry(job: Job, record: Mapping[str, Any]) -> dict[str, Any]:
    machine = record.get("machine", {})
    found = {"number": job.number, "state": job.state, "reason": job.reason, "submitted": job.submitted}
    return {**found, "launches": list(job.launches), "host": machine.get("host", ""), "cores": machine.get("cores", 0)}
