"""Measure the MPI library of this machine, or functions of your own, and keep the run files in one folder.

collectives  run times of Barrier, Bcast, Reduce, Allreduce, Gather, Allgather, Alltoall and of an own broadcast
             whose behaviour is known
memory       bytes per communicator, window and grid, and MPI's own memory; they repeat exactly, so they are launched
             at most 3 times, whatever --runs says
master-worker  process 0 hands out units of work to all others: time for each unit, and how busy it is (by itself)
--function   a function of yours: my_bcast.c defines int my_bcast(struct sk_call *call); Python with mpi4py as
             mymodule:exchange or mine.py:exchange (docs/measurement.md)

--command    any program, with {name} where a parameter stands: its time, and that of its regions (docs/your-library.md)

--ops takes names and groups: paper (default, the above), blocking, nonblocking, overlap, point-to-point, further (making
and freeing communicators and windows; memory of more kinds of objects), substitutes (collectives by simpler calls),
send-modes, rma (one-sided operations), simple (calls without communication), all.

    scalkit measure collectives memory                                         the MPI library that is found
    scalkit measure memory --mpi mpich --mpi openmpi --report memory.html      two libraries side by side
    scalkit measure collectives --platform juropa -n 2..1024 --per-node 8      a simulated machine
    scalkit measure collectives --platform daint --algorithm bcast=flattree    with another algorithm there
    scalkit measure collectives memory --clock virtual -n 2..64 --memory-n 2..16    times of a virtual machine, which decide
    scalkit measure collectives --ops Ping_pong -n 2 --sizes 64..1048576 --refine sizes     more sizes where the curve bends
    scalkit measure collectives --standard-error 0.02 --cut-quartiles 1,4 --per-process     as SKaMPI; and who is late

Libraries for --mpi are those of `scalkit mpi list`. Several libraries or machines are measured in turn, run by run, each into
a folder of its own below --out; --report compares them in columns. Times of a simulated machine (juropa, daint, juqueen, or a
platform file of SimGrid) come from a simulator, repeat exactly, and say so everywhere; memory cannot be simulated.
With --clock virtual the MPI library itself runs, and its times come from a virtual clock (docs/virtual-time.md): they repeat
exactly, whatever else the machine does; memory is counted as always.

The programs are compiled on first use. Every run file is complete or marked as .part; after Ctrl-C or a failure the same
command resumes where it stopped. Wrong results are kept, marked and named. Exit status: 0 everything is measured, 2
something is missing, 130 after Ctrl-C; with --report also 1, as `scalkit report` ends.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from scalkit.cli.options.chosen import add_clock
from scalkit.cli.options.command import add_command_options, print_include, refuse_without_command
from scalkit.cli.options.master_worker import WHAT, add_farm_options, prepared_farm
from scalkit.cli.options.measuring_rules import (
    add_rules,
    counts_of,
    is_sized,
    processes_of,
    ranges_of,
    refined_in_words,
    refuse_rules,
    rules_of,
    run_ranges,
    sizes_of,
)
from scalkit.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scalkit.bench import Arguments, Campaign, Result
    from scalkit.bench.libraries.targets import Target
    from scalkit.bench.patterns.master_worker import FarmCampaign

_MOST_REMARKS = 12

HELP = "measure the MPI library of this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit measure`."""
    add = parser.add_argument
    add("what", nargs="*", metavar="WHAT", help="collectives, memory, or both; or master-worker")
    add("--function", action="append", default=[], metavar="FILE", help="C file or module:function; may be repeated")
    add(
        "-n",
        "--processes",
        default="2,4,8,16,32",
        metavar="N,N,...",
        help="numbers of processes; 2..1024 are the powers of two from 2 to 1024 (default: %(default)s)",
    )
    add("--memory-n", default=None, metavar="N,N,...", help="the same for memory alone (default: those of -n)")
    add(
        "--runs",
        type=int,
        default=None,
        metavar="N",
        help="launches of each (default: 10; in virtual time 1; of simulations 5 or 1)",
    )
    add("--out", default="runs/here", metavar="FOLDER", help="where to write (default: %(default)s)")
    add("--budget", type=float, default=None, metavar="SECONDS", help="for all of it, about (default: no limit)")
    add("--ops", default="", metavar="A,B,...", help="names or groups, such as MPI_Scan,nonblocking (default: paper)")
    add("--datatype", default="byte", metavar="TYPE", help="byte, int or double (default: %(default)s)")
    add("--sync", default="round", metavar="METHOD", help="round, window or dissemination (default: %(default)s)")
    add("--shapes", default="", metavar="A,B,...", help="group orders of MPI_Comm_create (default: all four)")
    add("--seed", type=int, default=None, metavar="N", help="of all random choices (default: drawn, and kept)")
    add("--mpicc", default=None, metavar="PROGRAM", help="compiler of the MPI library (default: found)")
    add("--mpiexec", default=None, metavar="PROGRAM", help="launcher of the same library (default: found)")
    _add_targets(parser.add_argument_group("what to measure it on; --mpi and --platform may be given several times"))
    add("--timeout", type=float, default=None, metavar="SECONDS", help="for one launch (default: amply its share)")
    add("--set-aside", action="store_true", help="rename --out if it holds another campaign, rather than refuse it")
    add("--campaign", default=None, metavar="FILE", help="do what a campaign file says (docs/campaigns.md), here")
    add("--json", action="store_true", help="print the outcome as JSON instead of text")
    add_rules(parser)
    add_farm_options(parser)
    add_command_options(parser)


