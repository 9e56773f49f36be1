"""The word ``report`` of `scalkit trace`: waits over numbers of processes as one page."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from scalkit.errors import UsageError


def percent(text: str) -> float:
    """Return the number that a part of the time is compared with; NaN would be exceeded by none.

    Raises argparse.ArgumentTypeError if it is not one from 0 to 100.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage; write a number from 0 to 100")
    return value


def add_arguments(words: Any) -> None:
    """Add the word to the others."""
    report = words.add_parser(
        "report",
        help="a page on waits over numbers of processes",
        description="Writes a page on waiting over numbers of processes: strong scaling of the program and of the analysis, "
        "calls against waiting, whether it grows as expected, where and because of whom, timelines. JSON and JUnit XML stand "
        "beside it.",
    )
    add = report.add_argument
    add("runs", nargs="+", metavar="RESULT", help="results of analyse --out, folders of traces, or folders of these")
    add("--out", default="waits.html", metavar="FILE", help="the page (default: %(default)s)")
    add("--region", default="", metavar="NAME", help="only what happens within this region of the program")
    add(
        "--expect",
        action="append",
        default=[],
        metavar="[REGION=]GROWTH",
        help="growth of the waiting for progress over p, as in 'log(p)' or MPI_Win_flush=1: exit with 1 if it grows faster; "
        "repeatable",
    )
    add(
        "--fail-above",
        type=percent,
        metavar="PERCENT",
        help="exit with 1 if waiting for progress takes more of the time",
    )
    add("--no-baseline", action="store_true", help="do not time the analysis with a message for each request")
    add("--keep-going", action="store_true", help="leave out what is wrong with a trace; the page names it")
    add("--title", default="", metavar="TEXT", help="title of the page")
    add("--force", action="store_true", help="replace existing files")
    add("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Write the page, say where it is, and return the exit status."""
    from scalkit.cli.terminal.progress import terminated_like_interrupted
    from scalkit.reports.waiting.report import waiting_report
    from scalkit.task_bar import task_bar

    with terminated_like_interrupted(), task_bar(sys.stderr, "report") as bar:
        result = waiting_report(
            args.runs,
            args.out,
            region=args.region,
            expected=_expected(args.expect),
            fail_above=args.fail_above,
            baseline=not args.no_baseline,
            keep_going=args.keep_going,
            force=args.force,
            title=args.title,
            progress=bar,
        )
    told = {"answer": result.answer, "exit_status": result.status, "report": str(result.html)}
    sys.stdout.write(json.dumps(told, indent=2) + "\n" if args.json else f"{result.answer}\nwrote {result.html}\n")
    return result.status


def _expected(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        region, is_named, growth = text.rpartition("=")
        region = region.strip() if is_named else "program"
        if not region or not growth.strip():
            raise UsageError(f"--expect {text!r} says too little; write a growth, as in 'log(p)', or REGION=GROWTH.")
        if region in found:
            raise UsageError(f"--expect names {region!r} twice; write one growth for it.")
        found[region] = growth.strip()
    return found
