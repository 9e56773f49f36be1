"""Do what a campaign file says: here, or as jobs of Slurm."""

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from scalkit.bench.arguments import NEIGHBOURHOOD
from scalkit.bench.campaign.file import CampaignFile, read_campaign
from scalkit.bench.campaign.folder import least_time, make_plan, write_whole
from scalkit.bench.campaign.here import prepare_here, run_here
from scalkit.bench.campaign.loop import Result
from scalkit.bench.campaign.refining import ranges_of_file, run_refined
from scalkit.bench.command.campaign import prepare_command, virtual_clock
from scalkit.bench.command.file import CommandFile, read_either, require_measuring
from scalkit.bench.jobs.batch import Status, look, submit
from scalkit.bench.jobs.collecting import planned_jobs
from scalkit.bench.jobs.emitting import TOOLS, emitted
from scalkit.bench.jobs.job import run_job
from scalkit.bench.jobs.script import SYSTEMS, require_enough, whole_job
from scalkit.bench.jobs.slurm import REJECTED
from scalkit.bench.patterns.neighbourhood import experiments
from scalkit.cli.options.command import next_step, opening
from scalkit.cli.options.declared import given
from scalkit.cli.options.measuring_rules import rules_in_words, say_inserted
from scalkit.cli.terminal.printed import print_either, print_json, say
from scalkit.cli.terminal.progress import duration, progress_printer, resumable, terminated_like_interrupted, watched
from scalkit.errors import UsageError
from scalkit.text import counted, few

_MOST = 12


def run(args: argparse.Namespace) -> int:
    """Do the word that was given and return its exit status."""
    return _WORDS[args.word](args)


def measure_file(args: argparse.Namespace) -> int:
    """Measure the file of `scalkit measure --campaign` here, and return 0 or 2.

    Raises UsageError if an option of that command is given that does not go with a file.
    """
    for key in given(args, "measure"):
        if key not in ("campaign", "set_aside", "json"):
            what = f"--{key.replace('_', '-')}" if key != "what" else " ".join(args.what)
            raise UsageError(f"--campaign {args.campaign}: the file says everything; leave out {what}.")
    return _run_here(Path(args.campaign), set_aside=args.set_aside, as_json=args.json)


def _run_here(path: Path, *, set_aside: bool, as_json: bool) -> int:
    file = read_either(path)
    if isinstance(file, CommandFile):
        return _run_command(file, as_json=as_json)
    with terminated_like_interrupted():
        campaigns = prepare_here(file, set_aside=set_aside)
        for campaign in campaigns:
            if campaign.aside:
                say(f"{campaign.folder.path} held another campaign, which is now {campaign.aside}.", as_json=as_json)
            kinds = " and ".join(campaign.arguments.kinds)
            say(f"Measuring {kinds} of {campaign.mpi.name} into {campaign.folder.path}", as_json=as_json)
        with resumable(file.out), progress_printer(sys.stderr) as on_progress:
            if file.variants[0].arguments.refine is None:
                results = run_here(file, campaigns, on_progress=on_progress)
            else:
                results = run_refined(
                    ranges_of_file(file, campaigns), timeout_s=file.timeout_s, on_progress=on_progress, on_insert=say_inserted
                )
    return _report(results, as_json)


def _run_command(file: CommandFile, *, as_json: bool) -> int:
    with terminated_like_interrupted():
        virtual = None if file.machine is None else virtual_clock(file.arguments.template.words, **file.machine)
        arguments = replace(file.arguments, clock=None if virtual is None else virtual.name)
        campaign = prepare_command(file.out, arguments, virtual)
        say(opening(arguments, file.out), as_json=as_json)
        with resumable(file.out), progress_printer(sys.stderr) as on_progress:
            result = campaign.run(timeout_s=file.timeout_s, on_progress=on_progress)
    status = _report([result], as_json)
    if not as_json and (step := next_step(campaign, result)):
        sys.stdout.write(f"{step}\n")
    return status


def _run(args: argparse.Namespace) -> int:
    return _run_here(Path(args.file), set_aside=args.set_aside, as_json=args.json)


def _check(args: argparse.Namespace) -> int:
    file = read_either(Path(args.file))
    if isinstance(file, CommandFile):
        return _check_command(file, as_json=args.json)
    plans = [make_plan(variant.arguments) for variant in file.variants]
    jobs = list(planned_jobs(file)) if file.slurm else []
    if jobs:
        require_enough(file, jobs)
    least_s = sum(map(least_time, plans))
    folders = [str(variant.folder(file.out)) for variant in file.variants]
    first = file.variants[0].arguments
    if args.json:
        outcome = {
            "file": str(file.path),
            "title": file.title,
            "folders": folders,
            "launches": sum(map(len, plans)),
            "jobs": [name for name, _, _ in jobs],
            "experiments": len(experiments(first.experiments or (), first.counts)),
            "least_s": round(least_s),
            "budget_s": file.budget_s,
            "status": 0,
        }
        print_json(outcome)
        return 0
    counts = ", ".join(map(str, first.counts))
    lines = [file.title] if file.title else []
    lines += [f"{' and '.join(first.kinds)} with {counts} processes, {counted(first.runs, 'run')}, seed {first.seed}"]
    lines += rules_in_words(first)
    lines += [f"into {folder}" for folder in folders]
    lines += [f"{_launches(sum(map(len, plans)))}, {duration(least_s)} at the least"]
    if file.budget_s is not None:
        short = "; less than that, so it will take longer" if file.budget_s < least_s else ""
        lines[-1] += f"; budget {duration(file.budget_s)}{short}"
    if jobs:
        lines += [f"{counted(len(jobs), 'job')} of Slurm"]
    if first.experiments:
        many = counted(len(experiments(first.experiments, first.counts)), "experiment")
        lines.insert(2 if file.title else 1, f"{many} on neighbourhoods")
    if len(first.counts) < 5 and first.kinds != (NEIGHBOURHOOD,):
        lines += [f"A verdict needs 5 numbers of processes; here are {len(first.counts)}."]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _check_command(file: CommandFile, *, as_json: bool) -> int:
    own = file.arguments
    launches = len(own.points) * own.runs
    told = {"file": str(file.path), "title": file.title, "folders": [str(file.out)], "launches": launches, "status": 0}
    lines = [*([file.title] if file.title else []), opening(own, file.out), own.template.command, _launches(launches)]
    print_either(as_json, told, "\n".join(lines))
    return 0


