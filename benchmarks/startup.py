"""Times ``import scalkit`` beside ``import xarray``, and the validation of one run after all imports.

Every import is a fresh interpreter; the two alternate, so that a change of the machine's load meets both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = "import scalkit; scalkit.validate; scalkit.read; scalkit.Expectation; scalkit.SearchSpace"


def import_seconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def validation_seconds(run: Path, repetitions: int) -> list[float]:
    import scalkit as sk

    data = sk.read(run)
    sk.validate(data, "mpi")
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        sk.validate(data, "mpi")
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--run", type=Path, default=ROOT / "data/quickstart")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    statements = {"import scalkit": "import scalkit", "all public names": PUBLIC, "import xarray": "import xarray"}
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(args.repetitions):
        for name, statement in statements.items():
            times[name].append(import_seconds(statement))
    times["validate one run"] = validation_seconds(args.run, args.repetitions)
    medians = {name: statistics.median(values) for name, values in times.items()}
    if args.json:
        print(json.dumps({"median_s": medians, "repetitions": args.repetitions}))
        return
    for name, seconds in medians.items():
        print(f"{name:20s} {seconds * 1e3:9.2f} ms   {seconds / medians['import xarray']:6.3f} x import xarray")


if __name__ == "__main__":
    main()
