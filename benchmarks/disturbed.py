"""Counts wrong verdicts on simulated series that are disturbed: a value that is off, drift, steps, outliers, a plateau.

Seven settings p = 2^k, ..., five repetitions, log-normal noise of 5 % unless the row says otherwise. The truth is a constant plus
a tick of ``ics15`` with a share of 20 to 100 % at the middle; the three ranks about log(p) or p, with the deviation p^(1/2), are
equally frequent. A decided verdict is at least 90 % sure whether the truth is inside the limits. Simulated, not measured.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

ROWS = (
    "control",
    "noise grows from 1 to 20 %",
    "Cauchy outliers, 5 %",
    "step of 1.3 at one setting",
    "settings off by 5 % each",
    "drift of 20 %",
    "quantised timer",
    "one setting x 1.5",
    "last setting x 1.5",
    "plateau, then growth",
    "3 repetitions",
    "levels of a logarithm less a constant",
)
SURE = 0.9


def disturbed(rng: np.random.Generator, row: str, x: Floats, y: Floats) -> Floats:
    """Return the values of a row, of shape (settings, repetitions), for a truth `y`."""
    n, repetitions, noise = len(x), 3 if row == "3 repetitions" else 5, np.full(len(x), 0.05)
    if row == "noise grows from 1 to 20 %":
        noise = np.linspace(0.01, 0.2, n)
    elif row == "step of 1.3 at one setting":
        y = np.where(np.arange(n) >= rng.integers(1, n), 1.3 * y, y)
    elif row == "settings off by 5 % each":
        y, noise = y * np.exp(rng.normal(0, 0.05, n)), np.full(n, 0.01)
    elif row == "drift of 20 %":
        y = y * np.linspace(1, 1.2, n)
    elif row == "one setting x 1.5":
        y = np.where(np.arange(n) == rng.integers(n), 1.5 * y, y)
    elif row == "last setting x 1.5":
        y = np.append(y[:-1], 1.5 * y[-1])
    elif row == "plateau, then growth":
        y = np.maximum(y, y[rng.integers(1, 4)])
    values = y[:, None] * np.exp(rng.normal(0, 1, (n, repetitions)) * noise[:, None])
    if row == "Cauchy outliers, 5 %":
        hit = rng.random(values.shape) < 0.05
        values = np.where(hit, values * (1 + np.abs(rng.standard_cauchy(values.shape))), values)
    if row == "quantised timer":
        tick = y[0] / 3
        values = np.maximum(np.round(values / tick), 1) * tick
    return values


def counts(row: str, n: int, seed: int) -> dict[str, float]:
    """Return the shares of decided verdicts, of false alarms and missed violations among them, and the sure and wrong ones."""
    import scalkit as sk
    from scalkit.measure import series
    from scalkit.validation.judge.along_one import judge

    rng = np.random.default_rng([seed, ROWS.index(row)])
    space = sk.SearchSpace.preset("ics15")
    alarms, missed, sure = [], [], 0
    for text in ("log(p)", "p"):
        expectation = sk.Expectation(text, deviation="p^(1/2)")
        measured, is_inside = [], []
        for _ in range(n // 2):
            x = 2.0 ** ((2, 5)[rng.integers(2)] + np.arange(7))
            if row == ROWS[-1]:
                growth, y = sk.Growth.parse("log(p)"), np.log2(x / x[0]) + rng.uniform(0.5, 3)
            else:
                rank = ("total", "approximate", "none")[rng.integers(3)]
                ticks = [tick for tick in space.ticks if expectation.rank(tick) == rank]
                growth, share = ticks[rng.integers(len(ticks))], rng.uniform(0.2, 1)
                term = np.ones(7) if growth.is_constant else growth(x) / growth(x[3:4])
                y = 1 - share + share * term
            measured.append(series(sk.measurements(x, disturbed(rng, row, x, y), name="f"))[0])
            is_inside.append(expectation.rank(growth) != "none")
        verdicts = judge([(one, expectation, space) for one in measured])
        for verdict, truth in zip(verdicts, is_inside, strict=True):
            inside = 1 - verdict.probability["none"]
            if max(inside, 1 - inside) >= SURE:
                (alarms if truth else missed).append((inside > 0.5) != truth)
            sure += max(inside, 1 - inside) >= 0.95 and (inside > 0.5) != truth
    return {
        "decided": (len(alarms) + len(missed)) / (n // 2 * 2),
        "false": float(np.mean(alarms)) if alarms else 0.0,
        "missed": float(np.mean(missed)) if missed else 0.0,
        "sure_and_wrong": sure,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=144, help="series in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261123)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = {row: counts(row, args.cases, args.seed) for row in ROWS}
    if args.json:
        print(json.dumps({"seed": args.seed, "cases": args.cases, "rows": found}, indent=1))
        return
    print("| row | decided | false | missed | sure and wrong |\n| " + "--- | " * 5)
    for row, one in found.items():
        shares = " | ".join(f"{100 * one[name]:.1f} %" for name in ("decided", "false", "missed"))
        print(f"| {row} | {shares} | {one['sure_and_wrong']} |")


if __name__ == "__main__":
    main()
