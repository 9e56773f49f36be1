"""Do what a campaign file says: here, or as jobs of a batch system."""

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path

from scalkit.bench.arguments import NEIGHBOURHOOD
from scalkit.bench.campaign.file import CampaignFile
from scalkit.bench.campaign.folder import least_time, make_plan
from scalkit.bench.campaign.here import prepare_here
from scalkit.bench.campaign.refining import Range
from scalkit.bench.command.campaign import CommandCampaign, clock_name, prepare_command, virtual_mpi
from scalkit.bench.command.file import CommandFile, read_either, require_measuring
from scalkit.bench.jobs.batch import Status, look, submit
from scalkit.bench.jobs.collecting import planned_jobs
from scalkit.bench.jobs.script import require_enough
from scalkit.bench.jobs.slurm import REJECTED
from scalkit.bench.patterns.neighbourhood import experiments
from scalkit.cli.options.command import command_in_words
from scalkit.cli.options.measured import measure_all
from scalkit.cli.options.measuring_rules import rules_in_words
from scalkit.cli.terminal.printed import print_either, print_json, say
from scalkit.cli.terminal.progress import duration, terminated_like_interrupted, watched
from scalkit.errors import UsageError
from scalkit.support.text import counted, few

_MOST = 12


def run(args: argparse.Namespace) -> int:
    """Do the word that was given and return its exit status."""
    return {"run": _run, "submit": _submit, "collect": _collect}[args.word](args)


def _run(args: argparse.Namespace) -> int:
    file = read_either(Path(args.file))
    if args.check:
        return _check_command(file, as_json=args.json) if isinstance(file, CommandFile) else _check(file, as_json=args.json)
    with terminated_like_interrupted():
        ranges = [Range([_command(file)])] if isinstance(file, CommandFile) else prepare_here(file, set_aside=args.set_aside)
        return measure_all(ranges, file.out, command="campaign", timeout_s=file.timeout_s, as_json=args.json)


def _command(file: CommandFile) -> CommandCampaign:
    virtual = None if file.machine is None else virtual_mpi(file.arguments.template.words, **file.machine)
    return prepare_command(file.out, replace(file.arguments, clock=None if virtual is None else clock_name(virtual)), virtual)


def _check(file: CampaignFile, *, as_json: bool) -> int:
    plans = [make_plan(variant.arguments) for variant in file.variants]
    jobs = list(planned_jobs(file)) if file.slurm else []
    if jobs:
        require_enough(file, jobs)
    least_s = sum(map(least_time, plans))
    folders = [str(variant.folder(file.out)) for variant in file.variants]
    first = file.variants[0].arguments
    n_experiments = len(experiments(first.experiments, first.counts)) if first.experiments else 0
    outcome = {
        "file": str(file.path),
        "title": file.title,
        "folders": folders,
        "launches": sum(map(len, plans)),
        "jobs": [name for name, _, _ in jobs],
        "experiments": n_experiments,
        "least_s": round(least_s),
        "budget_s": file.budget_s,
        "status": 0,
    }
    counts = ", ".join(map(str, first.counts))
    lines = [file.title] if file.title else []
    lines += [f"{' and '.join(first.kinds)} with {counts} processes, {counted(first.runs, 'run')}, seed {first.seed}"]
    lines += [f"{counted(n_experiments, 'experiment')} on neighbourhoods"] if n_experiments else []
    lines += rules_in_words(first)
    lines += [f"into {folder}" for folder in folders]
    lines += [f"{_launches(sum(map(len, plans)))}, {duration(least_s)} at the least"]
    if file.budget_s is not None:
        short = "; less than that, so it will take longer" if file.budget_s < least_s else ""
        lines[-1] += f"; budget {duration(file.budget_s)}{short}"
    lines += [f"{counted(len(jobs), 'job')} of Slurm"] if jobs else []
    if len(first.counts) < 5 and first.kinds != (NEIGHBOURHOOD,):
        lines += [f"A verdict needs 5 numbers of processes; here are {len(first.counts)}."]
    print_either(as_json, outcome, "\n".join(lines))
    return 0


def _check_command(file: CommandFile, *, as_json: bool) -> int:
    own = file.arguments
    launches = len(own.points) * own.runs
    told = {"file": str(file.path), "title": file.title, "folders": [str(file.out)], "launches": launches, "status": 0}
    lines = [*([file.title] if file.title else []), command_in_words(own, file.out), own.template.command, _launches(launches)]
    print_either(as_json, told, "\n".join(lines))
    return 0


def _submit(args: argparse.Namespace) -> int:
    if not args.every > 0:
        raise UsageError(f"--every {args.every:g}: a positive number of seconds is needed.")
    path, scripts = Path(args.file), None if args.scripts is None else Path(args.scripts)
    if scripts is not None:
        try:
            scripts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--scripts {scripts}: {error.strerror or error}; name a folder.") from error
    file = require_measuring(path)
    jobs = submit(file, scripts)
    rejected = [job for job in jobs if job.state == REJECTED]
    status = 2 if rejected else 0
    if args.json and not args.wait:
        print_json({"folder": str(file.out), "jobs": [asdict(job) for job in jobs], "status": status})
        return status
    if scripts is not None:
        written = "".join(f"{scripts / job.script}\n" for job in jobs)
        sys.stdout.write(written or "Everything is measured or on its way.\n")
        return 0
    for job in jobs:
        if job.number:
            say(f"job {job.name} is {job.number}: {_launches(len(job.launches))}", as_json=args.json)
    for reason in dict.fromkeys(job.reason for job in rejected):
        names = [job.name for job in rejected if job.reason == reason]
        sys.stderr.write(f"scalkit campaign: Slurm rejected {few(names)}: {reason}.\n")
    if not args.wait:
        ahead = "" if jobs else "Everything is measured or on its way; "
        say(f"{ahead}'scalkit campaign collect {file.path}' says how the jobs are.")
        return status
    try:
        ended = watched(file, args.every, sys.stderr)
    except KeyboardInterrupt:
        sys.stderr.write("The jobs go on; the same command follows them again.\n")
        raise
    return max(status, _tell(file, ended, args.json, was_told=True))


def _collect(args: argparse.Namespace) -> int:
    file = require_measuring(Path(args.file))
    return _tell(file, look(file), args.json)


def _tell(file: CampaignFile, status: Status, as_json: bool, was_told: bool = False) -> int:
    code = 0 if status.done == status.total else 2
    if as_json:
        outcome = {
            "folder": str(file.out),
            "launches": status.total,
            "done": status.done,
            "working": [asdict(job) for job in status.working],
            "missing": list(status.missing),
            "reasons": list(status.reasons),
            "remarks": list(status.remarks),
            "status": code,
        }
        print_json(outcome)
        return code
    for text in (*(() if was_told else status.reasons), *status.remarks):
        sys.stderr.write(f"scalkit campaign: {text}\n")
    folders = ", ".join(str(variant.folder(file.out)) for variant in file.variants)
    sys.stdout.write(f"{status.done} of {_launches(status.total)} in {folders}\n")
    for job in status.working[:_MOST]:
        why = f" ({job.reason})" if job.reason else ""
        sys.stdout.write(f"job {job.name} ({job.number}): {job.state.lower()}{why}\n")
    if len(status.working) > _MOST:
        sys.stdout.write(f"and {len(status.working) - _MOST} more jobs\n")
    if status.missing:
        sys.stdout.write(f"'scalkit campaign submit {file.path}' submits the {len(status.missing)} missing again.\n")
    return code


def _launches(number: int) -> str:
    return counted(number, "launch", "launches")