def _add_targets(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--mpi", action="append", default=[], metavar="NAME", help="one of 'scalkit mpi list', or the path of an mpicc")
    add(
        "--platform",
        action="append",
        default=[],
        metavar="NAME",
        help="a simulated machine: juropa, daint, juqueen, or a platform file of SimGrid",
    )
    add_clock(group)
    add(
        "--per-node",
        type=int,
        default=None,
        metavar="N",
        help="processes on a node of simulated and virtual machines (default: 1)",
    )
    add(
        "--algorithm",
        action="append",
        default=[],
        metavar="COLL=NAME",
        help="of a collective operation in simulated machines, such as bcast=flattree; a wrong one shows the list",
    )
    add("--report", default=None, metavar="FILE", help="then write a report, over an earlier one; several make columns")


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, say what was, and return 0 or 2; with a report also 1."""
    from pathlib import Path

    from scalkit.bench.libraries.targets import find_targets
    from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted
    from scalkit.errors import UsageError

    if args.campaign is not None:
        from scalkit.cli.campaign import measure_file

        return measure_file(args, add_arguments)
    if args.include:
        return print_include()
    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: a positive number of seconds is needed.")
    out = Path(args.out)
    if args.command_text is not None:
        return _run_command(args, out)
    refuse_without_command(args)
    _require_usable(args, out)
    counts = counts_of(args.processes, "-n")
    if WHAT in args.what:
        refuse_rules(args, WHAT)
        if args.memory_n is not None:
            raise UsageError(f"--memory-n does not go with {WHAT}; leave it out.")
    else:
        rules_of(args)
        sizes_of(args)
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
            _say(args, _opening(one.campaigns[0]))
            if len(one.campaigns) > 1:
                _say(args, f"and beside it {', '.join(each.folder.path.name for each in one.campaigns[1:])}")
        with resumable(out), progress_printer(sys.stderr) as on_progress:
            results = run_ranges(args, ranges, on_progress)
        _report(args, results)
        if args.refine:
            _say(args, "\n".join(refined_in_words(ranges)))
        status = 2 if any(result.missing for result in results) else 0
        if args.per_process and status == 0 and not args.json:
            said = processes_of(campaigns)
            sys.stdout.write("".join(f"{text}\n" for text in said[:_MOST_REMARKS]))
            sys.stdout.write(f"and {len(said) - _MOST_REMARKS} more\n" if len(said) > _MOST_REMARKS else "")
        folders = [campaign.folder.path for campaign in campaigns]
        return _written_report(args, out, folders) if args.report and status == 0 else status


def _run_command(args: argparse.Namespace, out: Path) -> int:
    """Measure a command where its run files are missing, print the next step, and return 0 or 2."""
    from scalkit.cli.options.command import next_step, opening, prepared_command
    from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted

    campaign = prepared_command(args, out)
    _say(args, opening(campaign.arguments, out))
    with terminated_like_interrupted(), resumable(out), progress_printer(sys.stderr) as on_progress:
        result = campaign.run(timeout_s=args.timeout, on_progress=on_progress)
    _report(args, [result])
    if not args.json and (text := next_step(campaign, result)):
        _say(args, text)
    return 2 if result.missing else 0


def _require_usable(args: argparse.Namespace, out: Path) -> None:
    """Return nothing if the results and the report can be written."""
    from scalkit.bench.campaign.folder import CAMPAIGN, Folder
    from scalkit.errors import UsageError

    several = "libraries" if len(args.mpi) + len(args.platform) > 1 else "message sizes" if is_sized(args) else ""
    if not several:
        Folder(out).require_usable()
    elif out.exists() and (not out.is_dir() or (out / CAMPAIGN).exists()):
        raise UsageError(f"--out {out} is a file or holds one campaign; several {several} need a folder for theirs.")
    if args.report and args.refine:
        raise UsageError("--report: a refined range has too many columns for a report; leave one of both out.")
    if args.report:
        from scalkit.reports.writer.target import Target

        Target.of(args.report, force=True)


def _ranges(args: argparse.Namespace, counts: tuple[int, ...], targets: Sequence[Target], out: Path) -> list[Any]:
    """Return what is measured, ready to run: the campaigns of each target."""
    from scalkit.bench.campaign.refining import Range

    if WHAT not in args.what:
        return [*ranges_of(args, targets, out, lambda target, folder: _arguments(args, counts, folder, target))]
    folders = [out / target.label if len(targets) > 1 else out for target in targets]
    farms: list[Any] = [
        prepared_farm(args, counts, folder, target.mpi) for target, folder in zip(targets, folders, strict=True)
    ]
    return [Range([farm], _single_size, out) for farm in farms]


def _single_size(size: int) -> NoReturn:
    raise AssertionError(size)


def _arguments(args: argparse.Namespace, counts: tuple[int, ...], out: Path, target: Target) -> Arguments:
    from scalkit.bench import Arguments
    from scalkit.bench.campaign.folder import Folder
    from scalkit.bench.libraries.simulator import SimulatedMpi
    from scalkit.bench.operations import FUNCTIONS, SHAPES
    from scalkit.errors import UsageError

    if not args.what and not args.function:
        raise UsageError("nothing is named to measure; say collectives, memory, both, or --function FILE.")

    if isinstance(target.mpi, SimulatedMpi):
        target.mpi.platform.require_room(max(counts, default=0), target.mpi.per_node)
    if args.seed is None:
        recorded = Folder(out).record.get("arguments", {}).get("seed")
        args.seed = _drawn_seed() if recorded is None else recorded
    return Arguments(
        kinds=(*args.what, *([FUNCTIONS] if args.function else [])),
        counts=counts,
        runs=target.mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        ops=_words(args.ops),
        size=sizes_of(args)[0],
        datatype=args.datatype,
        sync=args.sync,
        shapes=_words(args.shapes) or SHAPES,
        budget_s=args.budget,
        **rules_of(args),
        functions=tuple(args.function) or None,
        processes_per_node=args.per_node if target.mpi.is_simulated else None,
        memory_counts=None if args.memory_n is None else counts_of(args.memory_n, "--memory-n"),
    )


def _written_report(args: argparse.Namespace, out: Path, folders: Sequence[Path]) -> int:
    """Write the report on what was measured and return its status."""
    from scalkit.reports import report

    several = len(folders) > 1
    result = report(
        [str(folder) for folder in folders],
        None,
        args.report,
        template="compare" if several else "report",
        labels=[str(folder.relative_to(out)) for folder in folders] if several else (),
        force=True,
    )
    _say(args, f"report: {result.html}\n{result.answer}")
    return result.status


def _drawn_seed() -> int:
    import secrets

    return secrets.randbelow(2**31)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _opening(campaign: Campaign | FarmCampaign) -> str:
    from scalkit.bench.libraries.mpi import cores
    from scalkit.measure.virtual_time import numbers_in_words

    own = campaign.arguments
    aside = campaign.aside
    lines = [f"{campaign.folder.path} held another campaign, which is now {aside}."] if aside else []
    lines += campaign.mpi.passed_over
    lines += [
        f"Measuring {' and '.join(own.kinds)} of {campaign.mpi.name} with {campaign.mpi.mpiexec} into {campaign.folder.path}"
    ]
    if campaign.mpi.is_simulated:
        lines.append(
            "These times are simulated. SimGrid SMPI computes them; nothing is measured, and memory is left out."
        )
    if campaign.mpi.is_virtual:
        kept = "; memory is counted by this machine" if "memory" in own.kinds else ""
        machine = numbers_in_words(campaign.facts["virtual"])
        lines.append(f"Run times are those of a virtual clock: {machine}{kept}.")
    is_timed = not campaign.mpi.repeats_exactly and set(own.kinds) - {"memory"}
    crowded = [n for n in own.counts if n > cores()] if is_timed else []
    if crowded:
        numbers = ", ".join(map(str, crowded))
        lines.append(
            f"There are {cores()} cores: run times with {numbers} processes describe the scheduler, and do not decide."
        )
    if len(own.counts) < 5:
        lines.append(f"A verdict needs 5 numbers of processes; here are {len(own.counts)}.")
    return "\n".join(lines)


def _say(args: argparse.Namespace, text: str) -> None:
    (sys.stderr if args.json else sys.stdout).write(text + "\n")
    sys.stdout.flush()


def _report(args: argparse.Namespace, results: Sequence[Result]) -> None:
    """Say what was measured; as JSON one object, or one with all of them."""
    if args.json:
        outcomes = [_as_json(result) for result in results]
        status = max(outcome["status"] for outcome in outcomes)
        content = outcomes[0] if len(outcomes) == 1 else {"campaigns": outcomes, "status": status}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
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
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        sys.stderr.write(
            f"scalkit measure: {len(names)} of {result.total} launches are missing ({shown}); the other {result.done} "
            f"are kept in {result.folder}. The same command tries only what is missing.\n"
        )
    else:
        already = "" if result.fresh else "nothing was missing: "
        sys.stdout.write(f"{already}{result.total} launches in {result.folder}\n")
