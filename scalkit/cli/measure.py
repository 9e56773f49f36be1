"""Measure the MPI library of this machine, or functions of your own, and keep the run files in one folder."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from scalkit.bench import Arguments, Campaign, Result
from scalkit.bench.arguments import FUNCTIONS, SHAPES
from scalkit.bench.campaign.folder import CAMPAIGN, Folder
from scalkit.bench.campaign.refining import Range
from scalkit.bench.libraries.mpi import cores
from scalkit.bench.libraries.simulator import SimulatedMpi
from scalkit.bench.libraries.targets import Target, find_targets
from scalkit.bench.patterns.master_worker import FarmCampaign
from scalkit.cli.campaign import measure_file
from scalkit.cli.options import measuring_rules
from scalkit.cli.options.command import next_step, opening, prepared_command, print_include, refuse_without_command
from scalkit.cli.terminal.printed import print_json, say
from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.measure.virtual_time import numbers_in_words
from scalkit.text import few, plain

_MOST_REMARKS = 12


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, say what was, and return 0 or 2; with a report also 1."""
    if args.campaign is not None:
        return measure_file(args)
    if args.include:
        return print_include()
    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: a positive number of seconds is needed.")
    out = Path(args.out)
    if args.command_text is not None:
        return _run_command(args, out)
    refuse_without_command(args)
    _require_usable(args, out)
    counts = measuring_rules.counts_of(args.processes, "-n")
    if measuring_rules.WHAT in args.what:
        measuring_rules.refuse_rules(args, measuring_rules.WHAT)
        for option, value in (("--memory-n", args.memory_n), ("--bind", args.bind)):
            if value is not None:
                raise UsageError(f"{option} does not go with {measuring_rules.WHAT}; leave it out.")
    else:
        measuring_rules.rules_of(args)
        measuring_rules.sizes_of(args)
    with terminated_like_interrupted():
        targets = find_targets(
            args.mpi,
            args.platform,
            per_node=args.per_node,
            algorithms=args.algorithm,
            mpicc=args.mpicc,
            mpiexec=args.mpiexec,
            clock=args.clock,
            network=args.network,
        )
        ranges = _ranges(args, counts, targets, out)
        campaigns = [campaign for one in ranges for campaign in one.campaigns]
        for one in ranges:
            say(_opening(one.campaigns[0]), as_json=args.json)
            if len(one.campaigns) > 1:
                say(f"and beside it {', '.join(each.folder.path.name for each in one.campaigns[1:])}", as_json=args.json)
        with resumable(out), progress_printer(sys.stderr) as on_progress:
            results = measuring_rules.run_ranges(args, ranges, on_progress)
        _report(args, results)
        if args.refine:
            say("\n".join(measuring_rules.refined_in_words(ranges)), as_json=args.json)
        status = 2 if any(result.missing for result in results) else 0
        if status == 0 and not args.json and measuring_rules.is_windowed(args):
            sys.stdout.write("".join(f"{plain(line)}\n" for line in measuring_rules.bandwidths_of(campaigns)))
        if args.per_process and status == 0 and not args.json:
            said = measuring_rules.processes_of(campaigns)
            sys.stdout.write("".join(f"{text}\n" for text in said[:_MOST_REMARKS]))
            sys.stdout.write(f"and {len(said) - _MOST_REMARKS} more\n" if len(said) > _MOST_REMARKS else "")
        folders = [campaign.folder.path for campaign in campaigns]
        return _written_report(args, out, folders) if args.report and status == 0 else status


def _run_command(args: argparse.Namespace, out: Path) -> int:
    """Measure a command where its run files are missing, print the next step, and return 0 or 2."""
    campaign = prepared_command(args, out)
    say(opening(campaign.arguments, out), as_json=args.json)
    with terminated_like_interrupted(), resumable(out), progress_printer(sys.stderr) as on_progress:
        result = campaign.run(timeout_s=args.timeout, on_progress=on_progress)
    _report(args, [result])
    if not args.json and (text := next_step(campaign, result)):
        say(text, as_json=args.json)
    return 2 if result.missing else 0


def _require_usable(args: argparse.Namespace, out: Path) -> None:
    """Return nothing if the results and the report can be written."""
    several = "libraries" if len(args.mpi) + len(args.platform) > 1 else "message sizes" if measuring_rules.is_sized(args) else ""
    if not several:
        Folder(out).require_usable()
    elif out.exists() and (not out.is_dir() or (out / CAMPAIGN).exists()):
        raise UsageError(f"--out {out} is a file or holds one campaign; several {several} need a folder for theirs.")
    if args.report and args.refine:
        raise UsageError("--report: a refined range has too many columns for a report; leave one of both out.")
    if args.report:
        from scalkit.reports.write import Target

        Target.of(args.report, force=True)


