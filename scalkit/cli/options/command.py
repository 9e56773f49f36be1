"""The options of `scalkit measure --command`, and what they do."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.errors import UsageError
from scalkit.support.native import sources

if TYPE_CHECKING:
    from scalkit.bench.campaign.loop import Result
    from scalkit.bench.command.campaign import CommandArguments, CommandCampaign

_REFUSED = ("mpi", "platform", "function", "ops", "per_node", "refine", "memory_n", "network", "compute", "standard_error")
_OF_VIRTUAL_TIME = ("mpi", "per_node", "network", "compute")
_SHARED = ("p", "np", "procs", "ranks", "nodes", "threads", "t")
"""Names of what work is shared among: the claim that is offered falls with them."""
_OWN = ("p", "set", "compute")


def refuse_without_command(args: argparse.Namespace) -> None:
    """Return nothing if no option is given that is for --command alone. Raises UsageError naming the first."""
    for key in _OWN:
        if getattr(args, key):
            raise UsageError(f"{'-p' if key == 'p' else f'--{key}'} goes with --command 'PROGRAM ...'; add that.")


def require_command(words: Sequence[str]) -> None:
    """Return nothing if the first of some words is a command, or there is none. Raises UsageError if it is not."""
    if words and shutil.which(words[0]) is None:
        raise UsageError(f"there is no command {words[0]!r}; write what starts the program after --.")


def run_preloaded(words: Sequence[str], library: Path, more: Mapping[str, str]) -> int:
    """Return the exit status of a command that runs with a library preloaded and with more variables."""
    preload = " ".join(filter(None, [str(library), os.environ.get("LD_PRELOAD", "")]))
    return subprocess.run(words, env={**os.environ, "LD_PRELOAD": preload, **more}, check=False).returncode


def print_include() -> int:
    """Print the folder that has scalkit/region.h."""
    sys.stdout.write(f"{sources('microbench') / 'include'}\n")
    return 0


def prepared_command(args: argparse.Namespace, out: Path) -> CommandCampaign:
    """Return the campaign that the options mean, ready to run.

    Raises UsageError if they name something else, too, or make no sense.
    """
    from scalkit.bench.command.campaign import CommandArguments, clock_name, prepare_command, virtual_mpi
    from scalkit.bench.command.template import Template, matrix

    is_virtual = args.clock == "virtual"
    refused = [key for key in _REFUSED if not (is_virtual and key in _OF_VIRTUAL_TIME)]
    stray = [f"--{key.replace('_', '-')}" for key in refused if getattr(args, key)] + [*args.what]
    if stray:
        raise UsageError(f"{stray[0]} does not go with --command; leave it out.")
    template = Template(args.command_text, tuple(args.set))
    if is_virtual and len(args.mpi) > 1:
        raise UsageError(f"--mpi {args.mpi[1]}: a command runs with one library; name one.")
    machine = {"per_node": args.per_node, "mpiexec": args.mpiexec, "network": args.network, "compute": args.compute or "none"}
    virtual = virtual_mpi(template.words, args.mpi, **machine) if is_virtual else None
    usual = 3 if virtual is None else 1  # a virtual clock repeats exactly
    return prepare_command(
        out,
        CommandArguments(
            template=template,
            points=matrix(args.p),
            runs=(5 if virtual is None else 1) if args.runs is None else args.runs,
            min_reps=min(usual, args.max_reps or usual) if args.min_reps is None else args.min_reps,
            max_reps=(100 if virtual is None else max(1, args.min_reps or 1)) if args.max_reps is None else args.max_reps,
            budget_s=args.budget,
            seed=args.seed or 0,
            clock=None if virtual is None else clock_name(virtual),
        ),
        virtual,
    )


def command_in_words(arguments: CommandArguments, out: Path) -> str:
    """Return what is going to be measured, in a line."""
    names = [name for name, _ in arguments.points[0]]
    over = f" over {', '.join(names)}" if names else ""
    points, runs = len(arguments.points), arguments.runs
    free = "; computing costs no time" if "compute=none" in (arguments.clock or "") else ""
    clock = f"; times of a virtual clock, {arguments.clock}{free}" if arguments.clock else ""
    return (
        f"Measuring {arguments.template.name} at {points} point{'s' * (points != 1)}{over}, {runs} "
        f"run{'s' * (runs != 1)}, into {out}{clock}"
    )


def next_step(campaign: CommandCampaign, result: Result) -> str:
    """Return the command that judges what was measured, ready to paste, with what a verdict still needs."""
    points = [dict(point) for point in campaign.arguments.points]
    counts = {name: len({point[name] for point in points}) for name in points[0]}
    varied = [name for name, count in counts.items() if count > 1]
    if not varied or not result.done:
        return ""
    name = campaign.arguments.template.name
    grows, falls = ([one for one in varied if (one in _SHARED) == is_shared] for is_shared in (False, True))
    claim = "*".join(grows) + "".join(f"/{one}" for one in falls) if grows else f"1/{'/'.join(falls)}"
    lines = [f"Next, with what you expect in place of {claim!r}:"]
    lines.append(f"  scalkit validate {shlex.quote(str(result.folder))} --expectation {shlex.quote(f'{name} = {claim}')}")
    few = {one: counts[one] for one in varied if counts[one] < 5}
    if few:
        have = ", ".join(f"{one} has {count}" for one, count in few.items())
        least = min(few.values())
        or_fewer = f", or --min-points {least}" if least >= 3 else ""
        lines.append(f"A verdict needs 5 values of a parameter; {have}: add some{or_fewer}.")
    return "\n".join(lines)
