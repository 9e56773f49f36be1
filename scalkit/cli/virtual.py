"""Runs an MPI program in virtual time, at several numbers of processes."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.virtual.mpi import proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.bench.virtual.program import Account, ProgramCampaign, accounts, prepare_program
from scalkit.cli.options.measuring_rules import counts_of
from scalkit.cli.terminal.printed import aligned, print_json
from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.measure.virtual_time import LEFT_OUT, numbers_in_words
from scalkit.text import as_percent, capital
from scalkit.units import format_quantity


def run(args: argparse.Namespace) -> int:
    """Run what is missing, print what all launches needed, and return 0 or 2."""
    if not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: a positive number of seconds is needed.")
    counts = counts_of(args.processes, "-n")
    network = read_network(args.network).with_per_node(args.per_node)
    out = Path(args.out)
    with terminated_like_interrupted():
        (target,) = find_targets([args.mpi] if args.mpi else [])
        mpi = proved(virtual(target.mpi, network, compute=args.compute, scale=args.scale))
        campaign = prepare_program(out, tuple(args.program), counts, mpi)
        with resumable(out), progress_printer(sys.stderr) as on_progress:
            result = campaign.run(timeout_s=args.timeout, on_progress=on_progress)
    for text in (*mpi.passed_over, *result.failures):
        sys.stderr.write(f"scalkit virtual: {text}\n")
    _say(campaign, args.json)
    return 2 if result.missing else 0


def _say(campaign: ProgramCampaign, as_json: bool) -> None:
    found, machine = accounts(campaign), campaign.facts["virtual"]
    if as_json:
        content = {"out": str(campaign.folder.path), "virtual": machine, "launches": [asdict(one) for one in found]}
        print_json(content)
        return
    if not found:
        return
    sys.stdout.write(
        f"{campaign.arguments.name}, {campaign.mpi.name}: {numbers_in_words(machine)}\n"
        f"{_table(found)}{capital(LEFT_OUT)}.\nRun files in {campaign.folder.path}\n"
    )


def _table(found: Sequence[Account]) -> str:
    rows = [("p", "completion", "in MPI, mean", "max", "messages", "bytes")]
    rows += [
        (
            str(one.p),
            format_quantity(one.completion_s, "s", 4),
            as_percent(one.mpi_share, ".1f"),
            as_percent(one.most_mpi_share, ".1f"),
            f"{one.messages:,}",
            format_quantity(one.bytes, "B"),
        )
        for one in found
    ]
    return "".join(f"{line}\n" for line in aligned(rows, right=True))
