"""The word ``report`` of `scalkit trace`: waits over numbers of processes as one page."""

from __future__ import annotations

import argparse
import json
import sys

from scalkit.errors import UsageError


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
