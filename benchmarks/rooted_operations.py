"""Broadcasts from other roots, on sub-communicators and of scattered data: models against SimGrid SMPI; nothing is measured.

The bundled fat tree with 8 processes a node, filled in blocks or in turn; messages within a node and between nodes are fitted to
round trips alone:

    python benchmarks/rooted_operations.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from known_algorithms import MESSAGES, ROOT, cells

from scalkit.bench.functions.user import user_functions
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import SimulatedMpi, simulate
from scalkit.native import build, sources
from scalkit.perfmodels import Placement, PointToPoint, fit_messages, in_groups, over_roots

P, PER_NODE, SIZES = 32, 8, (8, 1024)
MESSAGE_SIZES = (1, 8, 32, 100, 200, 300, 400, 600, 700, 800, 1024, 1200, 1400)
EXAMPLES = ROOT / "microbench/examples"


def placed(mpi: SimulatedMpi, hosts: tuple[str, ...]) -> SimulatedMpi:
    """Return the machine with one process on each of these hosts, which may repeat."""
    return replace(mpi, platform=replace(mpi.platform, hosts=hosts, scatter_seed=None))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", action="store_true", help="one size, two roots and two halves, to see that it works")
    most = 1 if parser.parse_args().few else None
    message_sizes = MESSAGE_SIZES[:: 3 if most else 1]
    mpi = simulate(load_platform("juropa"), per_node=1)
    tree = sources("microbench")
    timing = [str(build(tree, mpi.mpicc, library=mpi.library).program("sk_time"))]
    programs = {
        name: list(user_functions([str(EXAMPLES / f"{name}.c")], tree, mpi).command)
        for name in ("bcast_roots", "allreduce_halves", "message_burst")
    }
    hosts = mpi.platform.hosts
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        messages: dict[str, PointToPoint] = {}
        for kind, pair in {"near": (hosts[0], hosts[0]), "far": (hosts[0], hosts[1])}.items():
            two = placed(mpi, pair)
            times = np.array([cells(two, timing, 2, size, "Ping_pong", folder)["Ping_pong"] for size in message_sizes])
            bursts = [cells(two, programs["message_burst"], 2, size, "", folder)["message_burst"] for size in message_sizes]
            time, gap = (
                fit_messages(message_sizes, one).point_to_point(beyond=True).time
                for one in (times, (np.array(bursts) - times) / (MESSAGES - 1))
            )
            messages[kind] = PointToPoint(time, gap, name=kind)
        errors = []
        for order in ("block", "cyclic")[:most]:
            place = Placement(PER_NODE, order)
            here = placed(mpi, tuple(hosts[node] for node in place.nodes(P)))
            for size in SIZES[:most]:
                model = over_roots("broadcast", "binomial", messages["near"], messages["far"], P=P, S=size, placements=[place])
                for root in range(0, P, 16 if most else 3):
                    os.environ["SCALKIT_ROOT"] = str(root)
                    time = cells(here, programs["bcast_roots"], P, size, "", folder)["bcast_roots"]
                    errors.append(abs(model.times[0, root] / time - 1))
                    print(f"{place}, S = {size}, root {root}: {1e6 * time:.2f} us, model {1e6 * model.times[0, root]:.2f} us")
        print(
            f"broadcast over roots and placements: median error {100 * np.median(errors):.1f} %, worst {100 * max(errors):.0f} %"
        )
        errors = []
        alone = placed(mpi, hosts[:64])
        for size in SIZES[:most]:
            for n in (4, 8, 16, 32, 64)[:most]:
                time = cells(alone, programs["allreduce_halves"], n, size, "", folder)["allreduce_halves"]
                model_s = float(in_groups("allreduce", "recursive-doubling", messages["far"], 2)(S=size, P=n))
                errors.append(abs(model_s / time - 1))
        print(f"allreduce in two halves: median error {100 * np.median(errors):.1f} %, worst {100 * max(errors):.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
