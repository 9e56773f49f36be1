"""Whether virtual time repeats itself: the same launches again, on an idle and on a busy machine, to the nanosecond.

    python benchmarks/virtual_repeats.py --mpi mpich --mpi intel    operations of each library; some minutes a library
    python benchmarks/virtual_repeats.py --compute                  a kernel whose processor time is known

The load is made here: processes that compute, as many as asked for. Every launch measures the operations of the case study;
the times of all repetitions of all operations must be equal in all launches. `first` names those whose first calls differ:
calls that connect processes.
`--compute` lets each process of a program compute for a time that its own clock of processor time gives, and compares that
with the completion in virtual time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scalkit.bench.libraries import installing
from scalkit.bench.libraries.mpi import settings
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.native import build, sources

SIZES = (8, 1024, 65536, 1048576)
PROCESSES = (2, 3, 5, 8, 12, 16)
REPEATS, LOAD, TIMEOUT_S = 5, 8, 300
KERNEL_S = 0.3
KERNEL = f"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
static double used(void)
{{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    volatile double x = 1;
    double begin = used();
    while (used() - begin < {KERNEL_S})
        for (int i = 0; i < 10000; i++)
            x = x * 1.0000001 + 1e-9;
    double mine = used() - begin, most;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%.9f\\n", most);
    return MPI_Finalize();
}}
"""


@dataclass(frozen=True)
class Launch:
    """What one launch measured, by operation: its first call, and all counted ones, in ns."""

    first: tuple[tuple[str, int], ...]
    times: tuple[tuple[str, tuple[int, ...]], ...]


@contextmanager
def load(n: int) -> Iterator[None]:
    """Keep `n` processes computing."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def run(mpi: VirtualMpi, n: int, program: str, *arguments: str) -> str:
    """Return what a launch printed."""
    environment = {
        **os.environ,
        **mpi.environment,
        **settings(mpi.launcher, oversubscribed=True),
        **settings(mpi.kind, oversubscribed=True),
    }
    with mpi.opened() as opened:
        command = opened.command(n, program, *arguments)
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout


def launch(mpi: VirtualMpi, n: int, size: int, ops: str) -> Launch:
    """Return what one launch of the benchmarks measured."""
    program = str(build(sources("microbench"), mpi.mpicc, library=mpi.library).program("sk_time"))
    options = [f"--{name}={value}" for name, value in mpi.options.items()]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        run(mpi, n, program, *options, f"--size={size}", f"--ops={ops}", f"--out={out}")
        records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    cells = [one for one in records if one["rec"] == "cell"]
    return Launch(tuple((one["op"], one["first_ns"]) for one in cells), tuple((one["op"], tuple(one["t_ns"])) for one in cells))


def differing(launches: Sequence[Launch]) -> tuple[set[str], set[str]]:
    """Return the operations whose times differ between launches or within one, and those whose first calls differ."""
    times = {op for one in launches for op, found in one.times if dict(launches[0].times)[op] != found or len(set(found)) > 1}
    first = {op for one in launches for op, found in one.first if dict(launches[0].first)[op] != found}
    return times, first


def compare(mpi: VirtualMpi, n: int, size: int, arguments: argparse.Namespace) -> dict[str, object]:
    """Return a row: which operations did not repeat in launches of which every other one runs under load."""
    launches, failures = [], []
    for repeat in range(arguments.repeats):
        try:
            with load(arguments.load if repeat % 2 else 0):
                launches.append(launch(mpi, n, size, arguments.ops))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            failures.append(str(error)[-300:])
    times, first = differing(launches) if launches else (set(), set())
    return {
        "library": mpi.of.name,
        "p": n,
        "size": size,
        "launches": len(launches),
        "operations": len(launches[0].times) if launches else 0,
        "differ": sorted(times),
        "first": sorted(first),
        "failures": failures,
    }


def computing(mpi: VirtualMpi, how: str, n: int, n_busy: int) -> dict[str, object]:
    """Return how far the completion in virtual time is from the processor time of a kernel."""
    with tempfile.TemporaryDirectory() as folder, load(n_busy):
        source, program, account = Path(folder) / "kernel.c", Path(folder) / "kernel", Path(folder) / "account.json"
        source.write_text(KERNEL, encoding="utf-8")
        subprocess.run([mpi.mpicc, "-O1", "-o", str(program), str(source)], env={**os.environ, **mpi.environment}, check=True)
        row: dict[str, object] = {"library": mpi.of.name, "compute": how, "p": n, "busy": n_busy}
        try:
            used_s = float(run(replace(mpi, compute=how, output=str(account)), n, str(program)))
        except RuntimeError as error:
            return {**row, "failure": str(error).splitlines()[0][-200:]}
        found_s = 1e-9 * json.loads(account.read_text(encoding="utf-8"))["completion_ns"]
    return {**row, "used_s": used_s, "virtual_s": found_s, "error": found_s / used_s - 1}


def libraries(names: Sequence[str]) -> Iterator[VirtualMpi]:
    """Yield each library in virtual time, by default those that were added; one that cannot be is named and left out."""
    for name in names or [one.name for one in installing.libraries()] or [""]:
        try:
            (target,) = find_targets([name] if name else [], clock="virtual")
        except (BuildError, LaunchError, UsageError) as error:
            print(error, file=sys.stderr)
        else:
            assert isinstance(target.mpi, VirtualMpi)
            yield target.mpi


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each library, number of processes and size; the status is 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--mpi", "--mpicc", action="append", default=[], help="a library as of scalkit mpi list, or a compiler; may be repeated"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("-n", type=int, nargs="+", default=PROCESSES)
    parser.add_argument("--ops", default="paper")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--load", type=int, default=LOAD, help="processes that compute beside every other launch")
    parser.add_argument("--compute", action="store_true", help="a kernel of known processor time instead")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(words)
    rows: list[dict[str, object]] = []
    for mpi in libraries(arguments.mpi):
        if arguments.compute:
            cases = [(how, n, busy) for how in ("cpu", "instructions") for n in (1, 2, 4) for busy in (0, arguments.load)]
            found = (computing(mpi, *case) for case in cases)
        else:
            found = (compare(mpi, n, size, arguments) for n in arguments.n for size in arguments.sizes)
        for row in found:
            print(json.dumps(row) if arguments.json else "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
            rows.append(row)
    return int(any(row.get("differ") or row.get("failures") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
