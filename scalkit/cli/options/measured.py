"""Measures campaigns that are ready, and says what is measured and how it ended."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalkit.bench import Arguments, Campaign
from scalkit.bench.campaign.launch import MpiCampaign
from scalkit.bench.campaign.loop import Result
from scalkit.bench.campaign.refinement import Insertion, Refinement
from scalkit.bench.campaign.refining import Range, run_ranges
from scalkit.bench.command.campaign import CommandCampaign
from scalkit.bench.libraries.mpi import cores
from scalkit.bench.virtual.account import Account
from scalkit.cli.options.command import command_in_words, next_step
from scalkit.cli.terminal.printed import aligned, print_json, say
from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.measure.processes import HEAD as BANDWIDTH_HEAD
from scalkit.measure.processes import bandwidths
from scalkit.measure.virtual_time import LEFT_OUT, numbers_in_words
from scalkit.support.text import as_percent, capital, few, plain
from scalkit.support.units import format_quantity

_MOST = 12
_WINDOWS = {"all", "bandwidth", "Bw[x64]", "Bibw[x64]", "Mbw_mr[x64]"}


def measure_all(
    ranges: Sequence[Range], out: Path, *, command: str, timeout_s: float | None = None, as_json: bool = False
) -> int:
    """Measure what is missing, say what was, and return 0, or 2 if something is missing then.

    `command`: word that messages begin with, as in ``"measure"``.
    """
    campaigns = [campaign for one in ranges for campaign in one.campaigns]
    for one in ranges:
        say(_opening(one.campaigns[0]), as_json=as_json)
        if len(one.campaigns) > 1:
            say(f"and beside it {', '.join(each.folder.path.name for each in one.campaigns[1:])}", as_json=as_json)
    with terminated_like_interrupted(), resumable(out), progress_printer(sys.stderr) as on_progress:
        results = run_ranges(ranges, timeout_s=timeout_s, on_progress=on_progress, on_insert=_say_inserted)
    status = 2 if any(result.missing for result in results) else 0
    if as_json:
        outcomes = [_as_json(result) for result in results]
        print_json(outcomes[0] if len(outcomes) == 1 else {"campaigns": outcomes, "status": status})
        return status
    for result in results:
        _say_result(result, command)
    for line in (*(one.sentence for one in ranges), *_found(campaigns, results, is_whole=status == 0)):
        if line:
            sys.stdout.write(f"{line}\n")
    return status


def _opening(campaign: Campaign) -> str:
    if isinstance(campaign, CommandCampaign):
        passed_over = () if campaign.virtual is None else campaign.virtual.passed_over
        return "\n".join([command_in_words(campaign.arguments, campaign.folder.path), *passed_over])
    assert isinstance(campaign, MpiCampaign)
    mpi = campaign.mpi
    kinds = tuple(dict.fromkeys(launch.kind for launch in campaign.plan))
    counts = sorted({launch.p for launch in campaign.plan if launch.kind != "memory"})
    aside = getattr(campaign, "aside", None)
    lines = [f"{campaign.folder.path} held another campaign, which is now {aside}."] if aside else []
    lines += mpi.passed_over
    named = " and ".join(getattr(campaign.arguments, "kinds", kinds))
    lines.append(f"Measuring {named} of {mpi.name} with {mpi.mpiexec} into {campaign.folder.path}")
    if mpi.is_simulated:
        lines.append("These times are simulated. SimGrid SMPI computes them; nothing is measured, and memory is left out.")
    if mpi.is_virtual:
        kept = "; memory is counted by this machine" if "memory" in kinds else ""
        lines.append(f"Run times are those of a virtual clock: {numbers_in_words(campaign.facts['virtual'])}{kept}.")
    crowded = [n for n in counts if n > cores() and not mpi.repeats_exactly]
    if crowded:
        numbers = ", ".join(map(str, crowded))
        lines.append(f"There are {cores()} cores: run times with {numbers} processes describe the scheduler, and do not decide.")
    n_counts = len({launch.p for launch in campaign.plan})
    if n_counts < 5 and kinds != ("neighbourhood",):
        lines.append(f"A verdict needs 5 numbers of processes; here are {n_counts}.")
    return "\n".join(lines)


def _say_inserted(point: Insertion, rules: Refinement) -> None:
    """Say which point is measured next, and why."""
    unit = " B" if rules.over == "sizes" else " processes"
    sys.stderr.write(
        f"{point.curve} bends between {point.low} and {point.high}{unit}: lines from both sides miss by "
        f"{as_percent(point.miss)}; measuring {point.x}{unit}\n"
    )


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "folder": str(result.folder),
        "launches": result.total,
        "done": result.done,
        "fresh": result.fresh,
        "missing": [launch.name for launch in result.missing],
        "failures": list(result.failures),
        "remarks": list(result.remarks),
        "status": 2 if result.missing else 0,
    }


def _say_result(result: Result, command: str) -> None:
    names = [launch.name for launch in result.missing]
    for text in (*result.failures, *result.remarks[:_MOST]):
        sys.stderr.write(f"scalkit {command}: {plain(text)}\n")
    if len(result.remarks) > _MOST:
        more = len(result.remarks) - _MOST
        sys.stderr.write(f"scalkit {command}: {more} more wrong results are named in {result.folder}/campaign.toml.\n")
    if names:
        sys.stderr.write(
            f"scalkit {command}: {len(names)} of {result.total} launches are missing ({few(names)}); the other {result.done} "
            f"are kept in {result.folder}. The same command tries only what is missing.\n"
        )
    else:
        already = "" if result.fresh else "nothing was missing: "
        sys.stdout.write(f"{already}{result.total} launches in {result.folder}\n")


def _found(campaigns: Sequence[Campaign], results: Sequence[Result], *, is_whole: bool) -> list[str]:
    """Return the lines about results that a verdict does not show: bandwidths, and what a command took."""
    first = campaigns[0]
    if isinstance(first, CommandCampaign):
        return [*_account_lines(first.accounts()), next_step(first, results[0])]
    own = first.arguments
    if not is_whole or not isinstance(own, Arguments) or _WINDOWS.isdisjoint(own.ops):
        return []
    return [plain(line) for line in _bandwidth_lines(campaigns)]


def _bandwidth_lines(campaigns: Sequence[Campaign]) -> list[str]:
    """Return bandwidths and rates of messages as the lines of a table; empty if no windows of messages were measured."""
    rows = []
    for campaign in campaigns:
        try:
            folder = (campaign.folder.path.name,) if len(campaigns) > 1 else ()
            rows += [(*folder, *one) for one in bandwidths(read(campaign.folder.path))]
        except DataError:  # such as memory alone
            continue
    return aligned([(*["in"] * (len(campaigns) > 1), *BANDWIDTH_HEAD), *rows]) if rows else []


def _account_lines(accounts: Sequence[Account]) -> list[str]:
    """Return the table of what launches took in virtual time; empty if none did."""
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
        for one in accounts
    ]
    return [*aligned(rows, right=True), f"{capital(LEFT_OUT)}."] if accounts else []
