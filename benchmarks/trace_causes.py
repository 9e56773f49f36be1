"""Compares critical path, delay costs and gains of random traces with those of a brute-force oracle that shares no code.

Prints how many traces differ, and where; none must. Traces have 2 to 5 locations and up to 60 calls of each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "trace"))

from test_causes import differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1000, help="of the first trace")
    args = parser.parse_args()
    n_wrong = 0
    for seed in range(args.seed, args.seed + args.traces):
        with tempfile.TemporaryDirectory() as made:
            found = differences(seed, Path(made))
        n_wrong += bool(found)
        for one in found:
            print(f"trace {seed}: {one}")
    print(f"{args.traces} traces, {n_wrong} differ")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
