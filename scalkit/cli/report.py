"""Judge measurements and write a report: one HTML file, with the verdicts for programs beside it.

report.html          for people; one file that loads nothing from any network, and opens as a session again
report.verdict.json  the same verdicts, as scalkit/validation/verdict.schema.json describes them
report.junit.xml     the same as test cases, for CI systems
report.pdf           with --pdf: the same page, printed by Chromium
report.ipynb         with --notebook: the template as it ran

RUN is a folder of run files (as `scalkit measure` makes it), a single run file, a netCDF file, or files of other
programs (docs/readers.md); several of different campaigns are combined, but a folder together with one of its own files is
refused. A session file or an earlier report may stand alone; it says itself what is expected.

    scalkit report runs/here --target-p 65536                             every function against what is expected
    scalkit report --template compare runs/a runs/b --label A --label B   data sets side by side
    scalkit report --template regression runs/new --baseline old.json     a candidate against its baseline
    scalkit report --list                                                 the templates
    scalkit report --help-template compare                                what one of them takes

The last line states the verdicts and the exit status: 1 a deciding verdict is none and grows faster, or a rule is violated
on measurements; 2 wrong input or use, nothing is written then; 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from scalkit.cli.options.chosen import add_judging, add_processes, judging_of, only_processes
from scalkit.cli.options.expected import add_expectation, expected_of
from scalkit.errors import UsageError

HELP = "judge measurements and write an HTML report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit report`."""
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run folder or file, netCDF file, benchmark's JSON, session, report"
    )
    _add_templates(parser.add_argument_group("which report"))
    _add_judging(parser.add_argument_group("what is expected, and how it is judged"))
    _add_output(parser.add_argument_group("what is written"))


def _add_templates(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--template", metavar="NAME", help="one of those that --list shows (default: report)")
    group.add_argument("--list", action="store_true", help="show the templates, a line for each, and end")
    group.add_argument("--help-template", metavar="NAME", help="show the parameters of a template, and end")


def _add_judging(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--expect",
        metavar="FILE",
        help="expectations: a TOML file or a bundled catalogue, mpi, mpi-all or mafia (default: mpi)",
    )
    add_expectation(group)
    group.add_argument(
        "--baseline",
        metavar="FILE",
        help="what to compare with: a file that scalkit validate --save-baseline wrote, or earlier runs",
    )
    group.add_argument(
        "--real-times",
        metavar="RUN",
        help="run times of the real clock, to be shown beside those of virtual time; they are not judged",
    )
    group.add_argument(
        "--target-p",
        metavar="P",
        help="scales to predict at, several between commas (default: 16 and 256 times the largest measured one)",
    )
    group.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("better", "predicted", "undecided", "factor", "gone"),
        help="also end with 1 on this; factor and gone need a baseline; may be given several times",
    )
    add_judging(group)
    group.add_argument(
        "--parameter",
        metavar="NAME",
        help="argument of the benchmarks in a JSON file to take as the parameter; several between commas, as in n,k; of run "
        "files p,S takes the message size, too",
    )
    add_processes(group)


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--out", metavar="FILE", default="report.html", help="the report (default: report.html)")
    group.add_argument("--force", action="store_true", help="replace an existing report")
    group.add_argument("--pdf", action="store_true", help="also write a PDF; needs Chromium")
    group.add_argument("--notebook", action="store_true", help="also write the notebook as it ran")
    group.add_argument("--title", help="title of the report (default: made from the data)")
    group.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="NAME",
        help="with --template compare: head of a column, in the order of the RUNs (default: made from the data)",
    )
    group.add_argument("--json", action="store_true", help="print the outcome as JSON instead of text")
    group.add_argument(
        "--progress",
        action="store_true",
        help="say each step on standard error, as in [3/16], also where that is no terminal",
    )


def run(args: argparse.Namespace) -> int:
    """Write the report, say where it is, and return 0 or 1; or show templates and return 0."""
    if args.list or args.help_template is not None:
        return _show_templates(args)
    if not args.runs:
        raise UsageError("nothing to report; name a run folder, a run file, a netCDF file or a session.")
    from scalkit.cli.terminal.progress import terminated_like_interrupted
    from scalkit.reports import report
    from scalkit.task_bar import task_bar

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
    import scalkit as sk
    from scalkit.reports.inputs import named_parameters
    from scalkit.reports.kinds import kind_of

    if held := next((run for run in args.runs if kind_of(run) == "session"), None):
        raise UsageError(
            f"'{held}' is a session, which says itself which settings count; leave -n out, or exclude there."
        )
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
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return 0
    heads = [f"{p.name}: {p.type} = {p.default}" for p in parameters]
    width = max(map(len, heads))
    lines = [f"{head:<{width}}  {p.help}" for head, p in zip(heads, parameters, strict=True)]
    sys.stdout.write(
        "\n".join([f"{template.name}: {template.purpose}", "", *lines, "", f"The notebook: {template.path}"]) + "\n"
    )
    return 0
