"""The options of `scalkit measure master-worker`, and the campaign that they mean."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from scalkit.bench.campaign.folder import Folder
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.patterns.master_worker import FarmArguments, FarmCampaign, prepare_farm
from scalkit.errors import UsageError

WHAT = "master-worker"


def prepared_farm(args: argparse.Namespace, counts: tuple[int, ...], folder: Path, mpi: Mpi) -> FarmCampaign:
    """Return the campaign that the arguments mean, ready to run.

    Raises UsageError if they name something else, too, or make no sense.
    """
    if args.what != [WHAT] or args.function or args.report:
        raise UsageError(f"{WHAT} is measured by itself: leave out other names, --function and --report.")
    if args.seed is None:
        recorded = Folder(folder).record.get("arguments", {}).get("seed")
        args.seed = secrets.randbelow(2**31) if recorded is None else recorded
    arguments = FarmArguments(
        counts=counts,
        runs=mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        variants=tuple(word.strip() for word in args.variants.split(",") if word.strip()),
        sizes=_numbers("--unit-sizes", args.unit_sizes),
        work_us=_numbers("--work-us", args.work_us),
        result_size=args.result_size,
        units=args.units,
        reps=args.reps,
        processes_per_node=args.per_node if mpi.is_simulated else None,
        budget_s=args.budget,
    )
    return prepare_farm(folder, arguments, mpi)


def _numbers(option: str, text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise UsageError(f"{option} {text:.60}: whole numbers are needed, such as {option} 8,1024.")
    return tuple(map(int, words))
