"""What a message costs in virtual time: processor time of all processes within a loop of one operation, for each message sent.

    python benchmarks/virtual_cost.py [--mpi NAME] [-n 8 64 128] [--ops MPI_Allreduce:8 ...]

A program calls the operation 20 times; `getrusage` of every process around them, user and system, and the messages that the
layer counted there are added up. Other programs on the machine make a hand-over dearer; look at its load.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from virtual_repeats import libraries, run

from scalkit.bench.virtual.mpi import VirtualMpi

PROCESSES = (8, 64, 128)
OPERATIONS = ("MPI_Barrier:8", "MPI_Bcast:8", "MPI_Allreduce:8", "MPI_Alltoall:8", "MPI_Allgather:1024")
CALLS = {
    "MPI_Barrier": "MPI_Barrier(world)",
    "MPI_Bcast": "MPI_Bcast(from, n, MPI_BYTE, 0, world)",
    "MPI_Allreduce": "MPI_Allreduce(from, to, n, MPI_BYTE, MPI_BOR, world)",
    "MPI_Alltoall": "MPI_Alltoall(from, n, MPI_BYTE, to, n, MPI_BYTE, world)",
    "MPI_Allgather": "MPI_Allgather(from, n, MPI_BYTE, to, n, MPI_BYTE, world)",
}
LOOP = """
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
extern int64_t sk_virtual_messages(void);
static double used(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const MPI_Comm world = MPI_COMM_WORLD;
    int p, rank, n = %(size)d;
    MPI_Comm_size(world, &p);
    MPI_Comm_rank(world, &rank);
    char *from = calloc(p, n), *to = calloc(p, n);
    for (int i = 0; i < 3; i++)
        %(call)s;
    MPI_Barrier(world);
    double mine[2] = { -used(), -(double)sk_virtual_messages() }, all[2];
    for (int i = 0; i < 20; i++)
        %(call)s;
    mine[0] += used();
    mine[1] += sk_virtual_messages();
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, world);
    if (rank == 0)
        printf("%%.6f %%.0f\\n", all[0], all[1]);
    free(from);
    free(to);
    return MPI_Finalize();
}
"""


def cost(mpi: VirtualMpi, n: int, operation: str) -> dict[str, object]:
    """Return a row: processor time and messages of 20 calls of ``"MPI_Allreduce:8"``, with `n` processes."""
    name, _, size = operation.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "loop.c", Path(folder) / "loop"
        source.write_text(LOOP % {"call": CALLS[name], "size": int(size)}, encoding="utf-8")
        layer = mpi.layer.program("libskvirtual.so")
        subprocess.run([mpi.mpicc, "-O1", "-o", program, source, layer], check=True)
        used_s, messages = map(float, run(mpi, n, str(program)).split()[-2:])
    return {
        "library": mpi.of.name,
        "operation": name,
        "size": int(size),
        "p": n,
        "messages": int(messages),
        "us_per_message": 1e6 * used_s / messages,
    }


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each library, operation and number of processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", action="append", default=[], help="a library as of scalkit mpi list; may be repeated")
    parser.add_argument("-n", type=int, nargs="+", default=PROCESSES)
    parser.add_argument("--ops", nargs="+", default=OPERATIONS, help="operations and bytes, such as MPI_Alltoall:8")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(words)
    for mpi in libraries(arguments.mpi):
        for row in (cost(mpi, n, operation) for operation in arguments.ops for n in arguments.n):
            shown = (f"{one:.1f}" if isinstance(one, float) else str(one) for one in row.values())
            print(json.dumps(row) if arguments.json else "  ".join(shown), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
