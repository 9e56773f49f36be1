"""Judge measurements and write a report: one HTML file, with the verdicts for programs beside it."""

import argparse
import sys
from dataclasses import asdict
from typing import Any

import scalkit as sk
from scalkit.cli.options.expected import expected_of, judging_of, only_processes
from scalkit.cli.terminal.printed import aligned, print_either, say_step
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.reports import report
from scalkit.reports.inputs import kind_of, named_parameters, named_template, templates
from scalkit.task_bar import task_bar


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1; or show templates and return 0."""
    if args.list or args.help_template is not None:
        return _show_templates(args)
    if not args.runs:
        raise UsageError("nothing to report; name a run folder, a run file, a netCDF file or a session.")
    with terminated_like_interrupted(), task_bar(sys.stderr, "report") as bar:
        result = report(
            _measured(args),
            expected_of(args.expect, None, args.expectation) if args.expectation else args.expect,
            args.out,
            template=args.template or "report",
            force=args.force,
            fail_on=tuple(args.fail_on),
            title=args.title,
            parameter=None if args.processes else args.parameter,
            targets=_targets(args.target_p),
            baseline=args.baseline,
            real_times=args.real_times,
            labels=args.label,
            pdf=args.pdf,
            notebook=args.notebook,
            progress=say_step if args.progress else bar,
            **judging_of(args),
        )
    more = {key: str(path) for key, path in (("pdf", result.pdf), ("notebook", result.notebook)) if path is not None}
    told = {key: str(getattr(result, key)) for key in ("html", "verdict_json", "junit_xml")} | more
    lines = [f"report: {result.html}", *(f"{key}: {path}" for key, path in more.items()), result.answer]
    print_either(args.json, {**told, "status": result.status, "answer": result.answer}, "\n".join(lines))
    return result.status


def _measured(args: argparse.Namespace) -> list[Any] | Any:
    """Return what is reported: paths, or the measurements at some numbers of processes."""
    if args.processes is None:
        return args.runs
    if held := next((run for run in args.runs if kind_of(run) == "session"), None):
        raise UsageError(f"'{held}' is a session, which says itself which settings count; leave -n out, or exclude there.")
    along = named_parameters(args.parameter or "")
    if args.template == "compare":
        return [only_processes(sk.read(run, parameter=along), args.processes) for run in args.runs]
    return only_processes(sk.read(args.runs, parameter=along), args.processes)


def _targets(text: str | None) -> list[float]:
    """Return the numbers between commas."""
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise UsageError(
            f"--target-p is {text!r:.60}; give scales as numbers, several between commas, as in 4096,65536."
        ) from error


def _show_templates(args: argparse.Namespace) -> int:
    if args.help_template is None:
        shown = templates()
        told = [{"name": one.name, "purpose": one.purpose} for one in shown]
        print_either(args.json, told, "\n".join(aligned([(one.name, one.purpose) for one in shown])))
        return 0
    template = named_template(args.help_template)
    parameters = template.parameters
    lines = aligned([(f"{p.name}: {p.type} = {p.default}", p.help) for p in parameters])
    text = "\n".join([f"{template.name}: {template.purpose}", "", *lines, "", f"The notebook: {template.path}"])
    print_either(args.json, [asdict(p) for p in parameters], text)
    return 0
