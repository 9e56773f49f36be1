"""How often `scalkit.perfmodels.identify` names the right algorithm, on simulated times whose algorithms are known.

A case is a cell of operation, processes and size, simulated by SimGrid SMPI with the algorithm set by name
(benchmarks/known_algorithms.py). It is right if the most probable algorithm is that one, or sends the same messages between the
same processes in the same order (a pipeline of one segment is a chain; between two processes a tree is one message). A second
figure counts all that are named, which predict the same within 1 %. The model of a message is fitted to messages alone.

    python benchmarks/algorithm_identification.py [data/models/known-star.csv ...]

The bar: 80 % of all cells. Exit status 1 if a file misses it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scalkit.perfmodels.known import read_known

BAR = 0.8
FILES = sorted((Path(__file__).resolve().parents[1] / "data/models").glob("*.csv"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--cells", action="store_true", help="show the cells that are wrong")
    args = parser.parse_args()
    missed = False
    for file in args.files:
        known = read_known(file)
        print(f"{known.name}: {known.remark}")
        named = total = alone = 0
        for one in known.tried():
            named, total = named + int(one.right.sum()), total + len(one.right)
            alone += int(one.right_alone.sum())
            print(f"  {one.operation:10} {one.algorithm:19} {one.right_alone.sum():3d} of {len(one.right):3d} right")
            if args.cells:
                for k in (~one.right_alone).nonzero()[0]:
                    off = one.predicted[k] / one.time[k] - 1
                    said = one.likeliest[k]
                    print(f"    P = {one.P[k]:g}, S = {one.S[k]:g}: {said}; prediction off by {100 * off:.0f} %")
        shares = [100 * one / total for one in (alone, named)]
        print(
            f"  {alone} of {total} right, {shares[0]:.1f} %; among those named {shares[1]:.1f} %; bar {100 * BAR:g} %"
        )
        missed = missed or alone < BAR * total
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
