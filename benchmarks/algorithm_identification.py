"""How often `scalkit.perfmodels.collectives.identify` names the right algorithm, on simulated times whose algorithms are known.

A case is a cell of operation, processes and size, simulated by SimGrid SMPI with the algorithm set by name
(benchmarks/known_algorithms.py). It is right if the most probable algorithm is that one, or sends the same messages between the
same processes in the same order (a pipeline of one segment is a chain; between two processes a tree is one message). A second
figure counts all that are named, which predict the same within 1 %. The model of a message is fitted to messages alone.

    python benchmarks/algorithm_identification.py [data/models/known-star.csv ...]

In these files an operation uses one algorithm at all sizes, so that neighbours help. With --harder two more figures follow: for
every pair of algorithms, the first one below the middle size and the other one from there on; and each cell without any other.
With --without two more: how many cells get a name although their own algorithm is left out, and no other predicts the same.

The bar: 80 % of all cells. Exit status 1 if a file misses it.
"""

from __future__ import annotations

import argparse
import sys
from itertools import permutations
from pathlib import Path

import numpy as np

from scalkit.perfmodels import collectives_of, identify
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.identify import OTHER
from scalkit.perfmodels.collectives.model import same_messages

sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from lessons.known import IDENTIFIED, KnownAlgorithms, read_known

BAR = 0.8
ALIKE = 0.01
FILES = sorted((Path(__file__).resolve().parents[1] / "data/models").glob("*.csv"))


def right(known: KnownAlgorithms, operation: str, parts: list[tuple[str, Cells]]) -> list[bool]:
    """Return which cells are right by one name if those of several algorithms are looked at together."""
    S, P, times = (np.concatenate([getattr(cells, what) for _, cells in parts]) for what in ("S", "P", "times"))
    truth = [name for name, cells in parts for _ in range(len(cells))]
    found = identify(Cells(operation, operation, S, P, times, known.simulated), known.message).cells
    return [
        one.likeliest != OTHER and same_messages(operation, name, one.likeliest, one.P, one.S)
        for name, one in zip(truth, found, strict=True)
    ]


def harder(known: KnownAlgorithms) -> tuple[list[bool], list[bool]]:
    """Return which cells are right where the algorithm switches at the middle size, and which without any other size."""
    there = {key: known.cells(*key) for key in known.tables if key[0] not in IDENTIFIED}
    switched, alone = [], []
    for (operation, small), (other, large) in permutations(there, 2):
        if operation == other:
            below, above = there[operation, small], there[operation, large]
            middle, shared = below.sizes[len(below.sizes) // 2], np.intersect1d(below.P, above.P)
            parts = [
                (small, below.where(np.isin(below.P, shared) & (middle > below.S))),
                (large, above.where(np.isin(above.P, shared) & (middle <= above.S))),
            ]
            switched += right(known, operation, parts)
    for (operation, name), cells in there.items():
        for k in range(len(cells)):
            alone += right(known, operation, [(name, cells.where(np.arange(len(cells)) == k))])
    return switched, alone


def strangers(known: KnownAlgorithms) -> tuple[int, int, int]:
    """Return how many cells get a name, how many a sure one, and of how many: their algorithm is left out, none is like it."""
    named = sure = cells = 0
    for operation, name in (key for key in known.tables if key[0] not in IDENTIFIED):
        there = known.cells(operation, name)
        models = collectives_of(operation, known.message)
        table = {key: model(outside="nan", **there.at) for key, model in models.items()}
        own = table.pop(name)
        alike = np.any([np.abs(one / own - 1) <= ALIKE for one in table.values()], axis=0)
        found = identify(there, known.message, without=(name,)).cells
        for one, is_like in zip(found, alike.tolist(), strict=True):
            cells += not is_like
            named += not is_like and one.likeliest != OTHER
            sure += not is_like and one.is_sure
    return named, sure, cells


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--cells", action="store_true", help="show the cells that are wrong")
    parser.add_argument("--harder", action="store_true", help="also with switches, and each cell alone; about a minute")
    parser.add_argument("--without", action="store_true", help="also with each algorithm left out of the list")
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
        print(f"  {alone} of {total} right, {shares[0]:.1f} %; among those named {shares[1]:.1f} %; bar {100 * BAR:g} %")
        if args.without:
            named, sure, cells = strangers(known)
            print(f"  left out: {100 * named / cells:.1f} % of {cells} get a name, {100 * sure / cells:.1f} % a sure one")
        if args.harder:
            switched, single = (f"{100 * np.mean(one):.1f} % of {len(one)}" for one in harder(known))
            print(f"  with a switch {switched}; each cell without any other {single}")
        missed = missed or alone < BAR * total
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
