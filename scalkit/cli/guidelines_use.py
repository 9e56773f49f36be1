"""``scalkit guidelines --use``: a program whose calls are replaced by what a profile says is faster, and what was done."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalkit.bench.libraries.targets import find_targets
from scalkit.cli.options.command import require_command, run_preloaded
from scalkit.cli.terminal.printed import print_json
from scalkit.errors import DataError, UsageError
from scalkit.guidelines.profile import Profile, load_profile
from scalkit.guidelines.substitution.rules import Rules, rules_of
from scalkit.native import build, sources


def run(args: argparse.Namespace) -> int:
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
