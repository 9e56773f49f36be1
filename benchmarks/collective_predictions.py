"""How far predictions of collective operations are off that are made of point-to-point fits alone.

In the simulator algorithms are known (benchmarks/known_algorithms.py): every cell is predicted from messages between two
processes, of which no collective operation is one. Of real libraries the algorithm is not known; `identify` finds it in the cells
with an even rank among the sizes, and the cells of the other sizes are predicted with what is found at the next smaller one:

    python benchmarks/collective_predictions.py                                       simulated, the bar is a median of 25 %
    python benchmarks/collective_predictions.py --virtual                             libraries in virtual time, 3 %
    python benchmarks/collective_predictions.py --runs RUN RUN ... --card CARD.toml   measured, without a bar

In virtual time two libraries were told which algorithm to use (benchmarks/virtual_algorithms.py). The cards are fitted to
messages between two processes of the same libraries on the same virtual machine, by `scalkit model fit --clock virtual`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from lessons.known import read_known

BAR, BAR_VIRTUAL = 0.25, 0.03
CARDS = sorted((Path(__file__).resolve().parents[1] / "data/models/virtual").glob("*.toml"))
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


def in_virtual_time(cards: list[Path]) -> bool:
    """Print how far closed forms on cards are off what libraries take in virtual time; return whether the bar is kept."""
    import virtual_algorithms

    from scalkit.perfmodels.files.card import read_card

    read = [read_card(card) for card in cards]
    messages = {
        library: one.point_to_point for library in virtual_algorithms.WIRES for one in read if one.name.startswith(library)
    }
    every: dict[str, list[float]] = {}
    for (library, operation, algorithm), cells in virtual_algorithms.by_algorithm(virtual_algorithms.read()).items():
        if library not in messages:
            continue
        S, P, times = (np.array([getattr(row, key) for row in cells], float) for key in ("S", "P", "time_ns"))
        forms = virtual_algorithms.predictions(operation, messages[library], S, P)
        known = [1e9 * forms[row.sent][k] / times[k] - 1 for k, row in enumerate(cells) if row.sent in forms]
        errors = np.abs(known)[np.isfinite(known)]
        if len(errors):
            every.setdefault(library, []).extend(errors)
            middle, worst = 100 * np.median(errors), 100 * errors.max()
            print(f"  {library:9} {operation:14} {algorithm:19} median {middle:6.3f} %, worst {worst:6.1f} %")
    for library, errors in every.items():
        nine = 100 * np.quantile(errors, 0.9)
        print(f"{library}: median {100 * np.median(errors):.3f} %, 90 % of the {len(errors)} cells within {nine:.1f} %")
    return bool(every) and all(np.median(errors) <= BAR_VIRTUAL for errors in every.values())


def measured(runs: list[str], card: str) -> None:
    """Print the errors of each function of real libraries."""
    import scalkit as sk
    from scalkit.perfmodels.collectives.study import study
    from scalkit.perfmodels.files.sources import message_of

    between_two: list[float] = []
    data = sk.read(runs if len(runs) > 1 else runs[0], parameter=["p", "S"])
    for one in study(data, message_of(card)):
        if one.predicted is not None:
            print(f"  {one.function:14} {one.predicted}")
        if one.predicted is not None and one.predicted.alone is not None:
            print(f"  {'':14} with a core for each process: {one.predicted.alone}")
        if one.in_context is not None:
            print(f"  {'':14} with two constants from its own runs: {one.in_context}")
            own = one.in_context.cells.P == 2
            errors = 100 * np.abs(one.in_context.predicted / one.in_context.cells.time - 1)[own]
            print(f"  {'':14} of these, with 2 processes: {', '.join(f'{error:.0f} %' for error in errors)}")
            between_two += errors[np.isfinite(errors)].tolist()
    if between_two:
        print(f"all with 2 processes: median {np.median(between_two):.1f} %, {len(between_two)} cells")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--virtual", nargs="*", type=Path, metavar="CARD", help="cards in virtual time (default: those in data/)")
    parser.add_argument("--runs", nargs="+", default=[], metavar="RUN")
    parser.add_argument("--card", metavar="FILE")
    args = parser.parse_args()
    if args.runs:
        if not args.card:
            parser.error("--runs needs --card")
        measured(args.runs, args.card)
        return 0
    if args.virtual is not None:
        return 0 if in_virtual_time(args.virtual or CARDS) else 1
    return 0 if simulated(args.files) else 1


if __name__ == "__main__":
    sys.exit(main())
