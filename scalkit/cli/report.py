"""Judge measurements and write a report: one HTML file, with the verdicts for programs beside it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import scalkit as sk
from scalkit.cli.options.expected import expected_of, judging_of, only_processes
from scalkit.cli.terminal.printed import print_json
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.task_bar import task_bar


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1; or show templates and return 0."""
    if args.list or args.help_template is not None:
        return _show_templates(args)
    if not args.runs:
        raise UsageError("nothing to report; name a run folder, a run file, a netCDF file or a session.")
    from scalkit.reports import report

    with terminated_like_interrupted(), task_bar(sys.stderr, "report") as bar:
        result = report(
            _measured(args),
            _expected(args),
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
            progress=_say if args.progress else bar,
            **judging_of(args),
        )
    written = {"html": result.html, "verdict_json": result.verdict_json, "junit_xml": result.junit_xml}
    more = {key: path for key, path in (("pdf", result.pdf), ("notebook", result.notebook)) if path is not None}
    if args.json:
        files = {key: str(path) for key, path in {**written, **more}.items()}
        text = json.dumps({**files, "status": result.status, "answer": result.answer}, indent=2)
    else:
        text = "\n".join([f"report: {result.html}", *(f"{key}: {path}" for key, path in more.items()), result.answer])
    sys.stdout.write(text + "\n")
    return result.status


def _expected(args: argparse.Namespace) -> Any:
    """Return what is expected: as it was named, or a set with what the command line says."""
    return expected_of(args.expect, None, args.expectation) if args.expectation else args.expect


def _measured(args: argparse.Namespace) -> list[Any] | Any:
    """Return what is reported: paths, or the measurements at some numbers of processes."""
    if args.processes is None:
        return args.runs
    from scalkit.reports.inputs import kind_of, named_parameters

    if held := next((run for run in args.runs if kind_of(run) == "session"), None):
        raise UsageError(f"'{held}' is a session, which says itself which settings count; leave -n out, or exclude there.")
    along = named_parameters(args.parameter or "")
    if args.template == "compare":
        return [only_processes(sk.read(run, parameter=along), args.processes) for run in args.runs]
    return only_processes(sk.read(args.runs, parameter=along), args.processes)


def _say(done: int, total: int) -> None:
    """Say how many steps are done, for programs that read along."""
    sys.stderr.write(f"[{done}/{total}] report\n")
    sys.stderr.flush()


def _targets(text: str | None) -> list[float]:
    """Return the numbers between commas."""
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise UsageError(
            f"--target-p is {text!r:.60}; give scales as numbers, several between commas, as in 4096,65536."
        ) from error


def _show_templates(args: argparse.Namespace) -> int:
    from scalkit.reports.template import named_template, templates

    if args.help_template is None:
        shown = templates()
        if args.json:
            text = json.dumps([{"name": one.name, "purpose": one.purpose} for one in shown], indent=2)
        else:
            width = max(len(one.name) for one in shown)
            text = "\n".join(f"{one.name:<{width}}  {one.purpose}" for one in shown)
        sys.stdout.write(text + "\n")
        return 0
    template = named_template(args.help_template)
    parameters = template.parameters
    if args.json:
        rows = [{"name": p.name, "type": p.type, "default": p.default, "help": p.help} for p in parameters]
        print_json(rows)
        return 0
    heads = [f"{p.name}: {p.type} = {p.default}" for p in parameters]
    width = max(map(len, heads))
    lines = [f"{head:<{width}}  {p.help}" for head, p in zip(heads, parameters, strict=True)]
    sys.stdout.write("\n".join([f"{template.name}: {template.purpose}", "", *lines, "", f"The notebook: {template.path}"]) + "\n")
    return 0
