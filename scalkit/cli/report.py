"""Judge measurements and write a report: one HTML file, with the verdicts for programs beside it.

report.html          for people; one file that loads nothing from any network
report.verdict.json  the same verdicts, as scalkit/validation/verdict.schema.json describes them
report.junit.xml     the same as test cases, for CI systems

RUN is a folder of run files (as `scalkit measure` makes it), a single run file, or a netCDF file; several of different
campaigns are combined, but a folder together with one of its own files is refused.
The last line states the verdicts and the exit status: 0 every deciding verdict is total or approximate; 1 a deciding
verdict is none and grows faster, or a rule is violated on measurements; 2 wrong input or use, nothing is written then.
"""

from __future__ import annotations

import argparse
import json
import sys

HELP = "judge measurements and write an HTML report"

__all__ = ["HELP", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit report`."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folder, run file or netCDF file")
    parser.add_argument(
        "--expect",
        metavar="FILE",
        default="mpi",
        help="expectations: a TOML file or a bundled catalogue, mpi or mafia (default: mpi)",
    )
    parser.add_argument("--out", metavar="FILE", default="report.html", help="the report (default: report.html)")
    parser.add_argument("--force", action="store_true", help="replace an existing report")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("better", "predicted", "undecided"),
        help="also end with 1 on this; may be given several times",
    )
    parser.add_argument(
        "--statistic", default="q1", choices=("q1", "median", "mean", "min"), help="default: first quartile"
    )
    parser.add_argument(
        "--min-points", type=int, default=5, metavar="N", help="fewest settings of the parameter (default: 5)"
    )
    parser.add_argument("--title", default=None, help="title of the report (default: made from the data)")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1."""
    from scalkit.cli.progress import terminated_like_interrupted
    from scalkit.reports import report

    with terminated_like_interrupted():
        result = report(
            args.runs,
            args.expect,
            args.out,
            force=args.force,
            fail_on=tuple(args.fail_on),
            title=args.title,
            statistic=args.statistic,
            min_points=args.min_points,
        )
    if args.json:
        files = {"html": str(result.html), "verdict_json": str(result.verdict_json), "junit_xml": str(result.junit_xml)}
        text = json.dumps({**files, "status": result.status, "answer": result.answer}, indent=2)
    else:
        text = f"report: {result.html}\n{result.answer}"
    sys.stdout.write(text + "\n")
    return result.status
