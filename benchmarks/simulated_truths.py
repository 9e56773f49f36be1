"""The truths planted in simulated machines, p = 4..1024, one process a node: measured anew into a folder, and judged.

    python benchmarks/simulated_truths.py FOLDER [--largest 1024] [--truths 6]

A binomial broadcast must be total for O(log p) on all machines, a flat tree and a chain none; a linear gather inside the limits
of O(p) and none for O(log p). The same folder resumes. tests/bench/test_simulator.py asserts this up to p = 128.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import scalkit as sk
from scalkit.bench import Arguments, prepare
from scalkit.bench.libraries.platforms import load_platform, platform_names
from scalkit.bench.libraries.simulator import chosen_algorithms, simulate

TRUTHS = [(machine, "bcast=binomial_tree", "MPI_Bcast", "log(p)", ("total",)) for machine in platform_names()]
TRUTHS += [("juropa", f"bcast={name}", "MPI_Bcast", "log(p)", ("none",)) for name in ("flattree", "NTSL")]
TRUTHS += [
    ("juropa", "gather=ompi_basic_linear", "MPI_Gather", "p", ("total", "approximate")),
    ("juropa", "gather=ompi_basic_linear", "MPI_Gather", "log(p)", ("none",)),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--largest", type=int, default=1024)
    parser.add_argument("--truths", type=int, default=len(TRUTHS), help="how many of them (default: all)")
    args = parser.parse_args()
    counts = tuple(2**i for i in range(2, 14) if 2**i <= args.largest)
    failed = 0
    for machine, algorithm, op, growth, wanted in TRUTHS[: args.truths]:
        mpi = simulate(load_platform(machine), algorithms=chosen_algorithms(dict([algorithm.split("=")])))
        out = args.folder / f"{machine}-{algorithm.replace('=', '-')}"
        prepare(out, Arguments(("collectives",), counts, mpi.usual_runs, 1, (op,)), mpi).run()
        expected = {op: {"expectation": growth, "space": "ics15", "deviation": "p^(1/2)"}}
        verdict = sk.validate(sk.read(out), expected)[op]
        right = verdict.match in wanted
        failed += not right
        mark = "as planted" if right else f"WRONG, planted is {' or '.join(wanted)}"
        sure = verdict.probability[verdict.match]
        print(f"{machine:8} {algorithm:25} {growth:7} {verdict.match:12} ({sure:.0%}) {verdict.model}: {mark}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
