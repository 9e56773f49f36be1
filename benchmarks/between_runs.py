"""Counts equal operations that are taken for different, and different ones for equal, by the comparison that the store makes.

    python benchmarks/between_runs.py                 10,000 pairs for each row
    python benchmarks/between_runs.py --pairs 500     fewer

Beside `scalkit.stats.between_runs.run_ratios` stands the bootstrap of the runs: both sides are drawn again 999 times, and the
probability is the share of draws in which the faster one stays the faster one. Noise: log-normal between the runs; with an
exponential tail; one run of ten takes twice as long; a clock with 20 steps; and a share that both sides of a run have in common.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from scalkit.stats.between_runs import run_ratios

NOISES = ("log-normal", "exponential tail", "one of ten twice as long", "20 steps of the clock", "common to the run")
RUNS = (4, 5, 6, 8, 12, 30)
Pair = tuple[np.ndarray, np.ndarray]


def pairs(noise: str, shape: tuple[int, int], factor: float, rng: np.random.Generator) -> Pair:
    """Return times of two operations, of which the first takes `factor` times as long."""
    if noise == "exponential tail":
        left, right = (1 + 0.1 * rng.exponential(size=shape) for _ in range(2))
    elif noise == "one of ten twice as long":
        left, right = (rng.lognormal(0, 0.03, shape) * np.where(rng.random(shape) < 0.1, 2, 1) for _ in range(2))
    elif noise == "20 steps of the clock":
        return tuple(np.round(20 * f * rng.lognormal(0, 0.05, shape)) for f in (factor, 1.0))  # type: ignore[return-value]
    elif noise == "common to the run":
        of_run = rng.lognormal(0, 0.05, shape)
        left, right = (of_run * rng.lognormal(0, 0.01, shape) for _ in range(2))
    else:
        left, right = (rng.lognormal(0, 0.03, shape) for _ in range(2))
    return factor * left, right


def by_bootstrap(left: np.ndarray, right: np.ndarray, rng: np.random.Generator, draws: int = 999) -> np.ndarray:
    """Return the share of draws in which the faster side is the one that is faster in the runs."""
    n = left.shape[1]
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws) / n
    difference = np.log(left) - np.log(right)
    drawn = difference @ weights.T
    same = np.sign(drawn) == np.sign(difference.mean(axis=1))[:, None]
    found: np.ndarray = same.mean(axis=1)
    return found


def row(noise: str, n: int, number: int, seed: int) -> dict[str, Any]:
    """Return the shares of equal pairs, and of pairs 10 % apart, of which each of both is sure."""
    rng = np.random.default_rng([seed, n, NOISES.index(noise)])
    found: dict[str, Any] = {"noise": noise, "runs": n}
    for name, factor in (("equal", 1.0), ("10 % apart", 1.1)):
        left, right = pairs(noise, (number, n), factor, rng)
        begun = time.perf_counter()
        own = run_ratios(left, right).probability
        between = time.perf_counter()
        drawn = by_bootstrap(left, right, rng)
        found[name] = {
            "P > 0.99": float((own > 0.99).mean()),
            "P = 1": float((own >= 1).mean()),
            "bootstrap P > 0.99": float((drawn > 0.99).mean()),
            "bootstrap P = 1": float((drawn >= 1).mean()),
            "us": 1e6 * (between - begun) / number,
            "bootstrap us": 1e6 * (time.perf_counter() - between) / number,
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rows = [row(noise, n, args.pairs, args.seed) for noise in NOISES for n in RUNS]
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
