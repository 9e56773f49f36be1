"""Measures MAFIA, a sequential search for clusters, and sets Table 4 of the paper beside what comes out.

Compiled with any C compiler; MPI is not needed. The settings are those of the paper: three clusters of k = 3 to 16 of 20
dimensions in 100000 points. Times and counts of operations of gen, dedup, pcount and unjoin go to a folder:

    scalkit mafia --out runs/mafia                    5 runs, some minutes on an idle machine
    scalkit mafia --out runs/mafia                    again: measures what is missing, prints the table
    scalkit validate runs/mafia --expect mafia        the verdicts in full
    scalkit report runs/mafia --expect mafia

docs/mafia.md says what each function does, and what is counted. Exit status: 0 all is measured, 2 something went wrong,
130 after Ctrl-C; the same command resumes.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scalkit.bench.mafia import MafiaProgress

HELP = "measure the MAFIA case study of the paper, without MPI"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit mafia`."""
    add = parser.add_argument
    add("--out", default="runs/mafia", metavar="FOLDER", help="where to write (default: %(default)s)")
    add("-k", default="3-16", metavar="K", help="dimensions of the clusters, as 3-16 or 3,5,8 (default: %(default)s)")
    add("-n", type=int, default=100_000, metavar="N", help="points (default: %(default)s)")
    add("-d", type=int, default=20, metavar="N", help="dimensions of the points (default: %(default)s)")
    add("-m", type=int, default=3, metavar="N", help="clusters, 1 to 5 (default: %(default)s)")
    add("--runs", type=int, default=5, metavar="N", help="launches of each k (default: %(default)s)")
    add("--max-reps", type=int, default=50, metavar="N", help="most repetitions in a launch (default: %(default)s)")
    add("--budget", type=float, metavar="SECONDS", help="for all, about (default: 10 s a launch)")
    add("--seed", type=int, default=1, metavar="N", help="of points and order (default: %(default)s)")
    add("--cc", default="cc", metavar="PROGRAM", help="C compiler (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, print the table, and return 0."""
    from pathlib import Path

    from scalkit.bench.mafia import MafiaSettings, measure_mafia
    from scalkit.cli.terminal.progress import resumable, terminated_like_interrupted
    from scalkit.lessons.mafia import mafia_text

    settings = MafiaSettings(
        k=_numbers(args.k),
        n=args.n,
        d=args.d,
        clusters=args.m,
        runs=args.runs,
        max_reps=args.max_reps,
        seed=args.seed,
        budget_s=args.budget,
    )
    out = Path(args.out)
    sys.stderr.write(f"Measuring {args.runs} x {len(settings.k)} launches into {out}\n")
    with terminated_like_interrupted(), resumable(out):
        remarks = measure_mafia(out, settings, compiler=args.cc, on_progress=_tell)
    for remark in remarks:
        sys.stderr.write(f"scalkit mafia: {remark}\n")
    if len(settings.k) < 5:
        sys.stdout.write(f"A verdict needs 5 values of k; here are {len(settings.k)}.\n")
    else:
        sys.stdout.write(mafia_text(out) + "\n")
    return 0


def _tell(progress: MafiaProgress) -> None:
    sys.stderr.write(f"[{progress.done}/{progress.total}] {progress.name}\n")
    sys.stderr.flush()


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of ``3-16`` or ``3,5,8``."""
    from scalkit.errors import UsageError

    words = [word.strip() for word in text.split(",")]
    ends = [word.split("-") for word in words]
    if not all(
        len(end) <= 2 and all(part.isascii() and part.isdecimal() and len(part) < 4 for part in end) for end in ends
    ):
        raise UsageError(f"-k {text}: numbers are needed, as in -k 3-16 or -k 3,5,8.")
    return tuple(number for end in ends for number in range(int(end[0]), int(end[-1]) + 1))
