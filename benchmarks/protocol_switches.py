"""Measures how often `scalkit.perfmodels.fit_messages` finds all protocol switches and no extra one, on simulated times.

Two kinds of truth: equation 1 of the models paper (BlueGene/P: switches above 256 B and 1 KiB) on 40 sizes from 1 B to 4 MiB,
and random ones on 44 sizes, two an octave: none, one or two switches between 32 B and 1 MiB, a latency of 0.5 to 20 us, a
bandwidth of 0.1 to 20 GB/s, at each switch a step of the time up or down by a factor of 1.15 to 1.8 and another bandwidth by a
factor of 0.5 to 2. Each size has ten repetitions with noise that is symmetric (log-normal) or one-sided with spikes
(half-normal; 5 % of the repetitions 1.2 to 3 times). A case is right if there are as many switches as in the truth, each within
one size step of it.

The times are simulated, not measured. The seed decides everything; the program was developed on other seeds than its default.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from scalkit.perfmodels import bluegene_p, fit_messages

NOISE = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
KINDS = ("symmetric", "one-sided")
REPETITIONS = 10
BAR = 0.95


def with_noise(rng: np.random.Generator, y: np.ndarray, kind: str, noise: float) -> np.ndarray:
    shape = (len(y), REPETITIONS)
    if kind == "symmetric":
        return y[:, None] * np.exp(rng.normal(0, noise, shape))
    factor = 1 + np.abs(rng.normal(0, noise, shape))
    spikes = rng.random(shape) < 0.05
    return y[:, None] * np.where(spikes, factor * rng.uniform(1.2, 3, shape), factor)


def paper_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[float]]:
    sizes = np.unique(np.round(2 ** np.linspace(0, 22, 40)))
    return sizes, bluegene_p()["point-to-point"](S=sizes), [256.0, 1024.0]


def random_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[float]]:
    sizes = np.unique(np.round(2 ** np.arange(0, 22.5, 0.5)))
    n_switches = int(rng.integers(0, 3))
    while True:
        places = np.sort(2 ** rng.uniform(5, 20, n_switches))
        if all(len(part) >= 4 for part in np.split(sizes, np.searchsorted(sizes, places, side="right"))):
            break
    latency, per_byte = 10 ** rng.uniform(-6.3, -4.7), 10 ** -rng.uniform(8, 10.3)
    times = latency + per_byte * sizes
    for place in places:
        step = np.exp(rng.choice([-1, 1]) * rng.uniform(np.log(1.15), np.log(1.8)))
        after = latency + per_byte * place
        per_byte *= 2 ** rng.uniform(-1, 1)
        latency = step * after - per_byte * place
        if latency < 0:
            latency, per_byte = 0.0, step * after / place
        times = np.where(sizes > place, latency + per_byte * sizes, times)
    return sizes, times, places.tolist()


TRUTHS = {"paper": paper_case, "random": random_case}


def judge(sizes: np.ndarray, found: list[float], truth: list[float]) -> str:
    """Return "right", "extra", "missed" or "misplaced"."""
    if len(found) != len(truth):
        return "extra" if len(found) > len(truth) else "missed"
    places = [np.searchsorted(sizes, one, side="right") for one in (np.array(found), np.array(truth))]
    return "right" if (np.abs(places[0] - places[1]) <= 1).all() else "misplaced"


def run(seed: int, cases: int) -> list[dict[str, Any]]:
    rows = []
    for truth, kind in ((truth, kind) for truth in TRUTHS for kind in KINDS):
        for noise in NOISE:
            rng = np.random.default_rng([seed, list(TRUTHS).index(truth), KINDS.index(kind), round(noise * 1000)])
            counts = dict.fromkeys(("right", "missed", "extra", "misplaced"), 0)
            for _ in range(cases):
                sizes, times, places = TRUTHS[truth](rng)
                fit = fit_messages(sizes, with_noise(rng, times, kind, noise))
                counts[judge(sizes, [one.after for one in fit.switches], places)] += 1
            rows.append({"truth": truth, "noise": kind, "level": noise, "cases": cases, **counts})
            print(row_text(rows[-1]), flush=True)
    return rows


def row_text(row: dict[str, Any]) -> str:
    shares = "  ".join(f"{name} {100 * row[name] / row['cases']:5.1f} %" for name in ("right", "missed", "extra", "misplaced"))
    return f"{row['truth']:7} {row['noise']:10} {100 * row['level']:4.1f} %  {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--cases", type=int, default=200, help="for each truth, kind of noise and level")
    parser.add_argument("--json", help="write the table to this file")
    given = parser.parse_args()
    print(f"simulated times, seed {given.seed}, {given.cases} cases a row, {REPETITIONS} repetitions")
    rows = run(given.seed, given.cases)
    low = [row for row in rows if row["level"] <= 0.05]
    worst = min(low, key=lambda row: row["right"])
    share = sum(row["right"] for row in low) / sum(row["cases"] for row in low)
    least = worst["right"] / worst["cases"]
    print(f"up to 5 % noise: {100 * share:.1f} % right, in the worst row {100 * least:.1f} %; bar {100 * BAR:g} %")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"simulated": True, "seed": given.seed, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
