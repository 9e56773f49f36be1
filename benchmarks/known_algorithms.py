"""Simulates collective operations whose algorithms are set by name, and messages of the same machine, with SimGrid SMPI.

Writes data/models/known-NAME.csv, which notebooks/lessons/known.py reads; nothing in it is measured:

    python benchmarks/known_algorithms.py star     64 hosts of one star, messages as on the BlueGene/P of the paper
    python benchmarks/known_algorithms.py juropa   the bundled fat tree, a process a node, with SimGrid's own factors by size

Messages are round trips between two processes, and bursts of ten that are posted at once. About 4 minutes a machine.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from scalkit.bench.functions.user import user_functions
from scalkit.bench.libraries.platforms import Platform, load_platform
from scalkit.bench.libraries.simulator import SimulatedMpi, simulate
from scalkit.perfmodels import PointToPoint, bluegene_p, to_simgrid
from scalkit.support.native import build, sources

ROOT = Path(__file__).resolve().parents[1]
BURST = ROOT / "microbench/examples/message_burst.c"
MESSAGES = 10
PROCESSES = (4, 8, 12, 16, 32, 64)
VECTORS = (8, 64, 512, 4096, 16384, 65536)
BLOCKS = (8, 64, 512, 2048, 8192, 16384)
OVERHEAD_S = 4e-7
ALLREDUCE = {"recursive-doubling": "rdb", "rabenseifner": "rab1", "ring": "lr", "reduce-broadcast": "redbcast"}
GROUPS = {
    "vectors": {
        "broadcast": {
            "binomial": "binomial_tree",
            "linear": "flattree",
            "pipeline": "NTSL",
            "scatter-ring": "scatter_LR_allgather",
            "scatter-doubling": "scatter_rdb_allgather",
        },
        "reduce": {"binomial": "binomial", "linear": "flat_tree", "pipeline": "NTSL", "rabenseifner": "scatter_gather"},
    },
    "allreduce": {"allreduce": ALLREDUCE},
    "blocks": {
        "allgather": {
            "ring": "ring",
            "recursive-doubling": "rdb",
            "bruck": "bruck",
            "gather-broadcast": "GB",
            "linear": "spreading_simple",
        },
        "alltoall": {"linear": "basic_linear", "pairwise": "pair", "bruck": "bruck"},
        "gather": {"in-turn": "ompi_basic_linear", "binomial": "ompi_binomial"},
        "scatter": {"linear": "ompi_basic_linear", "near-first": "ompi_binomial"},
    },
}
SHORT = {"broadcast": "bcast"}
FUNCTION = {
    "broadcast": "MPI_Bcast",
    "reduce": "MPI_Reduce",
    "allreduce": "MPI_Allreduce",
    "allgather": "MPI_Allgather",
    "alltoall": "MPI_Alltoall",
    "gather": "MPI_Gather",
    "scatter": "MPI_Scatter",
}
ONLY_POWERS = {
    ("broadcast", "scatter-doubling"),
    ("allreduce", "rabenseifner"),
    ("allgather", "recursive-doubling"),
    ("alltoall", "pairwise"),
}
"""What the simulator's implementation, or the model, cannot do with other numbers of processes."""

FIXED = {"allgather": "rdb", "bcast": "binomial_tree", "reduce": "binomial", "gather": "ompi_binomial"}
"""What algorithms that are made of others use."""


def star(folder: Path) -> Platform:
    """Return 64 hosts of one star whose messages take the times of the BlueGene/P."""
    text = to_simgrid(PointToPoint(bluegene_p()["point-to-point"]), hosts=64, overheads_s=(OVERHEAD_S, OVERHEAD_S), name="star")
    file = folder / "star.xml"
    file.write_text(text, encoding="utf-8")
    found = load_platform(str(file))
    return replace(found, overheads_s=dict.fromkeys(("send", "receive", "isend"), OVERHEAD_S))


def cells(mpi: SimulatedMpi, program: list[str], n: int, size: int, ops: str, folder: Path) -> dict[str, float]:
    """Return the median time in s of each operation of one launch."""
    out = folder / "run.jsonl"
    words = [f"--out={out}", f"--expect-np={n}", "--seed=1", f"--size={size}"]
    words += [f"--ops={ops}"] if ops else []
    words += [f"--{name}={value}" for name, value in mpi.options.items()]
    command = mpi.command(n, *program, *words)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"P = {n}, S = {size}, {ops}: status {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, float] = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["rec"] == "cell":
            found[record["op"]] = 1e-9 * float(np.median(record["t_ns"]))
    return found


