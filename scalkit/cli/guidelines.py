"""Tells what is slower than it should be: guidelines such as MPI_Bcast <= MPI_Scatter + MPI_Allgather, on several runs."""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from scalkit.bench.libraries.targets import find_targets
from scalkit.cli.options.command import require_command, run_preloaded
from scalkit.cli.terminal.printed import print_json, print_part, printed, table_of, terminal
from scalkit.errors import DataError, ReportError, UsageError
from scalkit.guidelines import Assessment, assess
from scalkit.guidelines.choices import remedies
from scalkit.guidelines.guideline import CATALOGUES, guidelines
from scalkit.guidelines.profile import Profile, load_profile, profile
from scalkit.guidelines.rules import Rules, rules_of
from scalkit.support.files import require_free, whole_file
from scalkit.support.markup import counted
from scalkit.support.native import build, sources
from scalkit.support.text import capital

_MOST = 20
"""Sentences of each part that are printed; --json has all."""


def run(args: argparse.Namespace) -> int:
    """Assess, print and write; return 0 or 1."""
    if args.use:
        return _run_program(args)
    if args.mpi:
        raise UsageError("--mpi is about a program that follows a profile; name it with --use.")
    if not args.sources:
        return _show_guidelines(args)
    if args.profile:
        require_free(args.profile, ReportError, force=args.force)

    options = {name: getattr(args, name) for name in ("p_threshold", "v_threshold", "strictness", "value")}
    found = assess(args.sources, args.guideline or CATALOGUES, **options)
    status = found.exit_status(args.fail_on)
    report = _report(args, options) if args.report else None
    if args.profile:
        with whole_file(args.profile, ReportError, "choose another path for --profile") as part:
            part.write_text(profile(found).to_json(), encoding="utf-8")
    if args.json:
        content = found.to_dict() | {"exit_status": status}
        advice = [
            {"instead_of": one.level, "use": one.use, "decides": one.decides, "sentence": one.sentence} for one in remedies(found)
        ]
        print_json(content | {"remedies": advice} | ({"report": str(report)} if report else {}))
    else:
        _show(found, status, [path for path in (args.profile, report) if path])
    return status


def _report(args: argparse.Namespace, options: dict[str, Any]) -> Path:
    from scalkit.reports import write_report

    return write_report(
        "guidelines", args.report, force=args.force, runs=args.sources, guidelines=args.guideline, **options, fail_on=args.fail_on
    ).html


def _show_guidelines(args: argparse.Namespace) -> int:
    """Print the guidelines that are named, or all bundled ones: name, relations and meaning."""
    sets = {source: guidelines(source) for source in args.guideline or CATALOGUES}
    if args.json:
        rows = [
            {"set": name, "name": one.name, "guideline": str(one), "meaning": one.meaning, "metarule": one.metarule}
            for name, those in sets.items()
            for one in those
        ]
        print_json(rows)
        return 0
    console = terminal()
    for name, those in sets.items():
        console.print(printed(f"{name} ({counted(len(those), 'guideline')})", style="bold"))
        for family in dict.fromkeys(one.family for one in those):
            mine = [one for one in those if one.family == family]
            print_part(console, family, [*map(str, mine), *filter(None, [mine[0].meaning])])
    return 0


def _show(found: Assessment, status: int, written: Sequence[Path | str]) -> None:
    """Print an assessment to standard output, and where files were written."""
    console = terminal()
    if len(found):
        _table(console, found)
    rows = found.violations.index.tolist()
    decides = found.columns["decides"]
    sentences = [f"{found.sentence(row)}{'' if decides[row] else ' (does not decide)'}" for row in rows[:_MOST]]
    print_part(console, "Violations, those that decide first, then by size", sentences, len(rows) - _MOST)
    advice = [one.sentence for one in remedies(found)]
    print_part(console, "What to do", advice[:_MOST], len(advice) - _MOST)
    print_part(console, "To keep in mind", found.warnings)
    for path in written:
        console.print(printed(f"Written: {path}"))
    console.print(printed(f"{capital(found.headline)}. Exit status {status}.", style="bold"))


def _table(console: Console, found: Assessment) -> None:
    cells = found.table()
    heads = list(map(str, cells.columns))
    caption = "violated tests/tests (groups with a violation/groups)"
    rows = (
        [printed(str(name)), *(printed(cell, style="" if cell.startswith("0/") else "red") for cell in row)]
        for name, row in cells.iterrows()
    )
    console.print(table_of(["Guideline", *heads], rows, heads, caption=caption, caption_justify="left", title_justify="left"))


def _run_program(args: argparse.Namespace) -> int:
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
        sys.stdout.write(found.text(profile.about.get("headline", "")))
        return 0
    return _followed(command, target.mpi.mpicc, profile, found, args)


def _followed(command: Sequence[str], mpicc: str, profile: Profile, found: Rules, args: argparse.Namespace) -> int:
    """Run the command with the layer preloaded, and say what it did."""
    layer = build(sources("microbench"), mpicc, makefile="tune/Makefile").program("libscalkit_tune.so")
    with tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
        rules, account = Path(scratch) / "fast.rules", Path(scratch) / "account.jsonl"
        rules.write_text(found.text(profile.about.get("headline", "")), encoding="utf-8")
        status = run_preloaded(command, layer, {"SCALKIT_TUNE": str(rules), "SCALKIT_TUNE_OUT": str(account)})
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
    is_checked = any(one["checked"] for one in accounts)
    made, followed, different = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in accounts:
        made.update(one["calls"])
        for rule in one["rules"]:
            followed[rule["call"], rule["use"]] += rule["followed"]
            different[rule["call"], rule["use"]] += rule["different"]
    replaced: list[dict[str, Any]] = [
        {"call": key[0], "use": key[1], "followed": count, "different": different[key]}
        for key, count in followed.items()
        if count
    ]
    if args.json:
        content = {"rules": len(found.rules), "left_out": found.left_out, "calls": made, "replaced": replaced}
        print_json(content | {"checked": is_checked})
        return
    sys.stdout.write("\nCalls that were replaced, of those that all processes made\n")
    for call, count in made.items():
        parts = [
            f"{one['followed']:,} by {one['use'].replace('+', ' and ')}"
            + (f" ({one['different']:,} with another result)" if one["different"] else "")
            for one in replaced
            if one["call"] == call
        ]
        sys.stdout.write(f"  {call}: {', '.join(parts) or 'none'}, of {count:,}\n")
    if not made:
        sys.stdout.write("  none: the program makes no call that can be replaced\n")
    if is_checked:
        sys.stdout.write("Results were compared; the program got those of the calls themselves, so its time says nothing.\n")
    if machine := profile.about.get("virtual"):
        sys.stdout.write(f"The profile is of virtual time, on the network {machine.get('network', '?')}.\n")
    if found.left_out:
        sys.stdout.write(f"{found.left_out} choices of the profile are better than the call, and cannot be followed here.\n")
