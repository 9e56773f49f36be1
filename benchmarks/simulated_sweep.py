"""What a sweep of 8 collectives over p = 2..1024 on the simulated fat tree costs, 8 processes a node.

Prints processor time and largest memory of each launch and of all, and whether a second sweep gives the same bits:

    python benchmarks/simulated_sweep.py [--largest 1024] [--repeat]

The bar: at most 60 s of processor time and 200 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scalkit.bench.arguments import choose
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import SimulatedMpi, simulate
from scalkit.support.native import build, sources

BAR_S, BAR_MIB = 60.0, 200.0


def launch(mpi: SimulatedMpi, program: str, n: int, ops: str, out: Path) -> tuple[float, float]:
    """Return processor time in s and largest memory in MiB of one launch."""
    options = [f"--{name}={value}" for name, value in mpi.options.items()]
    command = mpi.command(n, program, f"--out={out}", f"--expect-np={n}", "--seed=1", f"--ops={ops}", *options)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"p = {n} ended with status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def sweep(mpi: SimulatedMpi, program: str, counts: list[int], ops: str) -> tuple[float, float, list[str]]:
    """Return processor time, largest memory, and all records but the first of each file."""
    total_s = most_mib = 0.0
    records: list[str] = []
    for n in counts:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "time.jsonl"
            seconds, mib = launch(mpi, program, n, ops, out)
            records += out.read_text(encoding="utf-8").splitlines()[1:]
        print(f"p = {n:4d}: {seconds:6.2f} s, {mib:5.0f} MiB", flush=True)
        total_s, most_mib = total_s + seconds, max(most_mib, mib)
    return total_s, most_mib, records


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1024)
    parser.add_argument("--repeat", action="store_true", help="sweep twice and compare")
    args = parser.parse_args()
    mpi = simulate(load_platform("juropa"), per_node=8)
    tree = sources("microbench")
    program = str(build(tree, mpi.mpicc, library=mpi.library).program("sk_time"))
    ops = ",".join(choose(tree, ["collectives"], [])["collectives"])
    counts = [2**i for i in range(1, 14) if 2**i <= args.largest]
    total_s, most_mib, records = sweep(mpi, program, counts, ops)
    within = total_s <= BAR_S and most_mib <= BAR_MIB
    print(f"{len(ops.split(','))} collectives: {total_s:.1f} s of processor time, {most_mib:.0f} MiB; within the bar: {within}")
    if not args.repeat:
        return 0 if within else 1
    again = sweep(mpi, program, counts, ops)[2]
    same = records == again
    print(f"the second sweep has the same bits: {same} ({sum(json.loads(one)['rec'] == 'cell' for one in again)} cells)")
    return 0 if within and same else 1


if __name__ == "__main__":
    sys.exit(main())
