"""Tells what is slower than it should be: guidelines such as MPI_Bcast <= MPI_Scatter + MPI_Allgather, on several runs."""

import argparse
import json
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from scalkit.bench.libraries.targets import find_targets
from scalkit.cli.options.command import require_command, run_preloaded
from scalkit.cli.terminal.printed import print_json, printed, table_of, terminal
from scalkit.errors import DataError, ReportError, UsageError
from scalkit.files import whole_file
from scalkit.guidelines import Assessment, Guideline, assess
from scalkit.guidelines.choices import remedies
from scalkit.guidelines.fitted import predictions
from scalkit.guidelines.guideline import CATALOGUES, guidelines
from scalkit.guidelines.predictions import Prediction
from scalkit.guidelines.profile import Profile, load_profile, profile
from scalkit.guidelines.snippet import c_snippet
from scalkit.guidelines.substitution.rules import Rules, rules_of
from scalkit.guidelines.tables import read_tables
from scalkit.markup import counted
from scalkit.native import build, sources
from scalkit.text import capital


def run(args: argparse.Namespace) -> int:
    """Assess, print and write; return 0 or 1."""
    if args.list:
        return _list(args.json)
    if args.use:
        return run_with(args)
    if args.check or args.mpi:
        raise UsageError(f"--{'check' if args.check else 'mpi'} is about a program that follows a profile; name it with --use.")
    if not args.sources:
        raise UsageError("there is nothing to assess; name a run folder or a CSV file, or give --list.")
    if args.predict is None and ("predicted" in args.fail_on or args.up_to is not None):
        word = "--up-to" if args.up_to is not None else "--fail-on predicted"
        raise UsageError(f"{word} is about models; name the parameter to predict along, as in --predict p.")
    for path, option in ((args.profile, "--profile"), (args.snippet, "--snippet")):
        _require_place(path, option, args.force)

    found, predictions = _assessed(args)
    ahead = "predicted" in args.fail_on and any(one.is_failure for one in predictions)
    status = max(found.exit_status([w for w in args.fail_on if w != "predicted"]), int(ahead))
    report = _report(args) if args.report else None
    written = _written(args, found)
    if args.json:
        content = found.to_dict() | {"exit_status": status, "predictions": [one.to_dict() for one in predictions]}
        advice = [
            {"instead_of": one.level, "use": one.use, "decides": one.decides, "sentence": one.sentence} for one in remedies(found)
        ]
        content |= {"remedies": advice} | ({"report": str(report)} if report else {})
        sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        paths = [*written, *([report] if report else [])]
        show(found, predictions, status, by=args.by, most=args.most, written=paths, along=args.predict)
    return status


