"""Measure the MPI library of this machine and keep the run files in one folder.

collectives  run times of Barrier, Bcast, Reduce, Allreduce, Gather, Allgather, Alltoall and of an own broadcast
             whose behaviour is known
memory       bytes per communicator, window and grid, and MPI's own memory; they repeat exactly, so they are launched
             at most 3 times, whatever --runs says

The programs are compiled on first use. Every run file is complete or marked as .part; after Ctrl-C or a failure the same
command resumes where it stopped. Wrong results are kept, marked and named. Exit status: 0 everything is measured, 2
something is missing, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from scalkit.bench import Arguments, Campaign, Result

_MOST_REMARKS = 12

HELP = "measure the MPI library of this machine"

__all__ = ["HELP", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit measure`."""
    add = parser.add_argument
    add("what", nargs="+", metavar="WHAT", help="collectives, memory, or both")
    add(
        "-n",
        "--processes",
        default="2,4,8,16,32",
        metavar="N,N,...",
        help="numbers of processes (default: %(default)s)",
    )
    add("--runs", type=int, default=10, metavar="N", help="launches of each (default: %(default)s)")
    add("--out", default="runs/here", metavar="FOLDER", help="where to write (default: %(default)s)")
    add("--budget", type=float, default=None, metavar="SECONDS", help="for all of it, about (default: no limit)")
    add("--ops", default="", metavar="A,B,...", help="only these, such as MPI_Bcast,MPI_Comm_dup (default: all)")
    add("--size", type=int, default=8, metavar="BYTES", help="message size (default: %(default)s)")
    add("--datatype", default="byte", metavar="TYPE", help="byte, int or double (default: %(default)s)")
    add("--sync", default="round", metavar="METHOD", help="round, window or dissemination (default: %(default)s)")
    add("--shapes", default="", metavar="A,B,...", help="group orders of MPI_Comm_create (default: all four)")
    add("--max-reps", type=int, default=400, metavar="N", help="most repetitions in a launch (default: %(default)s)")
    add("--seed", type=int, default=None, metavar="N", help="of all random choices (default: drawn, and kept)")
    add("--mpicc", default=None, metavar="PROGRAM", help="compiler of the MPI library (default: found)")
    add("--mpiexec", default=None, metavar="PROGRAM", help="launcher of the same library (default: found)")
    add("--timeout", type=float, default=None, metavar="SECONDS", help="for one launch (default: amply its share)")
    add("--set-aside", action="store_true", help="rename --out if it holds another campaign, rather than refuse it")
    add("--json", action="store_true", help="print the outcome as JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, say what was, and return 0 or 2."""
    from pathlib import Path

    from scalkit.bench import find_mpi, prepare
    from scalkit.bench.folder import Folder
    from scalkit.cli.progress import progress_printer, terminated_like_interrupted
    from scalkit.errors import UsageError

    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: a positive number of seconds is needed.")
    out = Path(args.out)
    Folder(out).require_usable()
    arguments = _arguments(args, out)
    with terminated_like_interrupted():
        campaign = prepare(out, arguments, find_mpi(args.mpicc, args.mpiexec), set_aside=args.set_aside)
        _say(args, _opening(campaign))
        try:
            with progress_printer(sys.stderr) as on_progress:
                result = campaign.run(timeout_s=args.timeout, on_progress=on_progress)
        except KeyboardInterrupt:
            sys.stderr.write(f"What was measured is kept in {out}; the same command resumes.\n")
            raise
    _report(args, result)
    return 2 if result.missing else 0


def _arguments(args: argparse.Namespace, out: Path) -> Arguments:
    from scalkit.bench import Arguments
    from scalkit.bench.folder import Folder
    from scalkit.bench.operations import SHAPES

    seed = args.seed
    if seed is None:
        seed = Folder(out).record.get("arguments", {}).get("seed")
    return Arguments(
        kinds=tuple(args.what),
        counts=_counts(args.processes),
        runs=args.runs,
        seed=_drawn_seed() if seed is None else seed,
        ops=_words(args.ops),
        size=args.size,
        datatype=args.datatype,
        sync=args.sync,
        shapes=_words(args.shapes) or SHAPES,
        budget_s=args.budget,
        max_reps=args.max_reps,
    )


def _drawn_seed() -> int:
    import secrets

    return secrets.randbelow(2**31)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _counts(text: str) -> tuple[int, ...]:
    from scalkit.errors import UsageError

    words = _words(text)
    if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise UsageError(f"-n {text}: numbers of processes are needed, such as -n 2,4,8,16,32.")
    return tuple(int(word) for word in words)


def _opening(campaign: Campaign) -> str:
    from scalkit.bench.mpi import cores

    own = campaign.arguments
    aside = campaign.aside
    lines = [f"{campaign.folder.path} held another campaign, which is now {aside}."] if aside else []
    lines += campaign.mpi.passed_over
    lines += [
        f"Measuring {' and '.join(own.kinds)} of {campaign.mpi.name} with {campaign.mpi.mpiexec} into {campaign.folder.path}"
    ]
    crowded = [n for n in own.counts if n > cores() and "collectives" in own.kinds]
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


def _report(args: argparse.Namespace, result: Result) -> None:
    names = [launch.name for launch in result.missing]
    if args.json:
        outcome = {
            "folder": str(result.folder),
            "launches": result.total,
            "done": result.done,
            "fresh": result.fresh,
            "missing": names,
            "failures": list(result.failures),
            "remarks": list(result.remarks),
            "status": 2 if names else 0,
        }
        sys.stdout.write(json.dumps(outcome, indent=2) + "\n")
        return
    for text in (*result.failures, *result.remarks[:_MOST_REMARKS]):
        sys.stderr.write(f"scalkit measure: {text}\n")
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
