"""How often changes planted in a series of commits are found, and how often nothing is called a change.

    python benchmarks/changes.py --series 100 --seed 20261202

A function O(n) at six sizes over a factor of 32, five repetitions with log-normal noise. Each commit is compared with the first
one; a change is found if its commit or the next one fails. The history of all commits so far is asked, too: a change planted
anywhere in a series of 30 is found if two commits later the first bad commit is its own or the next one; a false alarm is a
commit at which the history of a series without a change fails.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.history import History, history

Floats = np.ndarray[Any, np.dtype[np.float64]]
N = 1000.0 * 2 ** np.arange(6)
TIME = 1e-6 * (200 + N)
COMMITS = 30
CHANGES: dict[str, Floats] = {
    "1.3 times": 1.3 * TIME,
    "n to n log n": 1e-6 * (200 + N * np.log2(N) / np.log2(N[0])),
    "1.3 times at one setting": TIME * np.where(N[2] == N, 1.3, 1.0),
}


def measured(rng: np.random.Generator, y: Floats, noise: float) -> Any:
    """Return measurements of a commit."""
    return sk.measurements(N, y[:, None] * np.exp(noise * rng.standard_normal((len(y), 5))), parameter="n", name="f")


def fails(quo: sk.Baseline, data: Any) -> bool:
    """Return whether a commit is worse than the status quo."""
    return bool(quo.compare(sk.validate(data, {"f": "n"})).exit_status())


def found(series: int, seed: int, noise: float, change: str) -> float:
    """Return the share of series where a change at a commit fails there or at the next one."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        quo = sk.Baseline.from_result(sk.validate(measured(rng, TIME, noise), {"f": "n"}))
        count += any(fails(quo, measured(rng, CHANGES[change], noise)) for _ in range(2))
    return count / series


def alarms(series: int, seed: int, noise: float, commits: int = 1) -> int:
    """Return how many commits without a change fail."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        quo = sk.Baseline.from_result(sk.validate(measured(rng, TIME, noise), {"f": "n"}))
        count += sum(fails(quo, measured(rng, TIME, noise)) for _ in range(commits))
    return count


def history_of(rng: np.random.Generator, commits: int, noise: float, change: str = "", first: int = COMMITS) -> History:
    """Return the history of commits, of which those from `first` on have a change."""
    y = [CHANGES[change] if k >= first else TIME for k in range(commits)]
    return history([(str(k), measured(rng, one, noise)) for k, one in enumerate(y)])


def found_in_history(series: int, seed: int, noise: float, change: str) -> float:
    """Return the share of series whose history two commits after a change names it, or the next one, as the first bad one."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        first = int(rng.integers(2, COMMITS - 1))
        bad = history_of(rng, first + 2, noise, change, first).first_bad
        count += bad in (str(first), str(first + 1))
    return count / series


def alarms_in_history(series: int, seed: int, noise: float) -> int:
    """Return at how many commits of series without a change the history so far fails."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        commits = [(str(k), measured(rng, TIME, noise)) for k in range(COMMITS)]
        count += sum(history(commits[:end]).exit_status() for end in range(2, COMMITS + 1))
    return count


def main() -> None:
    """Print the tables as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261202)
    args = parser.parse_args()
    for noise in (0.01, 0.05):
        for change in CHANGES:
            share = found(args.series, args.seed, noise, change)
            by_history = found_in_history(args.series, args.seed, noise, change)
            row = {"noise": noise, "change": change, "found": share, "by history": by_history}
            print(json.dumps(row), flush=True)
        wrong = alarms(args.series, args.seed + 1, noise, COMMITS)
        by_history = alarms_in_history(args.series, args.seed + 2, noise)
        row = {"noise": noise, "commits": args.series * COMMITS, "false alarms": wrong, "by history": by_history}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
