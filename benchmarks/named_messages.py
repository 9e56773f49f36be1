"""How often `scalkit model messages` names the algorithm that MPICH and Open MPI were told to use, in virtual time.

The libraries run unmodified above the layer of virtual time, which writes down every message. A cell is
right if the algorithm is named because all its messages agree in sender, receiver, bytes and order; all names that are given
then send the same messages. An algorithm that is not on the list sends others, so it is named by its edges at most, which is no
proof: each cell is named once more without the algorithm that was used, and those that send the same.

    python benchmarks/named_messages.py MPICC... [-n 4,7,8,13,16,32] [--sizes 8,1024,65536] [--network ethernet]

Exit status 1 if fewer than 90 % are right, or more than 1 % are named as something else.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from unittest.mock import patch

from virtual_forced import ALWAYS, FORCED, Forced, rounds

from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.virtual.account import record_messages
from scalkit.perfmodels import name_messages
from scalkit.perfmodels.collectives.cells import FUNCTIONS
from scalkit.perfmodels.collectives.message_flow import Flow, Plays
from scalkit.perfmodels.played import Machine

FUNCTION_OF = {operation: function for function, operation in FUNCTIONS.items()}
BAR, WRONG = 0.9, 0.01


class Without(Plays):
    """All algorithms but those that send the same messages as the one that was used."""

    def __init__(self, plays: Plays, used: tuple[str, ...]) -> None:
        super().__init__(plays.library, plays.machine)
        self.used = used

    def names(self, operation: str) -> tuple[str, ...]:
        return tuple(name for name in super().names(operation) if name not in self.used)


def flows(mpicc: str, network: str, counts: list[int], sizes: list[int]) -> list[tuple[Forced, Flow, Flow]]:
    """Return what was forced, and what its messages are called, with and without it on the list."""
    mpi = find_targets([mpicc], clock="virtual", network=network)[0].mpi
    one = mpi.network  # type: ignore[attr-defined]
    plays = Plays(mpi.kind, Machine.of(**one.machine))
    found = []
    for chosen in rounds(FORCED[mpi.kind]):
        variables = {key: value for forced in chosen for key, value in forced.variables.items()}
        for P in counts:
            for S in sizes:
                functions = [FUNCTION_OF[forced.operation] for forced in chosen]
                with patch.dict(os.environ, {**ALWAYS[mpi.kind], **variables}):
                    recorded = record_messages(mpi, functions, P, S)  # type: ignore[arg-type]
                for forced, each in zip(chosen, recorded, strict=True):
                    given = (each.function, forced.operation, P, S, each.messages, plays)
                    named = name_messages(*given)
                    unknown = Without(plays, (*named.names, forced.algorithm))
                    found.append((forced, named, name_messages(*given[:-1], unknown)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpicc", nargs="+")
    parser.add_argument("-n", default="4,7,8,13,16,32")
    parser.add_argument("--sizes", default="8,1024,65536")
    parser.add_argument("--network", default="cluster")
    args = parser.parse_args()
    counts, sizes = ([int(word) for word in text.split(",")] for text in (args.n, args.sizes))
    missed = False
    for mpicc in args.mpicc:
        found = flows(mpicc, args.network, counts, sizes)
        levels = Counter(full.match if forced.algorithm in full.names else "wrong" for forced, full, _ in found)
        right = sum(levels[word] for word in ("to the nanosecond", "message by message"))
        wrong = sum(forced.algorithm not in full.names and full.match not in ("", "by its edges") for forced, full, _ in found)
        sure = sum(left_out.match not in ("", "by its edges") for _, _, left_out in found)
        print(f"{mpicc} on {args.network}: {right} of {len(found)} right, {wrong} named as another one; {dict(levels)}")
        print(f"  without the algorithm on the list: {len(found) - sure} of {len(found)} are other or unsure, {sure} named")
        for forced, full, _ in found:
            if forced.algorithm not in full.names or full.match in ("", "by its edges"):
                print(f"  {forced.operation}, {forced.algorithm}: {full.sentence}")
        missed = missed or right < BAR * len(found) or max(wrong, sure) > WRONG * len(found)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
