"""Spread of the reported value between launches: scalkit beside IMB (Intel MPI) and mpi4py.bench (MPICH), two processes.

Both sides report one number for a launch: IMB its t_max (collectives) or t (PingPong), mpi4py.bench its mean time, scalkit
the first quartile of its repetitions. Launches alternate. The spread is the interquartile range of the launches over their
median; the bar is that ours is at most half of theirs. The libraries come from ``scalkit mpi add intel`` and
``scalkit mpi add mpich``; the comparison with one that is not there is left out. Needs a quiet machine: the share of the
processors that other programs used is printed, and a launch above ``--foreign`` is done again.

It also states scalkit's own overhead: what an empty function seems to take, and how long a repetition lasts beside the
operation.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scalkit.bench.functions.user import user_functions
from scalkit.bench.libraries.mpi import Mpi, cores, settings
from scalkit.bench.libraries.targets import find_targets
from scalkit.errors import ScalkitError
from scalkit.support.native import build, sources

SIZE = 8
EMPTY = "int empty(struct sk_call *call) { (void)call; return 0; }\n"


@dataclass
class Side:
    """One program: how a launch gives values in us by name, and what launches gave."""

    name: str
    launch: Callable[[], dict[str, float]]
    values: dict[str, list[float]] = field(default_factory=dict)
    foreign: list[float] = field(default_factory=list)


def busy_seconds() -> tuple[float, float]:
    """Return the seconds that all cores were busy since boot, and those of this program's children that have ended."""
    fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    own = os.times()
    idle = fields[3] + fields[4]
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


def measured(launch: Callable[[], dict[str, float]], most: float, tries: int) -> tuple[dict[str, float], float]:
    """Return the values of a launch and the share that others used meanwhile; done again while that is above `most`."""
    for attempt in range(tries):
        (busy, own), begin = busy_seconds(), time.monotonic()
        values = launch()
        (busy_then, own_then), wall = busy_seconds(), time.monotonic() - begin
        foreign = max(0.0, (busy_then - busy) - (own_then - own)) / (wall * cores())
        if foreign <= most or attempt == tries - 1:
            return values, foreign
        time.sleep(2)
    raise AssertionError("tries is at least 1")