def _submit(args: argparse.Namespace) -> int:
    file = require_measuring(Path(args.file))
    jobs = submit(file, dry=args.dry_run)
    rejected = [job for job in jobs if job.state == REJECTED]
    status = 2 if rejected else 0
    if args.json:
        print_json({"folder": str(file.out), "jobs": [asdict(job) for job in jobs], "status": status})
        return status
    taken = [job for job in jobs if job.number]
    if args.dry_run:
        scripts = "".join(f"{file.out / 'jobs' / job.name}.sh\n" for job in jobs)
        sys.stdout.write(scripts or "Everything is measured or on its way.\n")
        return 0
    for job in taken:
        sys.stdout.write(f"job {job.name} is {job.number}: {_launches(len(job.launches))}\n")
    if not jobs:
        sys.stdout.write(f"Everything is measured or on its way; 'scalkit campaign watch {file.path}' follows it.\n")
    elif taken:
        sys.stdout.write(f"'scalkit campaign watch {file.path}' follows them.\n")
    for reason in dict.fromkeys(job.reason for job in rejected):
        names = [job.name for job in rejected if job.reason == reason]
        sys.stderr.write(f"scalkit campaign: Slurm rejected {few(names)}: {reason}.\n")
    return status


def _watch(args: argparse.Namespace) -> int:
    if not args.every > 0:
        raise UsageError(f"--every {args.every:g}: a positive number of seconds is needed.")
    file = require_measuring(Path(args.file))
    try:
        status = watched(file, args.every, sys.stderr)
    except KeyboardInterrupt:
        sys.stderr.write(f"The jobs go on; 'scalkit campaign watch {file.path}' follows them again.\n")
        raise
    return _tell(file, status, args.json, was_told=True)


def _collect(args: argparse.Namespace) -> int:
    file = require_measuring(Path(args.file))
    return _tell(file, look(file), args.json)


def _emit(args: argparse.Namespace) -> int:
    path, system = Path(args.file), SYSTEMS.get(args.tool)
    if system is not None and args.mpi:
        raise UsageError(f"--mpi goes with {' and '.join(TOOLS)}; a job measures all libraries of the file.")
    library = f"-{re.sub(r'[^A-Za-z0-9._-]+', '-', args.mpi)}" if args.mpi else ""
    beside = path.with_name(f"{path.stem}{library}{system.suffix if system else TOOLS[args.tool]}")
    out = Path(args.out) if args.out else beside
    if system is not None:
        text, runs = whole_job(read_either(path), args.tool), f"{system.submit} {shlex.quote(str(out))}"
    else:
        text = emitted(require_measuring(path), args.tool, out.name, args.mpi)
        runs = {"reframe": f"reframe -c {shlex.quote(str(out))} -r", "jube": f"jube run {shlex.quote(str(out))}"}[args.tool]
    write_whole(out, text)
    told = {"file": str(out), "tool": args.tool, "command": runs, "status": 0}
    print_either(args.json, told, f"{out}; run it with: {runs}")
    return 0


def _job(args: argparse.Namespace) -> int:
    names = [name for name in args.launches.split(",") if name]
    with terminated_like_interrupted(), progress_printer(sys.stdout) as on_progress:
        file = read_campaign(Path(args.file), Path(args.base))
        options = {"identity": args.id, "budget_s": args.budget, "on_progress": on_progress}
        result = run_job(file, args.variant, names, Path(args.folder), **options)
    return 2 if result.missing else 0


_WORDS = {"check": _check, "run": _run, "submit": _submit, "watch": _watch, "collect": _collect, "emit": _emit, "job": _job}


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


def _report(results: Sequence[Result], as_json: bool) -> int:
    missing = [f"{result.folder.name}/{launch.name}" for result in results for launch in result.missing]
    code = 2 if missing else 0
    if as_json:
        outcome = {
            "folders": [str(result.folder) for result in results],
            "launches": sum(result.total for result in results),
            "done": sum(result.done for result in results),
            "fresh": sum(result.fresh for result in results),
            "missing": missing,
            "failures": [text for result in results for text in result.failures],
            "remarks": [text for result in results for text in result.remarks],
            "status": code,
        }
        print_json(outcome)
        return code
    for result in results:
        for text in (*result.failures, *result.remarks[:_MOST]):
            sys.stderr.write(f"scalkit campaign: {text}\n")
        already = "" if result.fresh or result.missing else "nothing was missing: "
        sys.stdout.write(f"{already}{result.done} of {_launches(result.total)} in {result.folder}\n")
    if missing:
        sys.stderr.write(f"scalkit campaign: {few(missing)} {'is' if len(missing) == 1 else 'are'} missing; ")
        sys.stderr.write("the same command tries only what is missing.\n")
    return code


def _launches(number: int) -> str:
    return counted(number, "launch", "launches")
