"""How far predictions of collective operations are off that are made of point-to-point fits alone.

In the simulator algorithms are known (benchmarks/known_algorithms.py): every cell is predicted from messages between two
processes, of which no collective operation is one. Of real libraries the algorithm is not known; `identify` finds it in the cells
with an even rank among the sizes, and the cells of the other sizes are predicted with what is found at the next smaller one:

    python benchmarks/collective_predictions.py                                       simulated, the bar is a median of 25 %
    python benchmarks/collective_predictions.py --runs RUN RUN ... --card CARD.toml   measured, without a bar
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from scalkit.perfmodels.collectives.known import read_known

BAR = 0.25
FILES = sorted((Path(__file__).resolve().parents[1] / "data/models").glob("*.csv"))


def simulated(files: list[Path]) -> bool:
    """Print the errors of each operation and algorithm; return whether all files keep the bar."""
    kept = True
    for file in files:
        known = read_known(file)
        print(f"{known.name}: {known.remark}")
        every = []
        for one in known.tried():
            every.append(one.errors)
            print(
                f"  {one.operation:10} {one.algorithm:19} median {100 * np.median(one.errors):5.1f} %, worst "
                f"{100 * one.errors.max():6.1f} %, {len(one.errors)} cells"
            )
        errors = np.concatenate(every)
        median = float(np.median(errors))
        print(
            f"  all: median {100 * median:.1f} %, 90 % of the cells within {100 * np.quantile(errors, 0.9):.0f} %; "
            f"bar {100 * BAR:g} %"
        )
        kept = kept and median <= BAR
    return kept


def measured(runs: list[str], card: str) -> None:
    """Print the errors of each function of real libraries."""
    import scalkit as sk
    from scalkit.perfmodels.collectives.study import study
    from scalkit.perfmodels.files.sources import message_of

    data = sk.read(runs if len(runs) > 1 else runs[0], parameter=["p", "S"])
    for one in study(data, message_of(card)):
        if one.predicted is not None:
            print(f"  {one.function:14} {one.predicted}")
        if one.predicted_alone is not None:
            print(f"  {'':14} with a core for each process: {one.predicted_alone}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--runs", nargs="+", default=[], metavar="RUN")
    parser.add_argument("--card", metavar="FILE")
    args = parser.parse_args()
    if args.runs:
        if not args.card:
            parser.error("--runs needs --card")
        measured(args.runs, args.card)
        return 0
    return 0 if simulated(args.files) else 1


if __name__ == "__main__":
    sys.exit(main())
