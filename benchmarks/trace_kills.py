"""Kills one process of a recorded program again and again, and counts the records that any process lost: none may be.

python benchmarks/trace_kills.py [--kills 100] [--processes 4]

Each process counts the calls that it has come back from in a mapped file; the trace must hold these, and at most one more. The
kill comes at a random instant, with buffers of 16, 1000 and 65,536 records, so that it also meets the recorder while it writes.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.support import native
from scalkit.trace.local.part import load

KERNEL = Path(__file__).resolve().parents[1] / "microbench"


def kept(folder: Path, rank: int) -> tuple[int, int]:
    """Return process number and calls of a rank, zeros while it has not begun."""
    try:
        values = np.fromfile(folder / str(rank), dtype=np.int64)
    except OSError:
        return 0, 0
    return (int(values[0]), int(values[1])) if len(values) == 2 else (0, 0)


def kill_once(mpi: Mpi, program: Path, library: Path, n: int, buffer: int, chance: random.Random) -> tuple[int, int]:
    """Run the program, kill a rank; return the calls that all made, and how many of them the trace lacks.

    Raises
    ------
    RuntimeError
        If the program did not begin, or the trace has calls that were not made.
    """
    with tempfile.TemporaryDirectory(prefix="scalkit-") as made:
        counts, trace = Path(made) / "counts", Path(made) / "trace"
        counts.mkdir()
        more = {"LD_PRELOAD": str(library), "SCALKIT_TRACE": str(trace), "SCALKIT_TRACE_BUFFER": str(buffer)}
        command = mpi.command(n, str(program), str(counts), forward=more)
        quiet = subprocess.DEVNULL
        given = {**os.environ, **settings(mpi.kind, library=mpi.library, oversubscribed=True), **more}
        started = subprocess.Popen(command, env=given, stdout=quiet, stderr=quiet)
        limit = time.monotonic() + 60
        while not all(kept(counts, rank)[0] for rank in range(n)) and time.monotonic() < limit:
            time.sleep(0.01)
        pids = [kept(counts, rank)[0] for rank in range(n)]
        if not all(pids):
            started.kill()
            raise RuntimeError(f"the program did not begin: {' '.join(command)}")
        time.sleep(chance.uniform(0.0, 0.3))
        os.kill(pids[chance.randrange(n)], signal.SIGKILL)
        started.wait(timeout=60)
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < limit:
            time.sleep(0.01)
        found = load(trace, keep_going=True)
        calls = lost = 0
        for rank in range(n):
            numbers = found.calls["number"][found.calls["location"] == rank]
            own = kept(counts, rank)[1]
            if len(numbers) > own + 1 or numbers.tolist() != list(range(len(numbers))):
                raise RuntimeError(f"rank {rank} made {own} calls, and the trace has {len(numbers)}")
            calls, lost = calls + own, lost + max(0, own - len(numbers))
        if [problem.kind for problem in found.problems] != ["truncated"] * n:
            raise RuntimeError(f"the trace has other problems: {[str(one) for one in found.problems]}")
    return calls, lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=4, help="of the program (default: %(default)s)")
    args = parser.parse_args()
    mpi = find_mpi()
    library = native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")
    calls = lost = 0
    chance = random.Random(20)
    with tempfile.TemporaryDirectory(prefix="scalkit-") as made:
        program = Path(made) / "killed"
        source = KERNEL / "trace/tests/killed.c"
        subprocess.run([mpi.mpicc, "-std=gnu11", "-O1", str(source), "-o", str(program)], check=True)
        for k in range(args.kills):
            one = kill_once(mpi, program, library, args.processes, (16, 1000, 1 << 16)[k % 3], chance)
            calls, lost = calls + one[0], lost + one[1]
    print(f"{args.kills} kills, {calls} calls of {args.processes} processes each, {lost} lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
