"""Measures a master with its workers, and messages between two processes, with several MPI libraries or simulated machines.

    python benchmarks/measure_patterns.py --out /tmp/patterns --mpi mpich --mpi openmpi --mpi intel --processes 2,4
    python benchmarks/measure_patterns.py --out /tmp/simulated --platform juropa --processes 2,3,5,9,17,33,65
    scalkit store put data/store /tmp/patterns/*

Libraries are measured in turn, run by run. Each gets folders below --out, which `scalkit store put` files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scalkit.bench.campaign.refining import Range, run_ranges
from scalkit.bench.libraries.mpi import cores
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.patterns.master_worker import FarmArguments, FarmCampaign, prepare_farm
from scalkit.bench.patterns.point_to_point import MessageArguments, MessageCampaign, prepare_messages

SIZES = tuple(4**k for k in range(11))


def numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers between commas."""
    return tuple(map(int, text.split(",")))


def words(text: str) -> tuple[str, ...]:
    """Return words between commas."""
    return tuple(text.split(","))


def grouped(processes: tuple[int, ...], cores: int) -> dict[str, tuple[int, ...]]:
    """Return those that have a core each, and those that share: libraries wait in another way then, in all of a campaign."""
    groups = {"": tuple(p for p in processes if p <= cores), "-crowded": tuple(p for p in processes if p > cores)}
    return {name: counts for name, counts in groups.items() if counts}


def campaigns(options: argparse.Namespace) -> list[FarmCampaign | MessageCampaign]:
    """Return campaigns of masters, then of messages, for each library or machine."""
    targets = find_targets(options.mpi, options.platform)
    farms: list[FarmCampaign | MessageCampaign] = []
    messages: list[FarmCampaign | MessageCampaign] = []
    for target in targets:
        groups = grouped(options.processes, cores() if not target.mpi.is_simulated else max(options.processes))
        for name, counts in groups.items():
            farm = FarmArguments(
                counts,
                options.runs,
                options.seed,
                variants=options.variants,
                sizes=options.unit_sizes,
                work_us=options.work_us,
                units=options.units,
                reps=options.reps,
                budget_s=None if target.mpi.is_simulated else options.budget / len(targets) / len(groups),
            )
            farms.append(prepare_farm(options.out / f"{target.label}-master-worker{name}", farm, target.mpi))
        if options.what:
            message = MessageArguments(
                options.what,
                options.runs,
                options.seed,
                reps=options.message_reps,
                sizes=SIZES,
                budget_s=None if target.mpi.is_simulated else options.message_budget / len(targets),
            )
            messages.append(prepare_messages(options.out / f"{target.label}-messages", message, target.mpi))
    return farms + messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--platform", action="append", default=[])
    parser.add_argument("--processes", type=numbers, default=(2, 4))
    parser.add_argument("--variants", type=words, default=("Waitsome", "Waitany", "Recv_any"))
    parser.add_argument("--unit-sizes", type=numbers, default=(64, 1024, 8192, 65536))
    parser.add_argument("--work-us", type=numbers, default=(0, 20))
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--reps", type=int, default=30)
    parser.add_argument("--budget", type=float, default=120.0, help="in s, for the masters")
    parser.add_argument("--what", type=words, default=("latency", "sync"), help="of the messages; '' for none")
    parser.add_argument("--message-reps", type=int, default=60)
    parser.add_argument("--message-budget", type=float, default=60.0, help="in s, for the messages")
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    options.what = tuple(word for word in options.what if word)
    for result in run_ranges([Range(campaigns(options))]):
        print(f"{result.folder.name}: {result.done} of {result.total}", *result.failures, *result.remarks)


if __name__ == "__main__":
    main()