def _assessed(args: argparse.Namespace) -> tuple[Assessment, tuple[Prediction, ...]]:
    found = assess(
        read_tables(args.sources, value=args.value),
        args.guideline or CATALOGUES,
        **_options(args),
        ignore=("repetition", *args.ignore),
    )
    if args.by is not None:
        found.table(args.by)  # refuses an unknown name before anything is written
    if args.predict is None:
        return found, ()
    return found, predictions(found, args.predict, highest=args.up_to)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of an assessment that were given."""
    names = ("p_threshold", "v_threshold", "test", "adjust", "varied", "value")
    return {name: getattr(args, name) for name in names}


def _report(args: argparse.Namespace) -> Path:
    from scalkit.reports import write_report

    return write_report(
        "guidelines",
        args.report,
        force=args.force,
        runs=args.sources,
        guidelines=args.guideline,
        title=args.title,
        **_options(args),
        ignore=list(args.ignore),
        predict=args.predict or "",
        up_to=args.up_to,
        fail_on=args.fail_on,
    ).html


def _written(args: argparse.Namespace, found: Assessment) -> list[Path]:
    """Write the snippet and the profile, and return where they are."""
    if args.snippet:
        _write(args.snippet, c_snippet(found), "--snippet")
    if args.profile:
        _write(args.profile, profile(found).to_json(), "--profile")
    return [path for path in (args.snippet, args.profile) if path]


def _require_place(path: Path | None, option: str, force: bool) -> None:
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ReportError(f"cannot write {path}: it is no place for a file; choose another path for {option}.")
    if path.exists() and not force:
        raise ReportError(f"{path} is there already; choose another path for {option}, or allow it (--force).")


def _write(path: Path, text: str, option: str) -> None:
    with whole_file(path, ReportError, f"choose another path for {option}") as part:
        part.write_text(text, encoding="utf-8")


def _list(as_json: bool) -> int:
    """Print the bundled guidelines."""
    sets = {name: guidelines(name) for name in CATALOGUES}
    if as_json:
        rows = [
            {"set": name, "name": one.name, "guideline": str(one), "meaning": one.meaning, "metarule": one.metarule}
            for name, those in sets.items()
            for one in those
        ]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return 0

    show_catalogues(sets)
    return 0


def show(
    found: Assessment,
    predictions: Sequence[Prediction],
    status: int,
    *,
    by: str | None = None,
    most: int = 20,
    written: Sequence[Path] = (),
    along: str | None = None,
) -> None:
    """Print an assessment to standard output, and where files were written; `along`: what predictions were asked for."""
    console = terminal()
    if len(found):
        _table(console, found, by)
    rows = found.violations.index.tolist()
    sentences = [f"{found.sentence(row)}{'' if found.columns['decides'][row] else ' (does not decide)'}" for row in rows[:most]]
    _part(console, "Violations, those that decide first, then by size", sentences, len(rows) - most)
    advice = [one.sentence for one in remedies(found)]
    _part(console, "What to do", advice[:most], len(advice) - most)
    said = [one.sentence for one in predictions if one.is_violation]
    if predictions and not said:
        said = [f"No violation is predicted up to {predictions[0].parameter} = {predictions[0].highest:g}."]
    if along is not None and not predictions:
        said = [f"No setting has five values of {along} to fit a model to."]
    _part(console, "Predicted by models, not measured", said[:most], len(said) - most)
    _part(console, "To keep in mind", found.warnings)
    for path in written:
        console.print(printed(f"Written: {path}"))
    console.print(printed(f"{capital(found.headline)}. Exit status {status}.", style="bold"))


def _table(console: Console, found: Assessment, by: str | None) -> None:
    cells = found.table(by)
    heads = list(map(str, cells.columns))
    caption = "violated tests/tests (groups with a violation/groups)"
    rows = (
        [printed(str(name)), *(printed(cell, style="" if cell.startswith("0/") else "red") for cell in row)]
        for name, row in cells.iterrows()
    )
    console.print(table_of(["Guideline", *heads], rows, heads, caption=caption, caption_justify="left", title_justify="left"))


def _part(console: Console, title: str, lines: Iterable[str], more: int = 0) -> None:
    """Print a title and indented lines; nothing if there are none."""
    width = max(console.width - 4, 30)
    for number, line in enumerate(lines):
        if number == 0:
            console.print(printed(title, style="bold"))
        for k, part in enumerate(textwrap.wrap(line, width, break_long_words=False) or [""]):
            console.print(printed(f"{'  ' if k == 0 else '    '}{part}"), soft_wrap=True)
    if more > 0:
        console.print(printed(f"  and {more} more; --most shows them, --json has all"))


def show_catalogues(sets: Mapping[str, Sequence[Guideline]]) -> None:
    """Print sets of guidelines: name, relations and meaning."""
    width = min(shutil.get_terminal_size((120, 24)).columns, 120) if sys.stdout.isatty() else 120
    lines = []
    for name, those in sets.items():
        lines += [f"{name} ({counted(len(those), 'guideline')}), as in --guideline {name}", ""]
        families = dict.fromkeys(one.name for one in those)
        for family in families:
            mine = [one for one in those if one.name == family]
            lines.append(f"  {family}")
            lines += [f"      {one}" for one in mine]
            lines += textwrap.wrap(mine[0].meaning, width, initial_indent="      ", subsequent_indent="      ")
            lines.append("")
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")


def run_with(args: argparse.Namespace) -> int:
    """Run the program, or print the rules of the profile where none is named; return 0, or 1 if the program fails."""
    command: list[str] = args.sources
    require_command(command)
    profile = load_profile(args.use)
    (target,) = find_targets([args.mpi] if args.mpi else [])
    try:
        found = rules_of(profile, target.mpi.name)
    except DataError as error:
        raise DataError(f"{args.use}: {error}") from error
    if not found.rules:
        raise DataError(
            f"{args.use} holds nothing that a program can follow: {found.left_out} of its choices are better than the call, and "
            "none of them decides and is a known substitute."
        )
    if not command:
        sys.stdout.write(found.text(profile.headline))
        return 0
    return _followed(command, target.mpi.mpicc, profile, found, args)


def _followed(command: Sequence[str], mpicc: str, profile: Profile, found: Rules, args: argparse.Namespace) -> int:
    """Run the command with the layer preloaded, and say what it did."""
    layer = build(sources("microbench"), mpicc, makefile="tune/Makefile").program("libscalkit_tune.so")
    with tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
        rules, account = Path(scratch) / "fast.rules", Path(scratch) / "account.jsonl"
        rules.write_text(found.text(profile.headline), encoding="utf-8")
        more = {"SCALKIT_TUNE": str(rules), "SCALKIT_TUNE_OUT": str(account), "SCALKIT_TUNE_CHECK": str(int(args.check))}
        status = run_preloaded(command, layer, more)
        lines = account.read_text(encoding="utf-8").splitlines() if account.is_file() else []
    if not lines:
        raise UsageError(
            f"{command[0]!r} ended with status {status} and followed nothing; check that it starts a program of the MPI library "
            f"of {mpicc!r}, and hands LD_PRELOAD and SCALKIT_TUNE on (Open MPI: -x LD_PRELOAD -x SCALKIT_TUNE)."
        )
    _say([json.loads(line) for line in lines], profile, found, args)
    return 1 if status else 0


def _say(accounts: Sequence[dict[str, Any]], profile: Profile, found: Rules, args: argparse.Namespace) -> None:
    """Print for each call how often it was replaced, by what."""
    made: dict[str, int] = {}
    used: dict[tuple[str, str], list[int]] = {}
    for one in accounts:
        for call, count in one["calls"].items():
            made[call] = made.get(call, 0) + count
        for rule in one["rules"]:
            sums = used.setdefault((rule["call"], rule["use"]), [0, 0])
            sums[0] += rule["followed"]
            sums[1] += rule["different"]
    if args.json:
        replaced = [
            {"call": call, "use": use, "followed": sums[0], "different": sums[1]} for (call, use), sums in used.items() if sums[0]
        ]
        content = {
            "rules": len(found.rules),
            "left_out": found.left_out,
            "calls": made,
            "replaced": replaced,
            "checked": args.check,
        }
        print_json(content)
        return
    sys.stdout.write("\nCalls that were replaced, of those that all processes made\n")
    for call, count in made.items():
        parts = [
            f"{sums[0]:,} by {use.replace('+', ' and ')}{f' ({sums[1]:,} with another result)' if sums[1] else ''}"
            for (name, use), sums in used.items()
            if name == call and sums[0]
        ]
        sys.stdout.write(f"  {call}: {', '.join(parts) or 'none'}, of {count:,}\n")
    if not made:
        sys.stdout.write("  none: the program makes no call that can be replaced\n")
    if args.check:
        sys.stdout.write("Results were compared; the program got those of the calls themselves, so its time says nothing.\n")
    if profile.virtual:
        sys.stdout.write(f"The profile is of virtual time, on the network {profile.virtual.get('network', '?')}.\n")
    if found.left_out:
        sys.stdout.write(f"{found.left_out} choices of the profile are better than the call, and cannot be followed here.\n")