def output(command: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def surroundings(mpi: Mpi) -> dict[str, str]:
    return {**mpi.environment, **settings(mpi.kind, oversubscribed=cores() < 2)}


def imb(mpi: Mpi) -> dict[str, float]:
    """Return what IMB reports for 8 B: t_max of Bcast and Allreduce, t of PingPong, in us."""
    program = str(Path(mpi.mpicc).with_name("IMB-MPI1"))
    words = [program, "-npmin", "2", "-msglog", "3:3", "PingPong", "Bcast", "Allreduce"]
    text = output(mpi.command(2, *words), surroundings(mpi))
    found = {}
    for block in re.split(r"^# Benchmarking ", text, flags=re.MULTILINE)[1:]:
        name = block.split()[0]
        header = next(line.split() for line in block.splitlines() if line.split()[:1] == ["#bytes"])
        row = next(line.split() for line in block.splitlines() if line.split()[:1] == [str(SIZE)])
        column = header.index("t_max[usec]") if "t_max[usec]" in header else header.index("t[usec]")
        found[name] = float(row[column])
    return found


def mpi4py_bench(mpi: Mpi) -> dict[str, float]:
    """Return the mean time that ``python -m mpi4py.bench pingpong`` reports for 8 B, in us."""
    words = [sys.executable, "-m", "mpi4py.bench", "pingpong", "-m", str(SIZE), "-n", str(SIZE)]
    text = output(mpi.command(2, *words), surroundings(mpi))
    row = next(line.split() for line in text.splitlines() if line.split()[:1] == [str(SIZE)])
    return {"PingPong": float(row[row.index("|") + 1]) * 1e6}


def ours(mpi: Mpi, ops: Mapping[str, str], reps: int, program: list[str] | None = None) -> dict[str, float]:
    """Return the first quartiles of scalkit's repetitions, in us, by the names that the others use."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        if program is None:
            program = [str(build(sources("microbench"), mpi.mpicc, library=mpi.library).program("sk_time"))]
        words = [*program, f"--out={path}", "--expect-np=2", f"--size={SIZE}", f"--ops={','.join(ops)}", f"--max-reps={reps}"]
        output(mpi.command(2, *words), surroundings(mpi))
        cells = [json.loads(line) for line in path.read_text().splitlines() if '"rec":"cell"' in line]
        wall_s = json.loads(path.read_text().splitlines()[-1])["wall_s"]
    found = {}
    for op, name in ops.items():
        passes = [cell for cell in cells if cell["op"] == op]
        kept = [t for cell in passes for i, t in enumerate(cell["t_ns"]) if i not in cell["late_at"]]
        found[name] = statistics.quantiles(kept, n=4)[0] * 1e-3
    found["wall per repetition"] = wall_s * 1e6 / sum(cell["n"] for cell in cells)
    return found


def spread(values: list[float]) -> float:
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def compare(theirs: Side, own: Side, args: argparse.Namespace) -> list[dict[str, object]]:
    for number in range(args.launches):
        for side in (theirs, own) if number % 2 == 0 else (own, theirs):
            values, foreign = measured(side.launch, args.foreign, args.tries)
            side.foreign.append(foreign)
            for name, value in values.items():
                side.values.setdefault(name, []).append(value)
            print(f"  {side.name}: {values}, others {foreign:.1%}", file=sys.stderr, flush=True)
    return [
        {
            "operation": name,
            "theirs": theirs.name,
            "median_us": statistics.median(theirs.values[name]),
            "spread": spread(theirs.values[name]),
            "our_median_us": statistics.median(own.values[name]),
            "our_spread": spread(own.values[name]),
            "foreign_at_most": max(*theirs.foreign, *own.foreign),
        }
        for name in theirs.values
    ]


def overhead(mpi: Mpi, reps: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.c"
        path.write_text(EMPTY)
        program = list(user_functions([str(path)], sources("microbench"), mpi).command)
        return ours(mpi, {"empty": "empty"}, reps, program)


def library(name: str) -> Mpi | None:
    """Return a library that was added, or the one of an mpicc; None if there is none that works, which is said."""
    try:
        return find_targets([name])[0].mpi
    except ScalkitError as error:
        print(f"left out: {error}", file=sys.stderr)
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=10, help="of each side (default: %(default)s)")
    parser.add_argument("--reps", type=int, default=400, help="of scalkit in a launch, at most (default: %(default)s)")
    parser.add_argument("--foreign", type=float, default=0.02, help="most load of others (default: %(default)s)")
    parser.add_argument("--tries", type=int, default=5, help="for a launch on a busy machine (default: %(default)s)")
    parser.add_argument("--intel", default="intel", help="library beside IMB, or path of its mpicc (default: %(default)s)")
    parser.add_argument("--mpich", default="mpich", help="library beside mpi4py.bench, or path of its mpicc")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if args.launches < 2 or args.tries < 1:
        parser.error("--launches needs at least 2, --tries at least 1")
    intel, mpich = library(args.intel), library(args.mpich)
    collectives = {"MPI_Bcast": "Bcast", "MPI_Allreduce": "Allreduce", "Ping_pong": "PingPong"}
    rows = []
    if intel:
        own = Side("scalkit, Intel MPI", lambda: ours(intel, collectives, args.reps))
        rows += compare(Side("IMB", lambda: imb(intel)), own, args)
    if mpich:
        own = Side("scalkit, MPICH", lambda: ours(mpich, {"Ping_pong": "PingPong"}, args.reps))
        rows += compare(Side("mpi4py.bench", lambda: mpi4py_bench(mpich)), own, args)
    if not (here := mpich or intel):
        sys.exit("no library is there to compare with")
    empty = overhead(here, args.reps)
    if args.json:
        print(json.dumps({"rows": rows, "empty_us": empty, "launches": args.launches}))
        return
    print(f"{'operation':10s} {'theirs':14s} {'median us':>10s} {'spread':>8s} {'ours us':>10s} {'spread':>8s}  at most half?")
    for row in rows:
        holds = "yes" if row["our_spread"] <= row["spread"] / 2 else "no"
        print(
            f"{row['operation']:10s} {row['theirs']:14s} {row['median_us']:10.3f} {row['spread']:8.1%} "
            f"{row['our_median_us']:10.3f} {row['our_spread']:8.1%}  {holds}"
        )
    print(f"load of others: at most {max(row['foreign_at_most'] for row in rows):.1%}")
    print(
        f"an empty function seems to take {empty['empty']:.3f} us; a repetition of it lasts "
        f"{empty['wall per repetition']:.1f} us, start and end of the launch included"
    )


if __name__ == "__main__":
    main()
