"""Options of `scalkit measure` on when to stop, what to keep, and which points to measure; the campaigns that they mean."""

import argparse
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scalkit.bench import Arguments, Campaign, Progress, Result
from scalkit.bench.campaign.folder import Folder
from scalkit.bench.campaign.here import run_alternately
from scalkit.bench.campaign.refinement import Insertion, Refinement
from scalkit.bench.campaign.refining import Range, range_of, run_refined, sized_folder
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.targets import Target
from scalkit.bench.patterns.master_worker import FarmArguments, FarmCampaign, prepare_farm
from scalkit.cli.options.declared import given
from scalkit.cli.terminal.printed import aligned
from scalkit.errors import DataError, UsageError
from scalkit.formats.read import read
from scalkit.measure import process_times
from scalkit.measure.processes import HEAD as BANDWIDTH_HEAD
from scalkit.measure.processes import bandwidths
from scalkit.text import as_percent

_HEADINGS = (
    "when there are enough repetitions (docs/measurement.md#when-it-stops)",
    "message sizes, and points where a curve bends",
)
"""Those of these options in ``commands/measure.toml``."""


def rules_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a campaign that the options mean.

    Raises UsageError if they cannot be read, or one says something about a refinement that is not asked for.
    """
    usual = {"allowed_bend": 0.1, "smallest_step": 1.05, "max_points": 40}
    stray = [name for name, value in usual.items() if getattr(args, name) != value]
    if stray and args.refine is None:
        raise UsageError(f"--{stray[0].replace('_', '-')} is about refinement; add --refine sizes or --refine processes.")
    refine = None
    if args.refine is not None:
        refine = Refinement(args.refine, args.allowed_bend, args.smallest_step, args.max_points)
    return {
        "min_reps": 20 if args.min_reps is None else args.min_reps,
        "max_reps": 400 if args.max_reps is None else args.max_reps,
        "standard_error": args.standard_error,
        "cut_quartiles": numbers("--cut-quartiles", args.cut_quartiles, "1,4") if args.cut_quartiles else (),
        "per_process": args.per_process,
        "refine": refine,
    }


def refuse_rules(args: argparse.Namespace, what: str) -> None:
    """Return nothing if no option was given that is about the repetitions and sizes of operations.

    Raises UsageError, naming the first that was.
    """
    for key in given(args, "measure", *_HEADINGS):
        raise UsageError(f"--{key.replace('_', '-')} does not go with {what}; leave it out.")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def numbers(option: str, text: str, example: str) -> tuple[int, ...]:
    """Return whole numbers between commas. Raises UsageError if there are none, or something else."""
    words = words_of(text)
    if not words or not all(word.isascii() and word.isdecimal() and len(word) < 11 for word in words):
        raise UsageError(f"{option} {text:.60}: whole numbers are needed, such as {option} {example}.")
    return tuple(map(int, words))


def counts_of(text: str, option: str) -> tuple[int, ...]:
    """Return numbers of processes between commas, or the powers of two of a range. Raises UsageError if they cannot be read."""
    ends = re.fullmatch(r"\s*([0-9]{1,9})\s*\.\.\s*([0-9]{1,9})\s*", text)
    if ends is not None:
        powers = tuple(2**i for i in range(30) if int(ends[1]) <= 2**i <= int(ends[2]))
        if not powers:
            raise UsageError(
                f"{option} {text}: there is no power of two from {ends[1]} to {ends[2]}; write as in {option} 2..1024."
            )
        return powers
    words = words_of(text)
    if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise UsageError(f"{option} {text}: numbers of processes are needed, such as {option} 2,4,8,16,32.")
    return tuple(int(word) for word in words)


def seed_of(given: int | None, folder: Path) -> int:
    """Return the seed that was given, else that of the campaign in a folder, else a drawn one."""
    kept = Folder(folder).record.get("arguments", {}).get("seed") if given is None and folder.is_dir() else given
    return kept if isinstance(kept, int) else secrets.randbelow(2**31)


def is_sized(args: argparse.Namespace) -> bool:
    """Return whether there is a folder for each of several message sizes."""
    return bool(args.sizes) or args.refine == "sizes"


def sizes_of(args: argparse.Namespace) -> tuple[int, ...]:
    """Return the message sizes of the first pass, ascending.

    Raises UsageError if they cannot be read, or are not enough to refine.
    """
    if args.size != 8 and args.sizes:
        raise UsageError(f"--size {args.size} --sizes {args.sizes:.60}: name one of them.")
    if not args.sizes:
        return _enough(args, (args.size,))
    ends = re.fullmatch(r"\s*([0-9]{1,10})\s*\.\.\s*([0-9]{1,10})\s*", args.sizes)
    if ends is None:
        found = numbers("--sizes", args.sizes, "8,64,512")
    else:
        found = tuple(2**i for i in range(31) if int(ends[1]) <= 2**i <= int(ends[2]))
        if not found:
            raise UsageError(f"--sizes {args.sizes}: there is no power of two in it; write as in --sizes 8..65536.")
    if list(found) != sorted(set(found)):
        raise UsageError(f"--sizes {args.sizes:.60}: name each size once, ascending.")
    return _enough(args, found)


def _enough(args: argparse.Namespace, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes, if they are enough for what is refined."""
    refine = rules_of(args)["refine"]
    if refine is not None and refine.over == "sizes":
        refine.require_points(sizes)
    return sizes


