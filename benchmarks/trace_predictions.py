"""Predicts a recorded program on another network, and runs it there in virtual time: how far are the two apart?

python benchmarks/trace_predictions.py [--processes 4,6,8] [--sizes 100,1000,10000] [--network cluster,ethernet]

The program (trace_predictions.c) exchanges messages in a ring and calls collective operations. Computing costs no time in
either.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import settings

PROGRAM = Path(__file__).with_suffix(".c")


def scalkit(mpi: Mpi, *words: str) -> str:
    """Return what a command prints."""
    given = {**os.environ, **settings(mpi.kind, library=mpi.library, oversubscribed=True)}
    command = [sys.executable, "-m", "scalkit", *words]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def run_there(mpi: Mpi, p: int, program: list[str], network: str, out: Path) -> float:
    """Return when the last process of a program ends in virtual time [s]."""
    command = shlex.join(["mpiexec", "-n", "{p}", *program])
    where = ["--clock", "virtual", "--network", network, "--mpi", mpi.mpicc, "--out", str(out)]
    scalkit(mpi, "measure", *where, "--runs", "1", "--command", command, "-p", f"p={p}")
    (path,) = out.glob("*.jsonl")
    cells = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (account,) = (cell["account"] for cell in cells if "account" in cell)
    return float(account["completion_ns"]) * 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", default="4,6,8")
    parser.add_argument("--sizes", default="100,1000,10000", help="numbers of 8 B of a message")
    parser.add_argument("--network", default="cluster,ethernet")
    args = parser.parse_args()
    mpi = find_mpi()
    print("processes  numbers  network   predicted      virtual time   difference")
    with tempfile.TemporaryDirectory() as made:
        program = Path(made) / "program"
        subprocess.run([mpi.mpicc, "-O1", str(PROGRAM), "-o", str(program)], check=True)
        for p in map(int, args.processes.split(",")):
            for size in args.sizes.split(","):
                trace = Path(made) / f"trace-{p}-{size}"
                more = {"LD_PRELOAD": "", "SCALKIT_TRACE": ""}
                command = mpi.command(p, str(program), size, forward=more)
                scalkit(mpi, "trace", "run", "--record-only", "--dir", str(trace), "--mpicc", mpi.mpicc, "--", *command)
                for network in args.network.split(","):
                    told = json.loads(
                        scalkit(mpi, "trace", "predict", str(trace), "--network", network, "--scale", "0", "--json")
                    )
                    out = Path(made) / f"virtual-{p}-{size}-{network}"
                    there, here = run_there(mpi, p, [str(program), size], network, out), told[network]["time_s"]
                    print(f"{p:9}  {size:>7}  {network:8}  {here:.6e} s  {there:.6e} s  {100 * (here / there - 1):+.2f} %")


if __name__ == "__main__":
    main()
