"""Broadcasts of scattered data on a real library, against models that know messages between two processes alone.

Measures MPI_Bcast of contiguous bytes and of every second, or every eighth, number of eight bytes between two processes, and
compares with what the model card says: its message, and its packing at that stride. The sizes are none of those that packing is
fitted to. Run it on an idle machine:

    scalkit mpi add mpich
    python benchmarks/strided_collectives.py --mpi mpich=data/models/mpich-5.0.2.toml
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from scalkit.bench.arguments import FUNCTIONS, Arguments
from scalkit.bench.campaign.campaign import prepare
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.targets import find_targets
from scalkit.formats.read import read
from scalkit.perfmodels import collective, read_card, with_datatype
from scalkit.perfmodels.formulas.quantities import format_value

STRIDED = str(Path(__file__).resolve().parents[1] / "microbench/examples/bcast_strided.c")
COLLECTIVES = "collectives"
SIZES = (4096, 16384, 262144)
STRIDES = (2, 8)


def time_of(mpi: Mpi, size: int, stride: int, folder: Path, budget_s: float) -> float:
    """Return the median time in s of a broadcast between two processes; stride 0 is a contiguous one."""
    os.environ["SCALKIT_STRIDE"] = str(stride)
    kind, more = (FUNCTIONS, {"functions": (STRIDED,)}) if stride else (COLLECTIVES, {"ops": ("MPI_Bcast",)})
    arguments = Arguments((kind,), (2,), 1, 20261, size=size, budget_s=budget_s, **more)  # type: ignore[arg-type]
    prepare(folder, arguments, mpi).run()
    return float(np.nanmedian(read(folder)["time"].values))


def main() -> int:
    """Print a row for each library, size and stride."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", required=True, metavar="NAME=CARD", help="of a library, or its mpicc")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each time (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="bytes of a broadcast")
    args = parser.parse_args()
    print("| library | size | stride | contiguous | strided | model | off by | added by packing | model | off by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    errors = []
    for library, file in (one.split("=", 1) for one in args.mpi):
        mpi, card = find_targets([library])[0].mpi, read_card(file)
        plain = card.point_to_point
        for size in args.sizes:
            before = float(collective("broadcast", "binomial", plain)(S=size, P=2))
            with tempfile.TemporaryDirectory() as name:
                times = {k: time_of(mpi, size, k, Path(name) / str(k), args.budget) for k in (0, *STRIDES)}
            for stride in STRIDES:
                message = with_datatype(plain, card.packing(stride))
                model = float(collective("broadcast", "binomial", message)(S=size, P=2))
                pairs = [(times[stride], model), (times[stride] - times[0], model - before)]
                errors.append([expected / measured - 1 for measured, expected in pairs])
                shown = [
                    f"{format_value(measured, 's')} | {format_value(expected, 's')} | {100 * off:+.0f} %"
                    for (measured, expected), off in zip(pairs, errors[-1], strict=True)
                ]
                print(
                    f"| {card.name} | {format_value(size, 'B')} | {stride} | {format_value(times[0], 's')} "
                    f"| {' | '.join(shown)} |",
                    flush=True,
                )
    medians, most = np.median(np.abs(errors), axis=0), np.max(np.abs(errors), axis=0)
    print(f"\nstrided broadcasts: median error {100 * medians[0]:.0f} %, worst {100 * most[0]:.0f} %")
    print(f"what packing adds: median error {100 * medians[1]:.0f} %, worst {100 * most[1]:.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
