"""Strong scaling of a simulated multiplication, and of the analysis of its traces on one process and on two.

    mpiexec -n 2 python benchmarks/srumma_scaling.py DIR      analyses a trace and prints how many s that took, if rank 0

`benchmarks/srumma.py scaling` runs all of it. Times of the multiplication are simulated, those of the analysis are real.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.bench.process import run_program
from scalkit.cli.terminal.ranks import launched
from scalkit.trace import analyse, write_result
from scalkit.trace.local.ranks import over_world

# The programs are not part of the package: they are next to the notebook that shows them.
sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from onesided import Simulator, multiply

COUNTS = (4, 16, 64, 256, 576, 1024)
ROWS = 1536  # of the matrices: a multiple of every side of a grid of processes
NOISE, SEED = 20, 1
PLATFORM = "hosts of 1 Gflop/s, one process each, links of 1 GB/s and 1 us to a switch without limits"


@dataclass(frozen=True)
class Row:
    """One multiplication, simulated, and one analysis of its trace, real.

    Attributes
    ----------
    processes : int
    application_s : float, in s
        Of the multiplication, simulated.
    waiting_share : float
        Part of the time of all processes in it that was waiting for progress.
    gets : int
        All operations; of every process, those to itself too.
    trace_bytes : int
    simulation_s, analysis_s : float, in s
        Real time that the simulation and the analysis took.
    analysis_processes : int
    """

    processes: int
    application_s: float
    waiting_share: float
    gets: int
    trace_bytes: int
    simulation_s: float
    analysis_s: float
    analysis_processes: int


def strong_scaling(counts: list[int], rows: int, keep: Path | None) -> Iterator[Row]:
    """Yield a row for each number of processes, and of processes that analyse; `keep` gets the waits and a table of all."""
    mpi, done = find_mpi(), []
    for processes in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            begin = time.perf_counter()
            told = multiply(Simulator(), processes, "layer", trace=folder, noise=NOISE, seed=SEED, n=rows, check=0)
            simulation = time.perf_counter() - begin
            waits = analyse(folder)
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                write_result(waits, keep / f"waits-{processes}.nc.gz")
            severity = waits["severity"].sum(("path", "location"))
            waited = 1e-9 * int(severity.sel(metric="wait_for_progress"))
            size = sum(path.stat().st_size for path in folder.glob("*.sktrace"))
            for ranks in (1, 2):
                row = Row(
                    processes=processes,
                    application_s=told.times_s[0],
                    waiting_share=waited / (told.times_s[0] * processes),
                    gets=int(severity.sel(metric="rma_operations")),
                    trace_bytes=size,
                    simulation_s=simulation,
                    analysis_s=analysed(mpi, ranks, folder),
                    analysis_processes=ranks,
                )
                done.append(row)
                yield row
        if keep is not None:
            write_table(keep / "times.csv", done, rows)


def analysed(mpi: Mpi, ranks: int, folder: Path) -> float:
    """Return how many s the analysis of a trace takes on so many processes, without their start."""
    library = Path(mpi.mpicc).parents[1] / "lib/libmpi.so.12"
    given = {**mpi.environment, **settings(mpi.kind, oversubscribed=False)}
    given |= {"MPI4PY_LIBMPI": str(library)} if library.exists() else {}
    command = mpi.command(ranks, sys.executable, "-m", "mpi4py", str(Path(__file__).resolve()), str(folder), forward=given)
    outcome = run_program(command, timeout_s=600, environment=given)
    if outcome.status != 0:
        raise SystemExit(f"the analysis on {ranks} processes {outcome.ending}:\n{outcome.last_lines}")
    return float(outcome.output.split()[-1])


def write_table(path: Path, rows: list[Row], n: int) -> None:
    """Write all rows as CSV; its first lines say that times of the application are simulated, and where."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write("# simulated: multiplications (application_s) by SimGrid SMPI; real: simulation_s, analysis_s\n")
        stream.write(f"# sk_srumma --over=layer --n={n} --noise={NOISE} --seed={SEED} --check=0; {PLATFORM}\n")
        table = csv.DictWriter(stream, [field.name for field in fields(Row)], lineterminator="\n")
        table.writeheader()
        table.writerows(
            {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in asdict(row).items()} for row in rows
        )


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    here = launched()
    begin = time.perf_counter()
    if here is None:
        analyse(sys.argv[1], causes=False)
    else:
        with over_world(here.size) as comm:
            begin = time.perf_counter()
            analyse(sys.argv[1], comm=comm, causes=False)
    if here is None or here.rank == 0:
        print(time.perf_counter() - begin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