def message_rows(mpi: SimulatedMpi, folder: Path, far: int, every: int = 1) -> list[tuple[object, ...]]:
    """Return times of messages and gaps between the hosts of process 0 and `far`; sizes are close where protocols switch.

    `every`: of how many sizes one is simulated.
    """
    places = mpi.platform.places(1)
    two = replace(mpi, platform=replace(mpi.platform, hosts=(places[0], places[far]), scatter_seed=None))
    tree = sources("microbench")
    timing = [str(build(tree, mpi.mpicc, library=mpi.library).program("sk_time"))]
    burst = list(user_functions([str(BURST)], tree, mpi).command)
    steps = [2 ** np.arange(0, 7, 0.5), 2 ** np.arange(7, 17.5, 0.2), 2 ** np.arange(17.5, 21)]
    rows: list[tuple[object, ...]] = []
    for size in np.unique(np.round(np.concatenate(steps))).astype(int).tolist()[::every]:
        one = cells(two, timing, 2, size, "Ping_pong", folder)["Ping_pong"]
        many = cells(two, burst, 2, size, "", folder)["message_burst"]
        rows += [("message", "round-trip", 2, size, one), ("gap", "burst", 2, size, (many - one) / (MESSAGES - 1))]
    return rows


def is_itself(operation: str, algorithm: str, P: int, S: int) -> bool:
    """Return whether the simulator uses the algorithm here: rings of parts that are not equal become something else."""
    is_power = P & (P - 1) == 0
    return (is_power or (operation, algorithm) not in ONLY_POWERS) and (algorithm != "ring" or operation != "allreduce" or S >= P)


def algorithm_rows(mpi: SimulatedMpi, folder: Path, few: bool = False) -> list[tuple[object, ...]]:
    """Return the time of every operation by every algorithm in every cell, or in few cells of a few of them."""
    program = [str(build(sources("microbench"), mpi.mpicc, library=mpi.library).program("sk_time"))]
    rows: list[tuple[object, ...]] = []
    most = 1 if few else None
    for group, operations in [("blocks", {"gather": GROUPS["blocks"]["gather"]})] if few else GROUPS.items():
        for k in range(max(map(len, operations.values()))):
            chosen = {op: list(table.items())[k] for op, table in operations.items() if k < len(table)}
            algorithms = {**FIXED, **{SHORT.get(op, op): name for op, (_, name) in chosen.items()}}
            if group == "blocks" and chosen.get("allgather", ("", ""))[0] == "gather-broadcast":
                algorithms["gather"] = "ompi_binomial"
            here = replace(mpi, algorithms=algorithms)
            for P in PROCESSES[:most]:
                for S in (BLOCKS if group == "blocks" else VECTORS)[:most]:
                    ops = {op: one for op, (one, _) in chosen.items() if is_itself(op, one, P, S)}
                    if not ops:
                        continue
                    found = cells(here, program, P, S, ",".join(FUNCTION[op] for op in ops), folder)
                    rows += [(op, one, P, S, found[FUNCTION[op]]) for op, one in ops.items()]
            print(f"{group} {k}: {', '.join(f'{op} {one}' for op, (one, _) in chosen.items())}", flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", choices=("star", "juropa"))
    parser.add_argument("--out", help="by default data/models/known-NAME.csv")
    parser.add_argument("--messages-only", action="store_true", help="print those and write nothing")
    parser.add_argument("--few", action="store_true", help="a few cells, to see that it works")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        platform = star(folder) if args.machine == "star" else load_platform("juropa")
        mpi = simulate(platform, per_node=1)
        rows = message_rows(mpi, folder, 63, 40 if args.few else 1)
        if args.messages_only:
            for row in rows:
                print(*row)
            return 0
        rows += algorithm_rows(mpi, folder, args.few)
    said = {"star": "star of 64 hosts, messages of the BlueGene/P", "juropa": "fat tree juropa, a process a node"}
    out = Path(args.out or ROOT / f"data/models/known-{args.machine}.csv")
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", newline="") as stream:
        stream.write(
            f"# simulated with {mpi.library.split('.  ')[0].split('. ')[0]}: {said[args.machine]}; nothing is measured\n"
        )
        stream.write(
            f"# made by benchmarks/known_algorithms.py {args.machine}; message: half a round trip; gap: of a burst of ten\n"
        )
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["operation", "algorithm", "P", "S", "time_s"])
        writer.writerows((op, one, P, S, f"{t:.9g}") for op, one, P, S, t in rows)
    print(f"{len(rows)} rows in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
