"""Validates runs against expectations and prints the verdicts as a table.

RUN is a campaign folder that `scalkit measure` wrote, or single run files, a netCDF file, or JSON that Google Benchmark or
pytest-benchmark wrote. Expectations come from a bundled catalogue (mpi, mafia) or from a TOML file:

    deviation = "p^(1/2)"
    rules = ["MPI_Allreduce <= MPI_Reduce + MPI_Bcast"]

    [expectations]
    MPI_Bcast = "log(p)"
    my_function = { expectation = "p*log(p)", deviation = "log(p)" }

Exit status: 0 every deciding verdict is total or approximate; 1 a deciding verdict is none and grows faster, or a rule is
violated on measurements; 2 wrong input or use. Run times with more processes than cores do not decide.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.errors import ReportError

if TYPE_CHECKING:
    from rich.table import Table

    from scalkit.validation import Validation, Verdict

HELP = "verdicts on measured runs, as a table"

_STYLES = {"total": "green", "approximate": "yellow", "none": "red", "undecided": "magenta"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `scalkit validate`."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="campaign folder, run file, netCDF file or benchmark's JSON"
    )
    parser.add_argument("--expect", default="mpi", metavar="FILE", help="TOML file, or mpi, mafia (default: mpi)")
    parser.add_argument(
        "--statistic", default="q1", choices=("q1", "median", "mean", "min"), help="default: first quartile"
    )
    parser.add_argument(
        "--min-points", type=int, default=5, metavar="N", help="fewest settings of the parameter (default: 5)"
    )
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("better", "predicted", "undecided"),
        help="exit with 1 also when a function is better than its limits, when only models predict a violation, or when the "
        "values do not decide",
    )
    parser.add_argument(
        "--parameter",
        metavar="NAME",
        help="argument of the benchmarks in a JSON file to take as the parameter; several between commas, as in n,k",
    )
    parser.add_argument(
        "--annotations",
        choices=("github",),
        help="also print annotations for GitHub Actions; with --json they go to standard error",
    )
    parser.add_argument("--junit", type=Path, metavar="PATH", help="also write JUnit XML")
    parser.add_argument("--json", action="store_true", help="print JSON (verdict.schema.json) instead of the table")


def run(args: argparse.Namespace) -> int:
    """Validate and print; return 0 or 1."""
    import scalkit as sk
    from scalkit.validation import load_expectations
    from scalkit.validation.annotations import to_github
    from scalkit.validation.junit import to_junit

    expected = load_expectations(args.expect)
    data = sk.read(args.runs if len(args.runs) > 1 else args.runs[0], parameter=_named(args.parameter))
    result = sk.validate(data, expected, statistic=args.statistic, min_points=args.min_points)
    status = result.exit_status(args.fail_on)
    if args.junit:
        _write(args.junit, to_junit(result, fail_on=args.fail_on))
    if args.json:
        sys.stdout.write(result.to_json())
    else:
        _show(result, status)
    if args.annotations:
        file = _relative(args.expect) if expected.lines and Path(args.expect).is_file() else ""
        (sys.stderr if args.json else sys.stdout).write(
            to_github(result, args.fail_on, file=file, lines=expected.lines)
        )
    return status


def _named(text: str | None) -> str | list[str] | None:
    """Return the parameter, or a list of those between commas."""
    return [part.strip() for part in text.split(",")] if text and "," in text else text


def _relative(path: str) -> str:
    """Return a path relative to the working directory, where a checkout is, if it lies in it."""
    whole = Path(path).absolute()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(whole)


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another path for --junit.") from error


def _show(result: Validation, status: int) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    console.print(_table(result))
    if result.rules:
        console.print(Text("Rules", style="bold"))
    for rule in result.rules:
        console.print(Text(f"  {rule.sentence}{'' if rule.decides else ' (does not decide)'}"))
    if result.litmus:
        console.print(Text("Litmus test", style="bold"))
        console.print(Text(f"  {result.litmus.sentence}"))
    said = {rule.sentence for rule in result.rules}
    warnings = [warning for warning in result.warnings if warning not in said]
    if warnings:
        console.print(Text("To keep in mind", style="bold"))
    for warning in warnings:
        console.print(Text(f"  {warning}"))
    console.print(Text(f"{result.headline}. Exit status {status}.", style="bold"))


def _table(result: Validation) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(caption="⚠ does not decide the exit status", caption_justify="left", title_justify="left")
    for name, kind in (
        ("Function", "left"),
        ("Metric", "left"),
        ("Expectation", "left"),
        ("Model", "left"),
        ("adj. R²", "right"),
        ("Divergence", "left"),
        ("Match", "left"),
    ):
        table.add_column(name, justify=kind)  # type: ignore[arg-type]
    for verdict in result.verdicts:
        table.add_row(*(Text(cell) for cell in _cells(verdict)), Text(_mark(verdict), style=_STYLES[verdict.verdict]))
    return table


def _cells(verdict: Verdict) -> tuple[str, ...]:
    r2 = "-" if math.isnan(verdict.adjusted_r2) else f"{verdict.adjusted_r2:.3f}"
    growth = str(verdict.expectation.growth)
    return verdict.function, verdict.metric, growth, str(verdict.model), r2, str(verdict.divergence)


def _mark(verdict: Verdict) -> str:
    from scalkit.validation import SYMBOLS

    direction = f", {verdict.direction}" if verdict.verdict == "none" else ""
    return f"{SYMBOLS[verdict.verdict]} {verdict.verdict}{direction}{'' if verdict.decides else ' ⚠'}"
