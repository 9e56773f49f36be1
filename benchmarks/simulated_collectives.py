"""Simulates MPI_Bcast and MPI_Allreduce over p = 2..1024 and six sizes on the bundled fat tree, a process a node.

Each by a tree, O(S log P), and by what needs the fewest bytes, O(S + log P). Writes, of SimGrid SMPI and not measured:

    data/models/simulated-juropa.csv          all, as notebooks/lessons/known.py reads it
    data/models/simulated-juropa.toml         the model of a message, fitted to those in it
    data/models/simulated-juropa-trees.nc     by trees, as `scalkit.read` reads it
    data/models/simulated-juropa-best.nc      by the others

    python benchmarks/simulated_collectives.py [--largest 1024]
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from known_algorithms import message_rows

from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.measure import write_netcdf

sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from lessons.known import read_known

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "data/models"
SIZES = (8, 64, 512, 4096, 32768, 262144)
CHOSEN = {
    "trees": {"broadcast": ("binomial", "binomial_tree"), "allreduce": ("recursive-doubling", "rdb")},
    "best": {"broadcast": ("scatter-doubling", "scatter_rdb_allgather"), "allreduce": ("rabenseifner", "rab1")},
}
FUNCTIONS = {"broadcast": "MPI_Bcast", "allreduce": "MPI_Allreduce"}
SHORT = {"broadcast": "bcast"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1024)
    parser.add_argument("--only", choices=tuple(CHOSEN), help="only these algorithms, printed and not written")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [] if args.only else message_rows(simulate(load_platform("juropa"), per_node=1), Path(folder), 63)
    for name, chosen in CHOSEN.items():
        if args.only not in (None, name):
            continue
        algorithms = {SHORT.get(op, op): smpi for op, (_, smpi) in chosen.items()} | {"allgather": "rdb"}
        mpi = replace(simulate(load_platform("juropa"), per_node=1), algorithms=algorithms)
        with tempfile.TemporaryDirectory() as folder:
            program = str(Path(folder) / "collectives")
            source = str(Path(__file__).with_suffix(".c"))
            subprocess.run([mpi.mpicc, "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)
            for P in [2**k for k in range(1, 11) if 2**k <= args.largest]:
                done = subprocess.run(
                    mpi.command(P, program, *map(str, SIZES)), capture_output=True, text=True, check=True
                ).stdout
                for line in done.splitlines():
                    operation, size, ns = line.split()
                    rows.append((operation, chosen[operation][0], P, int(size), 1e-9 * float(ns)))
                print(f"{name}: P = {P}\n{done if args.only else ''}", end="", flush=True)
    if args.only:
        return 0
    out = MODELS / "simulated-juropa.csv"
    with out.open("w", encoding="utf-8", newline="") as stream:
        stream.write("# simulated with SMPI Version 3.32: fat tree juropa, a process a node, up to 1024; nothing is measured\n")
        stream.write("# made by benchmarks/simulated_collectives.py\n")
        stream.write("operation,algorithm,P,S,time_s\n")
        csv.writer(stream, lineterminator="\n").writerows((op, one, P, S, f"{t:.9g}") for op, one, P, S, t in rows)
    known = read_known(out)
    out.with_suffix(".toml").write_text(known.catalogue(), encoding="utf-8")
    for name, chosen in CHOSEN.items():
        write_netcdf(
            known.dataset({FUNCTIONS[op]: (op, one) for op, (one, _) in chosen.items()}), MODELS / f"simulated-juropa-{name}.nc"
        )
    print(f"{len(rows)} rows in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
