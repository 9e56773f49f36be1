"""Validates measurements against expectations and prints the verdicts as a table."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from scalkit.cli.options.expected import expected_of, judging_of, only_processes, parameters_named
from scalkit.cli.terminal.printed import print_part, printed, terminal
from scalkit.cli.terminal.ranks import launched
from scalkit.errors import ReportError, UsageError
from scalkit.front import measurements_in
from scalkit.judge import CATALOGUES, Validation
from scalkit.judge.along_one import Mapper, in_turn, over_ranks
from scalkit.judge.answer import ANSWER_SYMBOLS, Answer
from scalkit.judge.baseline import Baseline
from scalkit.judge.baseline.comparison import Comparison
from scalkit.judge.catalogue import ExpectationSet
from scalkit.judge.told.annotations import to_github
from scalkit.judge.told.junit import to_junit
from scalkit.judge.told.listing import legend, listing
from scalkit.judge.validating import validate
from scalkit.support.files import require_free, whole_file
from scalkit.support.task_bar import Report, task_bar
from scalkit.support.text import capital, counted, joined

_OF_BASELINES = ("gone",)


def run(args: argparse.Namespace) -> int:
    """Validate, print and write; return 0 or 1. Ranks beside rank 0 only compute."""
    with task_bar(sys.stderr, "judging") as report, _computing(report) as mapper:
        result = None if mapper is None else _validated(args, mapper)
    return 0 if result is None else _tell(args, result)


@contextmanager
def _computing(report: Report) -> Iterator[Mapper | None]:
    """Yield what computes tasks: here, or on the ranks that a launcher started."""
    here = launched()
    if here is None:
        yield in_turn(report)
    else:
        with over_ranks(here.size, report) as mapper:
            yield mapper


def _validated(args: argparse.Namespace, mapper: Mapper) -> Validation:
    if args.save_baseline:
        require_free(args.save_baseline, UsageError, force=args.force)
    elif args.force:
        raise UsageError("--force lets --save-baseline replace a file; give both, or neither.")
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
    runs = args.runs if len(args.runs) > 1 else args.runs[0]
    data = measurements_in(runs, parameters_named(args.parameter), expected)
    data = only_processes(data, args.processes)
    result = validate(data, expected, mapper=mapper, **options)
    return replace(result, expectations=str(args.baseline)) if args.baseline else result


def _tell(args: argparse.Namespace, result: Validation) -> int:
    """Write the files, print, and return the exit status."""
    status = result.exit_status(args.fail_on)
    if args.junit:
        with whole_file(args.junit, ReportError, "choose another path for --junit") as part:
            part.write_text(to_junit(result, fail_on=args.fail_on), encoding="utf-8")
    if args.save_baseline:
        Baseline(result).save(args.save_baseline)
    if args.json:
        sys.stdout.write(result.to_json())
    else:
        show(result, status, saved=args.save_baseline)
    if args.annotations:
        file, lines = _place(args.expect)
        annotations = to_github(result, args.fail_on, file=file, lines=lines)
        (sys.stderr if args.json else sys.stdout).write(annotations)
    return status


def _place(expect: str | None) -> tuple[str, dict[str, int]]:
    """Return a file of expectations relative to the working directory, where a checkout is, and its lines."""
    if expect is None or expect in CATALOGUES:
        return "", {}
    whole = Path(expect).absolute()
    shown = whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole
    found = expected_of(expect, None)
    return str(shown), dict(found.lines) if isinstance(found, ExpectationSet) else {}


_STYLES: dict[Answer, str] = {"fix": "bold red", "cannot tell": "magenta", "fine": "green"}


def show(result: Validation, status: int, saved: Path | None = None) -> None:
    """Print a result to standard output, and where its baseline was saved."""
    console = terminal()
    _show_table(console, result)
    print_part(console, "Rules", (f"{rule.sentence}{'' if rule.decides else ' (does not decide)'}" for rule in result.rules))
    print_part(console, "Litmus test", (result.litmus.sentence,) if result.litmus else ())
    said = {rule.sentence for rule in result.rules}
    if result.comparison is not None:
        print_part(console, f"Compared with {result.expectations or 'the baseline'}", _changes(result.comparison))
        said.add(result.comparison.headline)
    print_part(console, "To keep in mind", (warning for warning in result.warnings if warning not in said))
    if saved is not None:
        console.print(printed(f"The baseline of {counted(len(result), 'verdict')} is in {saved}."))
    console.print(printed(f"{capital(result.headline)}. Exit status {status}.", style="bold"))


def _show_table(console: Console, result: Validation) -> None:
    """Print the verdicts, the worst first, with the answers in their colours."""
    lines, left_out = listing(result.worst_first, console.width)
    for line in lines:
        text = Text(line)
        for answer, style in _STYLES.items():
            text.highlight_words([f"{ANSWER_SYMBOLS[answer]} {answer}"], style)
        console.print(text, soft_wrap=True)
    missing = [f"Not shown: {joined(left_out)}. --json has all."] if left_out else []
    for remark in (*legend(result.verdicts), *missing):
        console.print(printed(remark))


def _changes(comparison: Comparison) -> list[str]:
    """Return what changed, the worst first, and how much did not."""
    found = [
        f"{change.sentence}{'' if change.decides else ' (does not decide)'}"
        for kind in ("worse", "factor", "cannot tell", "better", "gone", "new")
        for change in comparison.of(kind)
    ]
    same = len(comparison.of("same"))
    if not found:
        return [f"{counted(same, 'function')} as before."]
    return [*found, f"{counted(same, 'other')} as before."] if same else found
