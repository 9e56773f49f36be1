"""What the layer costs that replaces calls at run time (microbench/tune), and what is left of a substitute's speed-up.

    python benchmarks/tune_overhead.py                     the cost of a call that stays as it is, and of one that is replaced
    python benchmarks/tune_overhead.py --mpi openmpi-5     of another library
    python benchmarks/tune_overhead.py --json

Of several launches the least counts, with the layer and without by turns. On two idle cores a difference of 5 ns repeats.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scalkit.bench.libraries.mpi import Mpi, settings
from scalkit.bench.libraries.targets import find_targets
from scalkit.support.native import build, sources

PROGRAM = Path(__file__).with_name("tune_loops.c")
MANY = "scalkit-rules 1\n" + "".join(
    f"MPI_{call} {use} 2 64 {k} {k}\n"
    for call, use in (("Bcast", "Bcast_allgatherv"), ("Gather", "MPI_Gatherv"), ("Allreduce", "MPI_Reduce+MPI_Bcast"))
    for k in range(20)
)
"""Rules that never fit one process, as many as a profile has for a call."""
ALL = (
    "scalkit-rules 1\nMPI_Allgather MPI_Allgatherv 1 64 0 99999999\nMPI_Reduce MPI_Allreduce 1 64 0 99999999\n"
    "MPI_Bcast Bcast_allgatherv 1 64 0 99999999\n"
)


def compiled(mpi: Mpi, folder: Path) -> tuple[Path, Path]:
    """Return the program and the layer."""
    place = sources("microbench") / "tune"
    layer = build(sources("microbench"), mpi.mpicc, makefile="tune/Makefile").program("libscalkit_tune.so")
    parts = [str(place / "substitutes" / f"{name}.c") for name in ("common", "rooted", "allgather", "reductions", "neighbours")]
    text = subprocess.run(
        ["awk", "-f", str(place / "substitutes.awk"), *parts], capture_output=True, text=True, check=True
    ).stdout
    (folder / "substitutes.inc").write_text(text)
    program = folder / "tune_loops"
    subprocess.run([mpi.mpicc, "-O2", "-w", f"-I{folder}", str(PROGRAM), "-o", str(program)], check=True)
    return program, layer


def launched(mpi: Mpi, n: int, command: list[str], rules: Path | None, layer: Path) -> dict[str, float]:
    """Return ns of a call of each name, with the layer where there are rules."""
    words = [f"LD_PRELOAD={layer}", f"SCALKIT_TUNE={rules}"] if rules else []
    environment = {**os.environ, **mpi.environment, **settings(mpi.kind, oversubscribed=False)}
    done = subprocess.run(mpi.command(n, "env", *words, *command), env=environment, capture_output=True, text=True, check=True)
    pairs = (line.split(": ") for line in done.stdout.splitlines() if ": " in line)
    return {name: float(value) for name, value in pairs}


def least(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the least of several launches."""
    return {name: min(row[name] for row in rows) for name in rows[0]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", help="one of 'scalkit mpi list', or the path of an mpicc (default: found)")
    parser.add_argument("--launches", type=int, default=5, help="of each kind (default: %(default)s)")
    parser.add_argument("--bytes", type=int, nargs="*", default=[8, 4096], help="of each process (default: 8 4096)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    (target,) = find_targets([args.mpi] if args.mpi else [])
    mpi, found = target.mpi, {"library": target.mpi.name}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, layer = compiled(mpi, folder)
        (folder / "many").write_text(MANY)
        (folder / "all").write_text(ALL)
        kinds: list[tuple[str, int, list[str], Path]] = [("cost", 1, [str(program), "cost"], folder / "many")]
        kinds += [(f"{size} B", 2, [str(program), str(size), "200"], folder / "all") for size in args.bytes]
        for title, n, command, rules in kinds:
            rows = [launched(mpi, n, command, one, layer) for _ in range(args.launches) for one in (None, rules)]
            found[title] = {"plain": least(rows[::2]), "layer": least(rows[1::2])}
    if args.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    sys.stdout.write(f"{mpi.name}; ns of one call\n")
    for title in [key for key in found if key != "library"]:
        plain, under = found[title]["plain"], found[title]["layer"]
        for call in [one for one in plain if "by hand" not in one]:
            hand = f"by hand {plain[f'{call} by hand']:9.1f}  " if f"{call} by hand" in plain else " " * 19
            more = under[call] - plain.get(f"{call} by hand", plain[call])
            sys.stdout.write(
                f"{title:8} {call:14} itself {plain[call]:9.1f}  {hand}layer {under[call]:9.1f}  difference {more:+7.1f}\n"
            )


if __name__ == "__main__":
    main()
