"""Measures MAFIA, a sequential search for clusters, and sets Table 4 of the paper beside what comes out."""

import argparse
import sys
from pathlib import Path

from scalkit.bench.mafia import MafiaProgress, MafiaSettings, measure_mafia
from scalkit.cli.terminal.progress import resumable, terminated_like_interrupted
from scalkit.errors import UsageError


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, print the table, and return 0."""
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
    words = [word.strip() for word in text.split(",")]
    ends = [word.split("-") for word in words]
    if not all(len(end) <= 2 and all(part.isascii() and part.isdecimal() and len(part) < 4 for part in end) for end in ends):
        raise UsageError(f"-k {text}: numbers are needed, as in -k 3-16 or -k 3,5,8.")
    return tuple(number for end in ends for number in range(int(end[0]), int(end[-1]) + 1))