def ranges_of(
    args: argparse.Namespace, targets: Sequence[Target], out: Path, arguments_of: Callable[[Target, Path], Arguments]
) -> list[Range]:
    """Return the campaigns of each target, ready to run, and how to make more of them.

    `arguments_of`: returns the arguments of a target, with the first message size, for a folder that may hold them
    already.
    Raises UsageError or BuildError if something is not allowed, or a folder holds something else.
    """
    sizes = sizes_of(args) if is_sized(args) else ()
    found = []
    for target in targets:
        label = target.label if len(targets) > 1 else ""
        folder = sized_folder(out, label, sizes[0]) if sizes else out / label
        arguments = arguments_of(target, folder)
        base = out if sizes else out / label
        words = label if sizes else ""
        found.append(range_of(base, arguments, target.mpi, sizes, label=words, set_aside=args.set_aside))
    return found


def run_ranges(
    args: argparse.Namespace, ranges: Sequence[Range], on_progress: Callable[[Progress], None] | None
) -> tuple[Result, ...]:
    """Measure them, with more points where they are refined."""
    campaigns = [campaign for one in ranges for campaign in one.campaigns]
    if args.refine is not None:
        return run_refined(ranges, timeout_s=args.timeout, on_progress=on_progress, on_insert=say_inserted)
    if len(campaigns) > 1:
        return run_alternately(campaigns, timeout_s=args.timeout, on_progress=on_progress)
    return (campaigns[0].run(timeout_s=args.timeout, on_progress=on_progress),)


def processes_of(campaigns: Sequence[Campaign]) -> list[str]:
    """Return which process is late, a sentence for each operation and setting that was measured with ``--per-process``."""
    found = []
    for campaign in campaigns:
        try:
            folder = f"{campaign.folder.path.name}: " if len(campaigns) > 1 else ""
            found += [f"{folder}{one}" for one in process_times(read(campaign.folder.path))]
        except DataError:  # such as memory alone
            continue
    return found


def is_windowed(args: argparse.Namespace) -> bool:
    """Return whether windows of messages are among the operations that are named."""
    return not {"all", "bandwidth", "Bw[x64]", "Bibw[x64]", "Mbw_mr[x64]"}.isdisjoint(words_of(args.ops))


def bandwidths_of(campaigns: Sequence[Campaign]) -> list[str]:
    """Return bandwidths and rates of messages as the lines of a table; empty if no windows of messages were measured."""
    rows = []
    for campaign in campaigns:
        try:
            folder = (campaign.folder.path.name,) if len(campaigns) > 1 else ()
            rows += [(*folder, *one.cells()) for one in bandwidths(read(campaign.folder.path))]
        except DataError:  # such as memory alone
            continue
    return aligned([(*["in"] * (len(campaigns) > 1), *BANDWIDTH_HEAD), *rows]) if rows else []


def rules_in_words(own: Arguments) -> list[str]:
    """Return when repetitions end and what is refined, if the file says it."""
    lines = []
    if own.standard_error is not None:
        cut = ",".join(map(str, own.cut_quartiles))
        cut = f" without quarter{'s' if len(cut) > 1 else ''} {cut}" if cut else ""
        error = f"{as_percent(own.standard_error, 'g')} of the mean{cut}"
        lines.append(f"until the standard error is {error}, with {own.min_reps} to {own.max_reps} repetitions")
    if own.refine is not None:
        miss, most = as_percent(own.refine.allowed, "g"), own.refine.max_points
        lines.append(f"refines {own.refine.over} where lines from both sides miss by more than {miss}, up to {most} points")
    return lines


def refined_in_words(ranges: Sequence[Range]) -> list[str]:
    """Return how many points each range has now, a sentence each; nothing for what is not refined."""
    return [
        f"{len(one.first)} points in the first pass, {len(one.inserted)} where the curve bends: {one.record}"
        for one in ranges
        if one.campaigns[0].arguments.refine is not None
    ]


def say_inserted(point: Insertion, rules: Refinement) -> None:
    """Say which point is measured next, and why."""
    unit = " B" if rules.over == "sizes" else " processes"
    sys.stderr.write(
        f"{point.curve} bends between {point.low} and {point.high}{unit}: lines from both sides miss by "
        f"{as_percent(point.miss)}; measuring {point.x}{unit}\n"
    )


WHAT = "master-worker"


def prepared_farm(args: argparse.Namespace, counts: tuple[int, ...], folder: Path, mpi: Mpi) -> FarmCampaign:
    """Return the campaign that the arguments mean, ready to run.

    Raises UsageError if they name something else, too, or make no sense.
    """
    if args.what != [WHAT] or args.function or args.report:
        raise UsageError(f"{WHAT} is measured by itself: leave out other names, --function and --report.")
    args.seed = seed_of(args.seed, folder)
    arguments = FarmArguments(
        counts=counts,
        runs=mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        variants=words_of(args.variants),
        sizes=numbers("--unit-sizes", args.unit_sizes, "8,1024"),
        work_us=numbers("--work-us", args.work_us, "8,1024"),
        result_size=args.result_size,
        units=args.units,
        reps=args.reps,
        processes_per_node=args.per_node if mpi.is_simulated else None,
        budget_s=args.budget,
    )
    return prepare_farm(folder, arguments, mpi)
