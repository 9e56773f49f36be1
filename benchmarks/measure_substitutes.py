"""Measures operations and what can be called in their place with several MPI libraries in turn, and files them in a store.

    python benchmarks/measure_substitutes.py --out /tmp/which --store data/store --mpi mpich --mpi openmpi --mpi intel
    python benchmarks/measure_substitutes.py --out /tmp/sim --store data/store --platform juropa --processes 4 16 64 --runs 3

All sizes of a run belong together: they are measured in turn with all libraries, and filed as one run of each library.
Numbers of processes that have a core each and those that share cores are runs of their own: libraries wait in another way then.
Operations of --once have no size, or one of their own: they are measured with the smallest size only. --platform takes the times
of a simulated machine, --clock virtual those of a virtual clock; both say so. Without --mpi and --platform it is the library that
is found.
"""

from __future__ import annotations

import argparse
import secrets
from dataclasses import replace
from pathlib import Path

from measure_patterns import grouped, numbers

import scalkit as sk
from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign.campaign import KernelCampaign, prepare
from scalkit.bench.campaign.refining import Range, run_ranges
from scalkit.bench.libraries.mpi import cores
from scalkit.bench.libraries.targets import find_targets

OPERATIONS: tuple[str, ...] = (
    *("MPI_Bcast", "MPI_Gather", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block", "MPI_Scan"),
    *("Bcast_binary_tree", "substitutes", "send-modes"),
)


def words(text: str) -> tuple[str, ...]:
    """Return words between commas."""
    return tuple(word for word in text.split(",") if word)


def campaigns(options: argparse.Namespace) -> dict[str, list[KernelCampaign]]:
    """Return a campaign for each library, group of processes and size; those of a group share the begin of all run ids."""
    found: dict[str, list[KernelCampaign]] = {}
    targets = find_targets(options.mpi, options.platform, clock=options.clock, network=options.network)
    for target in targets:
        many = target.mpi.is_simulated or options.clock == "virtual"
        groups = grouped(options.processes, max(options.processes) if many else cores())
        for name, counts in groups.items():
            identity = secrets.token_hex(4)
            for size in options.sizes:
                arguments = Arguments(
                    kinds=("collectives",),
                    counts=counts,
                    runs=options.runs,
                    seed=options.seed,
                    ops=options.ops + (options.once if size == min(options.sizes) else ()),
                    size=size,
                    datatype="double",
                    budget_s=options.budget / (len(targets) * len(groups) * len(options.sizes)),
                    min_reps=min(options.min_reps, options.reps),
                    max_reps=options.reps,
                    standard_error=options.standard_error,
                    cut_quartiles=options.cut_quartiles,
                )
                folder = options.out / f"{target.label}{name}-{size}B"
                own = replace(prepare(folder, arguments, target.mpi), identity=identity)
                found.setdefault(f"{target.label}{name}", []).append(own)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--platform", action="append", default=[])
    parser.add_argument("--clock", choices=("real", "virtual"), default="real")
    parser.add_argument("--network", default=None, help="the machine of a virtual clock")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 64, 512, 4096, 32768, 262144])
    parser.add_argument("--processes", type=int, nargs="+", default=[2])
    parser.add_argument("--ops", type=words, default=OPERATIONS, help="between commas, of each size")
    parser.add_argument("--once", type=words, default=(), help="of the smallest size only")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--reps", type=int, default=60)
    parser.add_argument("--min-reps", type=int, default=20)
    parser.add_argument("--standard-error", type=float, default=None, help="of the mean, in place of intervals")
    parser.add_argument("--cut-quartiles", type=numbers, default=(), help="that this mean leaves out, as 1,4")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--budget", type=float, default=300.0, help="in s, for all of it")
    parser.add_argument("--machine", default=None)
    parser.add_argument("--site", default=None)
    parser.add_argument("--user", default=None)
    options = parser.parse_args()
    by_library = campaigns(options)
    results = run_ranges([Range([one for own in by_library.values() for one in own])])
    for result in results:
        print(f"{result.folder.name}: {result.done} of {result.total}", *result.failures, *result.remarks)
    store = sk.store.open(options.store)
    said = {"machine": options.machine, "site": options.site, "user": options.user, "licence": "CC0-1.0"}
    for own in by_library.values():
        print(store.put([one.folder.path for one in own], **said))
    measured = set(store.suites()["op"])
    for op in ("MPI_Gather", "MPI_Bcast", "MPI_Send"):
        if op in measured:
            print(store.advise(op))


if __name__ == "__main__":
    main()
