"""Prepare a workshop and look at what comes back."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import xarray as xr
from rich.table import Table
from rich.text import Text

import scalkit as sk
from scalkit.cli.terminal.printed import print_either, print_json, table_of, terminal
from scalkit.errors import UsageError
from scalkit.teaching import Exercise
from scalkit.teaching.bundled import lesson_data
from scalkit.teaching.grades import HandIn, graded
from scalkit.teaching.strip import strip_files
from scalkit.validation import SYMBOLS

_BUNDLED = "notebooks/teach"


def run(args: argparse.Namespace) -> int:
    """Do what was asked for, and return 0, or 2 if a hand-in could not be read."""
    return _strip(args) if args.action == "strip" else _grade(args)


def _strip(args: argparse.Namespace) -> int:
    from scalkit.reports import bundled

    source = bundled(_BUNDLED) if args.source is None else Path(args.source)
    written = [str(path) for path in strip_files(source, Path(args.target), force=args.force)]
    print_either(args.json, {"written": written}, "\n".join(f"students' edition: {one}" for one in written))
    return 0


def _grade(args: argparse.Namespace) -> int:
    exercise = Exercise.load(args.exercise) if args.exercise else None
    if exercise is not None and not exercise.looks_at_session:
        raise UsageError(f"the exercise '{args.exercise}' is answered in words, not by a session; name one about a session.")
    found = graded([Path(one) for one in args.files], _measurements(args.data), exercise)
    if args.json:
        print_json({"handed_in": [one.to_dict() for one in found]})
    else:
        _show(found)
    return 2 if any(one.problem for one in found) else 0


def _measurements(paths: Sequence[str]) -> list[xr.Dataset]:
    """Return what sessions may be about: what was named, what comes with scalkit, and what its lessons simulate."""
    from scalkit.reports import bundled

    return [*(sk.read(path) for path in paths), sk.read(bundled("data/quickstart")), *lesson_data()]


def _show(found: Sequence[HandIn]) -> None:
    console = terminal()
    read = [one for one in found if not one.problem]
    if read:
        console.print(_table(read))
    for one in read:
        console.print(Text(f"{_plain(one.student)}: {_plain(one.sentence)}"))
        for number, step in enumerate(one.steps, 1):
            console.print(Text(f"  {number}. {_plain(step)}"))
        if one.thought and not one.solved:
            console.print(Text(f"  not solved: {_plain(one.thought)}"))
    for one in found:
        if one.problem:
            console.print(Text(f"{_plain(one.file)}: {_plain(one.problem)}", style="red"))
    console.print(Text(f"{len(read)} of {len(found)} hand-ins read.", style="bold"))


def _table(read: Sequence[HandIn]) -> Table:
    is_checked = any(one.solved is not None for one in read)
    heads = ("Student", "Function", "Metric", "Expectation", "Model", "Verdict", "Steps", *["Exercise"] * is_checked)
    rows = []
    for one in read:
        symbol = next((mark for word, mark in SYMBOLS.items() if word == one.verdict), "-")
        cells = [one.student, one.function, one.metric, one.expectation, one.model, f"{symbol} {one.verdict}"]
        solved = ["✓ solved" if one.solved else "✗ not yet"] * is_checked
        rows.append([Text(_plain(cell)) for cell in [*cells, str(len(one.steps)), *solved]])
    return table_of(heads, rows, ("Steps",))


def _plain(text: str) -> str:
    """Return a text without characters that move the cursor or change colours."""
    return "".join(character if character.isprintable() else "?" for character in text)
