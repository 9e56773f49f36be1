"""Judge measurements and write a report: one HTML file, with the verdicts for programs next to it."""

import argparse

import scalkit as sk
from scalkit.cli.options.expected import expected_of, judging_of, parameters_named
from scalkit.cli.terminal.printed import print_either
from scalkit.cli.terminal.progress import terminated_like_interrupted


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1."""
    with terminated_like_interrupted():
        result = sk.report(
            {run: run for run in args.runs} if args.compare else args.runs,
            expected_of(args.expect, None, args.expectation) if args.expectation else args.expect,
            args.out,
            force=args.force,
            fail_on=tuple(args.fail_on),
            parameter=parameters_named(args.parameter),
            baseline=args.baseline,
            notebook=args.notebook,
            **judging_of(args),
        )
    names = ("html", "verdict_json", "junit_xml", "notebook")
    files = {name: str(path) for name in names if (path := getattr(result, name)) is not None}
    more = [f"notebook: {files['notebook']}"] if args.notebook else []
    lines = [f"report: {result.html}", *more, result.answer]
    print_either(args.json, {**files, "status": result.status, "answer": result.answer}, "\n".join(lines))
    return result.status
