"""Records a program in Fortran by each way to use MPI, and compares the calls that it made with the trace: they agree.

python benchmarks/trace_fortran.py [--mpicc mpicc] [--mpifc mpifort] [--mpiexec mpiexec] [--ways mpif.h,mpi,mpi_f08]

Words of --mpiexec are split at blanks; Open MPI takes "mpiexec --oversubscribe -x LD_PRELOAD -x SCALKIT_TRACE".
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from scalkit.support import native
from scalkit.trace.local.part import load

KERNEL = Path(__file__).resolve().parents[1] / "microbench"
WAYS = {"mpif.h": "-DUSE_MPIF_H", "mpi": "-DUSE_MPI", "mpi_f08": "-DUSE_F08"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", default="mpicc", help="C compiler of the MPI library (default: %(default)s)")
    parser.add_argument("--mpifc", default="mpifort", help="its compiler of Fortran, gfortran (default: %(default)s)")
    parser.add_argument("--mpiexec", default="mpiexec", help="its launcher, and options (default: %(default)s)")
    parser.add_argument("--ways", default=",".join(WAYS), help="how the program uses MPI (default: %(default)s)")
    args = parser.parse_args()
    library = native.build(KERNEL, args.mpicc, makefile="trace/Makefile").program("libsktrace.so")
    wrong = False
    for way in args.ways.split(","):
        with tempfile.TemporaryDirectory(prefix="scalkit-") as made:
            program, trace = Path(made) / "everything", Path(made) / "trace"
            source = str(KERNEL / "trace/tests/everything.F90")
            flags = ["-O0", "-w", "-fallow-argument-mismatch", WAYS[way]]
            subprocess.run([args.mpifc, *flags, source, "-o", str(program)], check=True)
            given = {**os.environ, "LD_PRELOAD": str(library), "SCALKIT_TRACE": str(trace)}
            command = [*args.mpiexec.split(), "-n", "3", str(program)]
            said = subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)
            made_calls = {int(r): int(n) for r, n in re.findall(r"rank (\d+) made (\d+) calls", said.stdout)}
            if said.returncode or len(made_calls) != 3:
                print(f"{way}: status {said.returncode}\n{said.stdout}{said.stderr}")
                wrong = True
                continue
            found = load(trace)
            recorded = Counter(found.calls["location"].tolist())
            kinds = Counter((found.transfers["kind"] & 0xFF).tolist())
            wrong |= recorded != made_calls or kinds[5] != kinds[6]
            sites = sum("@" in found.definitions.text(k) for k in range(len(found.definitions.paths)))
            print(
                f"{way}: {sum(made_calls.values())} calls made, {sum(recorded.values())} recorded, from {sites} places; "
                f"{kinds[5]} sends, {kinds[6]} receives, {kinds[1] + kinds[2]} one-sided operations"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
