"""Tells when something changed over many commits, and which commit is the first bad one."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import scalkit as sk
from scalkit.cli.store import filters
from scalkit.cli.terminal.printed import printed, table_of, terminal
from scalkit.errors import UsageError
from scalkit.history import History, history
from scalkit.judge.told.annotations import command
from scalkit.store.opening import is_store
from scalkit.support.text import capital


def run(args: argparse.Namespace) -> int:
    """Read, compare and print; return 0 or 1."""
    if not 0 <= args.tolerance < 1:
        raise UsageError(f"--tolerance is {args.tolerance:g}; it is a share from 0 to below 1, as 0.1.")
    if len(args.folders) == 1 and is_store(args.folders[0]):
        store = sk.store.open(args.folders[0], readonly=True)
        found = store.history(args.by, tolerance=args.tolerance, **filters(args))
        return tell(found, args)
    if args.where:
        raise UsageError("--where chooses runs of a store; name the folder or the zip of one, and no other folder.")
    commits = [(name, sk.read(path, parameter=args.parameter)) for name, path in _named(args.folders)]
    return tell(history(commits, tolerance=args.tolerance, parameter=args.parameter), args)


def tell(found: History, args: argparse.Namespace) -> int:
    """Print a history as the options say, and return 0 or 1."""
    if args.json:
        sys.stdout.write(json.dumps(found.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _show(found)
    if args.annotations:
        stream = sys.stderr if args.json else sys.stdout
        for step in found.steps:
            if step.is_failure or step.stands:
                title = f"{step.function} ({step.metric}): worse since {step.label}"
                text = command("error" if step.is_failure else "warning", title, step.sentence)
                stream.write(text)
        for odd in found.odd:
            if odd.looks_worse:
                stream.write(command("warning", f"{odd.function} ({odd.metric}): measure {odd.label} again", odd.sentence))
    return found.exit_status()


def _named(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """Return the folders with their names, or with whole paths where two have the same name."""
    names = [path.name for path in folders]
    same = len({*names}) < len(names)
    return [(str(path) if same else path.name, path) for path in folders]


def _show(found: History) -> None:
    console, rows = terminal(), []
    for track in found.tracks:
        for number, one in enumerate(track.segments):
            step = track.steps[number - 1] if number else None
            change = "" if step is None else f"{step.times} {step.change.where}"
            style = "bold red" if step is not None and step.is_failure else ""
            commits = one.first if one.first == one.last else f"{one.first} to {one.last}"
            cells = (track.function, track.metric, commits, "-" if one.model is None else str(one.model), change)
            rows.append([printed(cell, style=style) for cell in cells])
    console.print(table_of(("Function", "Metric", f"{capital(found.step)}s", "Model", "Change"), rows))
    for step in found.steps:
        console.print(printed(f"{step.sentence}{'' if step.decides else ' (does not decide)'}"))
    for odd in found.odd:
        console.print(printed(odd.sentence))
    for name, why in found.left_out.items():
        console.print(printed(f"left out: {name}, {why}"))
    console.print(printed(f"{capital(found.headline)}. Exit status {found.exit_status()}.", style="bold"))
