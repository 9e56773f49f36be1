"""Validates measurements against expectations and prints the verdicts as a table.

RUN is a campaign folder that `scalkit measure` wrote, or run files, a netCDF file, or files of other programs (OSU, IMB,
Extra-P, Google Benchmark and more: docs/readers.md). What is expected comes from a bundled catalogue (mpi, mpi-all,
mafia), a TOML file, or a baseline:

    scalkit validate runs/allreduce                          against the catalogue of MPI
    scalkit validate bench.json --expect expectations.toml   against a file, which looks like this:

        deviation = "p^(1/2)"
        rules = ["MPI_Allreduce <= MPI_Reduce + MPI_Bcast"]

        [expectations]
        MPI_Bcast = "log(p)"
        my_function = { expectation = "p*log(p)", deviation = "log(p)" }

    scalkit validate runs/sizes --expect models.toml         against models with constants (docs/perfmodels.md)
    scalkit validate run.cubex --expectation "solve = p" --expectation "solve (visits) = 1"     from the command line
    scalkit validate runs/allreduce -n 4..1024                                             only these settings

    scalkit validate run.nc --expect e.toml --save-baseline baseline.json    keep what was found
    scalkit validate new.nc --baseline baseline.json                         did something get worse since?
    scalkit validate new.nc --baseline baseline.json --fail-on gone          or is no longer measured?

    scalkit validate run.nc --annotations github --junit verdicts.xml        in CI
    scalkit validate run.nc --json > verdicts.json                           for programs
    mpiexec -n 8 scalkit validate many.nc                                    many functions, on 8 ranks

The answer to each verdict is fix, fine or cannot tell. Exit status: 1 something is to be fixed, because it grows faster than
claimed (--strictness says how much faster is tolerated), or a rule is violated on measurements; 2 wrong input or use; 0
otherwise. Run times with more processes than cores do not decide.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.cli.options.chosen import add_judging, add_processes, judging_of, only_processes
from scalkit.cli.options.expected import add_expectation
from scalkit.errors import ReportError, UsageError
from scalkit.whole_file import whole_file

if TYPE_CHECKING:
    from scalkit.validation import Validation
    from scalkit.validation.judge.along_one import Mapper
    from scalkit.validation.parallel import Report

HELP = "verdicts on measured runs, as a table"

_OF_BASELINES = ("factor", "gone")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `scalkit validate`."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="campaign folder, run file, netCDF file or benchmark's JSON"
    )
    _add_expected(parser.add_argument_group("what is expected"))
    _add_judging(parser.add_argument_group("how it is judged"))
    _add_output(parser.add_argument_group("what is printed and written"))


def _add_expected(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--expect", metavar="FILE", help="TOML file of expectations or models, or mpi, mpi-all, mafia (mpi)"
    )
    add_expectation(group)
    group.add_argument(
        "--baseline",
        metavar="FILE",
        help="instead of --expect: each function grows as in this file, which --save-baseline wrote, and is compared with it",
    )
    group.add_argument(
        "--save-baseline",
        type=Path,
        metavar="FILE",
        help="write what was found, whatever was expected, as the baseline of later validations",
    )
    group.add_argument("--force", action="store_true", help="let --save-baseline replace an existing file")


def _add_judging(group: argparse._ArgumentGroup) -> None:
    add_judging(group)
    group.add_argument(
        "--parameter",
        metavar="NAME",
        help="argument of the benchmarks in a JSON file to take as the parameter; several between commas, as in n,k; of run "
        "files p,S takes the message size, too",
    )
    add_processes(group)
    group.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("better", "predicted", "undecided", *_OF_BASELINES),
        help="exit with 1 also when a function is better than its limits, when only models predict a violation, when the "
        "values do not decide, or, with --baseline, when a constant factor rose or a function is gone; may be repeated",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", action="store_true", help="print JSON (verdict.schema.json) instead of the table")
    group.add_argument(
        "--bands",
        action="store_true",
        help="with --json: also where the divergence and a new value lie with 90 %%, at the settings and 4 times the largest",
    )
    group.add_argument(
        "--annotations",
        choices=("github",),
        help="also print annotations for GitHub Actions; with --json they go to standard error",
    )
    group.add_argument("--junit", type=Path, metavar="PATH", help="also write JUnit XML; an existing file is replaced")


def run(args: argparse.Namespace) -> int:
    """Validate, print and write; return 0 or 1. Ranks beside rank 0 only compute."""
    from scalkit.task_bar import task_bar

    with task_bar(sys.stderr, "judging") as report, _computing(report) as mapper:
        result = None if mapper is None else _validated(args, mapper)
    return 0 if result is None else _tell(args, result)


@contextmanager
def _computing(report: Report) -> Iterator[Mapper | None]:
    """Yield what computes tasks: here, or on the ranks that a launcher started."""
    from scalkit.cli.terminal.ranks import launched
    from scalkit.validation.parallel import in_turn, over_ranks

    here = launched()
    if here is None:
        yield in_turn(report)
    else:
        with over_ranks(here.size, report) as mapper:
            yield mapper


def _validated(args: argparse.Namespace, mapper: Mapper) -> Validation:
    import scalkit as sk
    from scalkit.cli.options.expected import expected_of, require_place
    from scalkit.validation.baseline import Baseline

    require_place(args.save_baseline, args.force)
    if args.bands and not args.json:
        raise UsageError("--bands adds to what --json prints; give both.")
    expected = expected_of(args.expect, args.baseline, args.expectation)
    options = judging_of(args)
    if isinstance(expected, Baseline):
        if options.setdefault("statistic", expected.statistic) != expected.statistic:
            raise UsageError(
                f"the baseline '{args.baseline}' has the statistic {expected.statistic}, --statistic says {args.statistic}; "
                "compare values of the same kind, without --statistic."
            )
    elif alone := [word for word in args.fail_on if word in _OF_BASELINES]:
        raise UsageError(f"--fail-on {alone[0]} compares with a baseline; give one with --baseline.")
    data = sk.read(args.runs if len(args.runs) > 1 else args.runs[0], parameter=_named(args.parameter))
    data = only_processes(data, args.processes)
    result = sk.validate(data, expected, mapper=mapper, **options)
    return replace(result, expectations=str(args.baseline)) if args.baseline else result


def _tell(args: argparse.Namespace, result: Validation) -> int:
    """Write the files, print, and return the exit status."""
    from scalkit.cli.tables.verdicts import show
    from scalkit.validation.annotations import to_github
    from scalkit.validation.baseline import Baseline
    from scalkit.validation.junit import to_junit

    status = result.exit_status(args.fail_on)
    if args.junit:
        _write(args.junit, to_junit(result, fail_on=args.fail_on))
    if args.save_baseline:
        Baseline.from_result(result).save(args.save_baseline)
    if args.json:
        sys.stdout.write(result.to_json(bands=args.bands))
    else:
        show(result, status, saved=args.save_baseline)
    if args.annotations:
        file, lines = _place(args.expect)
        annotations = to_github(result, args.fail_on, file=file, lines=lines)
        (sys.stderr if args.json else sys.stdout).write(annotations)
    return status


def _named(text: str | None) -> str | list[str] | None:
    """Return the parameter, or a list of those between commas."""
    return [part.strip() for part in text.split(",")] if text and "," in text else text


def _place(expect: str | None) -> tuple[str, dict[str, int]]:
    """Return a file of expectations relative to the working directory, where a checkout is, and its lines."""
    from scalkit.cli.options.expected import expected_of
    from scalkit.validation import CATALOGUES
    from scalkit.validation.catalogue import ExpectationSet

    if expect is None or expect in CATALOGUES:
        return "", {}
    whole = Path(expect).absolute()
    shown = whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole
    found = expected_of(expect, None)
    return str(shown), dict(found.lines) if isinstance(found, ExpectationSet) else {}


def _write(path: Path, text: str) -> None:
    with whole_file(path, ReportError, "choose another path for --junit") as part:
        part.write_text(text, encoding="utf-8")