def _ranges(args: argparse.Namespace, counts: tuple[int, ...], targets: Sequence[Target], out: Path) -> list[Any]:
    """Return what is measured, ready to run: the campaigns of each target."""
    if measuring_rules.WHAT not in args.what:
        return [*measuring_rules.ranges_of(args, targets, out, lambda target, folder: _arguments(args, counts, folder, target))]
    folders = [out / target.label if len(targets) > 1 else out for target in targets]
    farms: list[Any] = [
        measuring_rules.prepared_farm(args, counts, folder, target.mpi) for target, folder in zip(targets, folders, strict=True)
    ]
    return [Range([farm], _single_size, out) for farm in farms]


def _single_size(size: int) -> NoReturn:
    raise AssertionError(size)


def _arguments(args: argparse.Namespace, counts: tuple[int, ...], out: Path, target: Target) -> Arguments:
    if not args.what and not args.function:
        raise UsageError("nothing is named to measure; say collectives, memory, both, or --function FILE.")

    if isinstance(target.mpi, SimulatedMpi):
        target.mpi.platform.require_room(max(counts, default=0), target.mpi.per_node)
    args.seed = measuring_rules.seed_of(args.seed, out)
    return Arguments(
        kinds=(*args.what, *([FUNCTIONS] if args.function else [])),
        counts=counts,
        runs=target.mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        ops=measuring_rules.words_of(args.ops),
        size=measuring_rules.sizes_of(args)[0],
        datatype=args.datatype,
        bind=args.bind,
        sync=args.sync,
        shapes=measuring_rules.words_of(args.shapes) or SHAPES,
        budget_s=args.budget,
        **measuring_rules.rules_of(args),
        functions=tuple(args.function) or None,
        processes_per_node=args.per_node if target.mpi.is_simulated else None,
        memory_counts=None if args.memory_n is None else measuring_rules.counts_of(args.memory_n, "--memory-n"),
    )


def _written_report(args: argparse.Namespace, out: Path, folders: Sequence[Path]) -> int:
    """Write the report on what was measured and return its status."""
    from scalkit.reports import report

    named = {str(folder.relative_to(out)): folder for folder in folders}
    result = report(named if len(folders) > 1 else folders[0], None, args.report, force=True)
    say(f"report: {result.html}\n{result.answer}", as_json=args.json)
    return result.status


def _opening(campaign: Campaign | FarmCampaign) -> str:
    own = campaign.arguments
    aside = campaign.aside
    lines = [f"{campaign.folder.path} held another campaign, which is now {aside}."] if aside else []
    lines += campaign.mpi.passed_over
    lines += [
        f"Measuring {' and '.join(own.kinds)} of {campaign.mpi.name} with {campaign.mpi.mpiexec} into {campaign.folder.path}"
    ]
    if campaign.mpi.is_simulated:
        lines.append("These times are simulated. SimGrid SMPI computes them; nothing is measured, and memory is left out.")
    if campaign.mpi.is_virtual:
        kept = "; memory is counted by this machine" if "memory" in own.kinds else ""
        machine = numbers_in_words(campaign.facts["virtual"])
        lines.append(f"Run times are those of a virtual clock: {machine}{kept}.")
    is_timed = not campaign.mpi.repeats_exactly and set(own.kinds) - {"memory"}
    crowded = [n for n in own.counts if n > cores()] if is_timed else []
    if crowded:
        numbers = ", ".join(map(str, crowded))
        lines.append(f"There are {cores()} cores: run times with {numbers} processes describe the scheduler, and do not decide.")
    if len(own.counts) < 5:
        lines.append(f"A verdict needs 5 numbers of processes; here are {len(own.counts)}.")
    return "\n".join(lines)


def _report(args: argparse.Namespace, results: Sequence[Result]) -> None:
    """Say what was measured; as JSON one object, or one with all of them."""
    if args.json:
        outcomes = [_as_json(result) for result in results]
        status = max(outcome["status"] for outcome in outcomes)
        content = outcomes[0] if len(outcomes) == 1 else {"campaigns": outcomes, "status": status}
        print_json(content)
        return
    for result in results:
        _say_result(result)


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "folder": str(result.folder),
        "launches": result.total,
        "done": result.done,
        "fresh": result.fresh,
        "missing": [launch.name for launch in result.missing],
        "failures": list(result.failures),
        "remarks": list(result.remarks),
        "status": 2 if result.missing else 0,
    }


def _say_result(result: Result) -> None:
    names = [launch.name for launch in result.missing]
    for text in (*result.failures, *result.remarks[:_MOST_REMARKS]):
        sys.stderr.write(f"scalkit measure: {plain(text)}\n")
    if len(result.remarks) > _MOST_REMARKS:
        more = len(result.remarks) - _MOST_REMARKS
        sys.stderr.write(f"scalkit measure: {more} more wrong results are named in {result.folder}/campaign.toml.\n")
    if names:
        sys.stderr.write(
            f"scalkit measure: {len(names)} of {result.total} launches are missing ({few(names)}); the other {result.done} "
            f"are kept in {result.folder}. The same command tries only what is missing.\n"
        )
    else:
        already = "" if result.fresh else "nothing was missing: "
        sys.stdout.write(f"{already}{result.total} launches in {result.folder}\n")
