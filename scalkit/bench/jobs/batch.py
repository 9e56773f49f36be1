"""A campaign on Slurm: submit what is missing, look how it goes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import Folder, Launch, make_plan, write_whole
from scalkit.bench.jobs.collecting import Book, Job, collect, planned_jobs
from scalkit.bench.jobs.script import job_script, require_enough
from scalkit.bench.jobs.slurm import REJECTED, job_states, require_slurm, submit_script
from scalkit.bench.process import summary
from scalkit.bench.provenance import utc_now
from scalkit.errors import UsageError


@dataclass(frozen=True)
class Status:
    """How a campaign on a batch system stands.

    `total`, `done`: launches of the plan; of these, run files that are there.
    `working`: those that wait or run.
    `missing`: paths of the run files, below the campaign's folder, that no job made and none is making.
    `reasons`: why, a sentence for each job.
    `remarks`: what is wrong with what is there, a sentence each.
    """

    total: int
    done: int
    working: tuple[Job, ...]
    missing: tuple[str, ...]
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]


def submit(file: CampaignFile, scripts: Path | None = None) -> tuple[Job, ...]:
    """Submit a job for everything that is neither measured nor on its way, and return these jobs.

    `scripts`: folder that the scripts are only written into; nothing is submitted then.
    Returns: also those that Slurm rejected, with the reason.
    Raises UsageError if there is no Slurm, the file has no table for it, time or partition are too small, or the
    folder is in use.
    Raises LaunchError if Slurm does not answer.
    """
    if file.slurm is None:
        raise UsageError(f"{file.path} has no table [slurm]; add one, even if it is empty.")
    if scripts is None:
        require_slurm()
    require_enough(file, list(planned_jobs(file)))
    book = Book(file.out)
    _require_no_other(file, book)
    submitted = []
    with book.opened(file):
        _refresh(file, book)
        collect(file, book)
        write_whole(book.submitted, file.text)
        for name, variant, launches in list(planned_jobs(file)):
            left = _left(file, book, variant, launches)
            if not left:
                continue
            job = _written(file, book, name, variant, left, scripts or book.path)
            if scripts is None:
                number, why = submit_script(book.path / job.script)
                job = replace(job, number=number, state="PENDING" if number else REJECTED, reason=why)
                book.keep([job])
            submitted.append(job)
    return tuple(submitted)


def look(file: CampaignFile) -> Status:
    """Ask how the jobs are, collect what they measured, and return how the campaign stands.

    Raises UsageError if nothing was submitted, or the folder is in use; LaunchError if Slurm does not answer.
    """
    book = Book(file.out)
    if not book.exists:
        raise UsageError(f"nothing of {file.path} was submitted; 'scalkit campaign submit {file.path}' does.")
    with book.opened(file):
        _refresh(file, book)
        remarks = collect(file, book)
        return _status(file, book, remarks)


def _require_no_other(file: CampaignFile, book: Book) -> None:
    for variant in file.variants:
        folder = Folder(variant.folder(file.out))
        if folder.record and not book.exists:
            raise UsageError(f"{folder.path} holds a campaign that was not submitted; give this one another out.")


def _written(file: CampaignFile, book: Book, name: str, variant: Variant, launches: Sequence[Launch], folder: Path) -> Job:
    job = Job(book.attempt(name), variant.name, tuple(launch.name for launch in launches), submitted=utc_now())
    text = job_script(
        file, variant, launches, name=job.name, identity=book.identity, folder=book.folder(job), submitted=book.submitted
    )
    write_whole(folder / job.script, text)
    return job


def _left(file: CampaignFile, book: Book, variant: Variant, launches: Sequence[Launch]) -> list[Launch]:
    """Return the launches that are neither measured nor on their way."""
    coming = {name for job in book.jobs if job.variant == variant.name and not job.is_over for name in job.launches}
    missing = Folder(variant.folder(file.out)).missing(launches)
    return [launch for launch in missing if launch.name not in coming]


def _refresh(file: CampaignFile, book: Book) -> None:
    """Ask Slurm about the jobs that were not over."""
    open_jobs = [job for job in book.jobs if job.number and not job.is_over]
    if not open_jobs:
        return
    require_slurm()
    states = job_states([job.number for job in open_jobs])
    changed = []
    for job in open_jobs:
        state = states[job.number]
        reason = state.reason
        if state.is_over:
            is_done = all((book.folder(job) / f"{name}.jsonl").is_file() for name in job.launches)
            reason = "" if is_done else _failure(book, job) or state.sentence(book.log(job))
        changed.append(replace(job, state=state.word, reason=reason))
    book.keep(changed)


def _failure(book: Book, job: Job) -> str:
    """Return what the job itself says went wrong; nothing if it could not."""
    try:
        failures = Folder(book.folder(job)).record.get("failures", [])
    except UsageError:
        return ""
    more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
    return f"{summary(str(failures[0]))}{more}" if failures else ""


def _status(file: CampaignFile, book: Book, remarks: Sequence[str]) -> Status:
    total, missing = 0, []
    coming = {(job.variant, name) for job in book.jobs if not job.is_over and not job.is_stuck for name in job.launches}
    last = {(job.variant, name): job for job in book.jobs for name in job.launches}
    guilty: dict[str, list[str]] = {}
    for variant in file.variants:
        plan = make_plan(variant.arguments)
        total += len(plan)
        folder = Folder(variant.folder(file.out))
        for launch in folder.missing(plan):
            missing.append((variant, launch.name))
            if (variant.name, launch.name) not in coming:
                job = last.get((variant.name, launch.name))
                guilty.setdefault(job.name if job else "", []).append(launch.name)
    lost = [(variant, name) for variant, name in missing if (variant.name, name) not in coming]
    return Status(
        total,
        total - len(missing),
        tuple(job for job in book.jobs if not job.is_over and not job.is_stuck),
        tuple(str(Path(variant.name) / f"{name}.jsonl") for variant, name in lost),
        tuple(_reasons(book, guilty)),
        tuple(remarks),
    )


def _reasons(book: Book, guilty: dict[str, list[str]]) -> Iterator[str]:
    jobs = {job.name: job for job in book.jobs}
    for name, launches in guilty.items():
        what = f"{len(launches)} launch{'es' if len(launches) > 1 else ''}"
        if name not in jobs:
            yield f"{what} was not submitted." if len(launches) == 1 else f"{what} were not submitted."
            continue
        job = jobs[name]
        number = f" ({job.number})" if job.number else ""
        if job.state == REJECTED:
            yield f"job {name} was rejected: {job.reason}."
        elif job.is_stuck:
            yield f"job {name}{number} cannot begin: {job.reason}; 'scancel {job.number}' and mend the file."
        else:
            kept = any((book.folder(job) / f"{one}.jsonl.part").is_file() for one in launches)
            rest = "; what it measured until then is kept" if kept else ""
            yield f"job {name}{number} left {what} out: {job.reason or 'it ended'}{rest}."
