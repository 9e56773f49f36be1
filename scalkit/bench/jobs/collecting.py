"""Puts what the jobs of a campaign measured into its folders, which `scalkit.read` reads."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import Folder, write_whole
from scalkit.bench.campaign.launch import is_complete
from scalkit.bench.jobs.book import Book, Job
from scalkit.errors import LaunchError, UsageError
from scalkit.toml.writer import to_toml


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
        other = _difference(first, own) if own else ""
        if other:
            remarks.append(f"job {job.name} measured {other}; its results stay in {book.folder(job)}.")
        elif own:
            remarks += [str(remark) for remark in own.get("remarks", [])]
            _take(folder, book, job, [other for other in jobs if other.name != job.name])
        table[job.name] = _entry(job, own or {})
    failures = [f"job {job.name}: {job.reason}." for job in jobs if job.is_over and job.reason and _lacks(folder, job)]
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


def _difference(first: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return what makes results of two jobs not belong together."""
    if first["mpi"]["library"] != other["mpi"]["library"]:
        name = str(other["mpi"]["library"]).strip().splitlines()[0][:80]
        return f"another MPI library than the first ({name})"
    if first["sources"] != other["sources"]:
        return "with another version of the microbenchmarks than the first"
    for what in ("environment", "settings"):
        then, now = first.get(what, {}), other.get(what, {})
        names = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        if names:
            return f"with another {names[0]} than the first ({now.get(names[0], 'absent')})"
    return ""


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
    """Let a file appear whole: by a link where that is possible, else as a copy."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    try:
        os.link(source, new)
    except OSError:
        shutil.copyfile(source, new)
    os.replace(new, target)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _lacks(folder: Folder, job: Job) -> bool:
    return any(not (folder.path / f"{name}.jsonl").is_file() for name in job.launches)


def _entry(job: Job, record: Mapping[str, Any]) -> dict[str, Any]:
    machine = record.get("machine", {})
    found = {"number": job.number, "state": job.state, "reason": job.reason, "submitted": job.submitted}
    return {**found, "launches": list(job.launches), "host": machine.get("host", ""), "cores": machine.get("cores", 0)}
