"""Judge measurements and write a report: one HTML file, with the verdicts for programs next to it."""

import argparse
from typing import Any

import scalkit as sk
from scalkit.cli.options.expected import expected_of, judging_of, only_processes, parameters_named
from scalkit.cli.terminal.printed import print_either
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.reports.inputs import kind_of


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1."""
    with terminated_like_interrupted():
        result = sk.report(
            _source(args),
            expected_of(args.expect, None, args.expectation) if args.expectation else args.expect,
            args.out,
            force=args.force,
            fail_on=tuple(args.fail_on),
            parameter=None if args.processes else parameters_named(args.parameter),
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


def _source(args: argparse.Namespace) -> Any:
    """Return what is reported: paths, or measurements at some numbers of processes; by the path of each if they are compared."""
    if args.compare:
        return {run: _measured(args, run) for run in args.runs}
    return _measured(args, args.runs)


def _measured(args: argparse.Namespace, runs: str | list[str]) -> Any:
    if args.processes is None:
        return runs
    if held := next((run for run in args.runs if kind_of(run) == "session"), None):
        raise UsageError(f"'{held}' is a session, which says itself which settings count; leave -n out, or exclude there.")
    return only_processes(sk.read(runs, parameter=parameters_named(args.parameter)), args.processes)
