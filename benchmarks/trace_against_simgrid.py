"""Predicts a program from its trace, and simulates it with SimGrid SMPI on the same network: how far are the two apart?

python benchmarks/trace_against_simgrid.py [--processes 4,8,16] [--sizes 100,1000,10000]

The program is trace_predictions.c: messages in a ring, six collective operations, and a barrier. Both have the same algorithms
of collective operations, by their names, and no time between calls. What SimGrid needs once, at the first collective operation,
is no part: times are those of 3 rounds less that of 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scalkit.support import native
from scalkit.why import predict

KERNEL = Path(__file__).resolve().parents[1] / "microbench"
PROGRAM = Path(__file__).with_name("trace_predictions.c")
NETWORKS = {"fast": (1.5e-6, 0.3e-6, 0.1e-9), "slow": (20e-6, 2e-6, 1e-9)}  # L, o [s], G [s/B]
ALGORITHMS = {  # SimGrid's, and ours
    "allreduce": ("rdb", "recursive-doubling"),
    "bcast": ("binomial_tree", "broadcast=binomial"),
    "alltoall": ("basic_linear", "linear"),
    "gather": ("ompi_binomial", "binomial"),
    "reduce": ("binomial", "binomial"),
    "barrier": ("ompi_bruck", "dissemination"),
}


def simulated(program: Path, platform: Path, o: float, words: list[str], p: int, trace: Path) -> None:
    overheads = [f"--cfg=smpi/{name}:0:{o}:0" for name in ("os", "or", "ois")]
    model = ["latency-factor:1", "bandwidth-factor:1", "weight-S:0", "TCP-gamma:0", "crosstraffic:0"]
    more = [f"--cfg=network/{one}" for one in ("model:CM02", *model)]
    more += [f"--cfg=smpi/{name}:{theirs}" for name, (theirs, _) in ALGORITHMS.items()]
    command = ["smpirun", "-np", str(p), "-platform", str(platform), "--log=root.thres:critical", *overheads, *more]
    given = {**os.environ, "SCALKIT_TRACE": str(trace)}
    command += ["--cfg=smpi/simulate-computation:no", str(program), *words]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False, cwd=platform.parent)
    if done.returncode:
        raise SystemExit(done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="4,8,16")
    parser.add_argument("--sizes", default="100,1000,10000", help="numbers of 8 B of a message")
    args = parser.parse_args()
    library = native.build(KERNEL, "smpicc", makefile="trace/Makefile").program("libsktrace.a")
    names = dict(one[1].split("=") if "=" in one[1] else (key, one[1]) for key, one in ALGORITHMS.items())
    worst = 0.0
    print("network  processes  numbers  predicted      SimGrid        difference")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        whole = ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", "-ldl"]
        subprocess.run(["smpicc", "-std=gnu11", "-O1", str(PROGRAM), *whole, "-o", str(made / "program")], check=True, cwd=made)
        for network, (L, o, G) in NETWORKS.items():
            platform = made / f"{network}.xml"
            platform.write_text(
                '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
                f'<cluster id="c" prefix="n" suffix="" radical="0-63" speed="1Gf" bw="{1 / G:.0f}Bps" lat="{L / 2}s" '
                'sharing_policy="SPLITDUPLEX" loopback_bw="1e15Bps" loopback_lat="0s"/></platform>\n'
            )
            for p in map(int, args.processes.split(",")):
                for size in args.sizes.split(","):
                    found = []
                    for rounds in ("1", "3"):
                        trace = made / f"{network}-{p}-{size}-{rounds}"
                        simulated(made / "program", platform, o, [size, rounds], p, trace)
                        card = f"L={1e6 * L:g}us,o={1e6 * o:g}us,g=0us,G={1e9 * G:g}ns/B"
                        found.append(predict(trace, card, scale=0, algorithms=names))
                    here, there = (getattr(found[1], k) - getattr(found[0], k) for k in ("time_s", "recorded_s"))
                    worst = max(worst, abs(here / there - 1))
                    print(
                        f"{network:7}  {p:9}  {size:>7}  {here:.6e} s  {there:.6e} s  {100 * (here / there - 1):+.1f} %",
                        flush=True,
                    )
    print(f"at most {100 * worst:.1f} % apart")
    return 1 if worst > 0.15 else 0


if __name__ == "__main__":
    sys.exit(main())
