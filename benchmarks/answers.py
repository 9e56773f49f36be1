"""How often the answers are right: too optimistic claims must be *fix*, true ones never.

    python benchmarks/answers.py --cases 300 --seed 20261201

Six settings over a factor of 32, five repetitions, the claim taken at its word (``strictness="strict"``). The machine is one
that nobody tuned to: noise of the repetitions, a drift over the campaign, outliers, a coarse clock, runs that differ.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

import scalkit as sk

GROWTHS = ("1", "log(n)", "n^(1/2)", "n", "n*log(n)", "n^(3/2)", "n^2", "n^2*log(n)", "n^3")
"""What people claim, ascending; a too optimistic claim is one or two places below the truth."""

REPETITIONS = 5
Floats = np.ndarray[Any, np.dtype[np.float64]]
Disturbance = Callable[[np.random.Generator, Floats], Floats]


def noise(share: float) -> Disturbance:
    """Return log-normal noise."""
    return lambda rng, y: y[:, None] * np.exp(share * rng.standard_normal((len(y), REPETITIONS)))


def drift(rng: np.random.Generator, y: Floats) -> Floats:
    """Return values of a machine that gets slower by a fifth from the first setting to the last one."""
    return noise(0.01)(rng, y * np.linspace(1, 1.2, len(y)))


def outliers(rng: np.random.Generator, y: Floats) -> Floats:
    """Return values of which 5 % have Cauchy noise."""
    values = noise(0.02)(rng, y)
    return np.asarray(np.where(rng.random(values.shape) < 0.05, values * (1 + np.abs(rng.standard_cauchy(values.shape))), values))


def quantised(rng: np.random.Generator, y: Floats) -> Floats:
    """Return values of a clock whose tick is a third of the smallest one."""
    values, tick = noise(0.02)(rng, y), y.min() / 3
    return np.asarray(np.maximum(np.round(values / tick), 1) * tick)


def correlated(rng: np.random.Generator, y: Floats) -> Floats:
    """Return values of a run: what disturbs a setting disturbs all of its repetitions."""
    return np.asarray(noise(0.01)(rng, y) * np.exp(0.05 * rng.standard_normal((len(y), 1))))


TRUE_ROWS: dict[str, Disturbance] = {
    **{f"noise {100 * share:g} %": noise(share) for share in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)},
    "drift 20 %": drift,
    "outliers": outliers,
    "quantised clock": quantised,
    "correlated runs": correlated,
}


def series(rng: np.random.Generator, growth: str, disturbed: Disturbance, parameter: str = "n") -> Any:
    """Return measurements of a function: a constant of up to half of the first value, and the growth."""
    x = float(rng.choice([16, 64, 256, 1024])) * 2.0 ** np.arange(6)
    t = sk.Growth.parse(growth, "n")(x)
    y = (rng.uniform(0, 0.5) + t / t[0]) * 1e-6
    return sk.measurements(x, disturbed(rng, y), parameter=parameter, name="f", unit="s")


def answers(cases: int, seed: int, disturbed: Disturbance, steps: tuple[int, ...], parameter: str = "n") -> dict[str, float]:
    """Return the share of each answer where the truth is some of `steps` places above the claim.

    Parameters
    ----------
    cases : int
    seed : int
    disturbed : callable
        From a generator and values to repetitions.
    steps : tuple of int
    parameter : str
        A size such as ``"n"``, over which caches explain a factor, or a number of processes, ``"p"``.
    """
    rng, found = np.random.default_rng(seed), []
    for _ in range(cases):
        above = int(rng.choice(steps))
        claim = int(rng.integers(0, len(GROWTHS) - above))
        data = series(rng, GROWTHS[claim + above], disturbed, parameter)
        expected = sk.Expectation(GROWTHS[claim].replace("n", parameter), None, parameter)
        found.append(sk.validate(data, {"f": expected}, strictness="strict")["f"].answer)
    return {answer: found.count(answer) / cases for answer in ("fix", "cannot tell", "fine")}


def main() -> None:
    """Print the tables as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--parameter", default="n", help="name of the parameter: n, a size, or p, processes")
    args = parser.parse_args()
    for share in (0.01, 0.05):
        row = answers(args.cases, args.seed, noise(share), (1, 2), args.parameter)
        print(json.dumps({"claims": "too optimistic", "noise": share, **row}))
    for name, disturbed in TRUE_ROWS.items():
        row = answers(args.cases, args.seed + 1, disturbed, (0,), args.parameter)
        print(json.dumps({"claims": "true", "disturbance": name, **row}))


if __name__ == "__main__":
    main()
