"""The options of `scalkit measure master-worker`, and the campaign that they mean."""

import argparse
from pathlib import Path

from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.patterns.master_worker import FarmArguments, FarmCampaign, prepare_farm
from scalkit.cli.options.measuring_rules import numbers, seed_of, words_of
from scalkit.errors import UsageError

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
