"""Simulates series whose truth is known and prints which verdicts they get, as a table in Markdown.

Space ``ics15``, deviation ``p^(1/2)``, five repetitions with independent log-normal noise. The series are simulated, not
measured.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

REPETITIONS = 5
SHORT, LONG = 2.0 ** np.arange(1, 6), 2.0 ** np.arange(1, 9)


def hidden_line(p: Floats) -> Floats:
    base = 1 + np.log2(p)
    return base + base[-1] / 9 * p / p[-1]


CASES: tuple[tuple[str, Callable[[Floats], Floats], str, Floats, float], ...] = (
    (r"$1 + \log p$", lambda p: 1 + np.log2(p), "log(p)", SHORT, 0.01),
    (r"$1 + \log p$", lambda p: 1 + np.log2(p), "log(p)", SHORT, 0.05),
    (r"$1 + \log p$", lambda p: 1 + np.log2(p), "log(p)", LONG, 0.05),
    ("$1 + p/10$", lambda p: 1 + p / 10, "p", SHORT, 0.05),
    ("$1 + p/10$", lambda p: 1 + p / 10, "p", LONG, 0.05),
    ("$1 + p/10$", lambda p: 1 + p / 10, "log(p)", SHORT, 0.05),
    (r"$1 + \sqrt p$", lambda p: 1 + np.sqrt(p), "log(p)", SHORT, 0.05),
    (r"$1 + \sqrt p$", lambda p: 1 + np.sqrt(p), "log(p)", LONG, 0.05),
    (r"$1 + \log p$, a tenth of the value at the end linear", hidden_line, "log(p)", SHORT, 0.05),
    (r"$1 + \log p$, a tenth of the value at the end linear", hidden_line, "log(p)", LONG, 0.01),
)


def main() -> None:
    import scalkit as sk
    from scalkit.measure import series
    from scalkit.validation.judge.along_one import judge

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200, help="series in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for index, (truth, curve, expected, p, noise) in enumerate(CASES):
        rng = np.random.default_rng([args.seed, index])
        expectation = sk.Expectation(expected, deviation="p^(1/2)")
        noisy = (curve(p)[:, None] * np.exp(rng.normal(0, noise, (len(p), REPETITIONS))) for _ in range(args.cases))
        measured = [series(sk.measurements(p, y, name="f"))[0] for y in noisy]
        space = sk.SearchSpace.preset("ics15")
        counts = Counter(verdict.verdict for verdict in judge([(one, expectation, space) for one in measured]))
        shares = {word: counts[word] / args.cases for word in ("total", "approximate", "none", "undecided")}
        rows.append({"truth": truth, "expected": expected, "largest": p[-1], "noise": noise} | shares)
    if args.json:
        print(json.dumps({"seed": args.seed, "cases": args.cases, "rows": rows}, indent=1))
        return
    print("| truth | $E$ | settings | noise | total | approximate | none | undecided |\n| " + "--- | " * 8)
    for row in rows:
        words = " | ".join(f"{100 * row[word]:.0f}" for word in ("total", "approximate", "none", "undecided"))
        print(f"| {row['truth']} | `{row['expected']}` | 2 to {row['largest']:g} | {100 * row['noise']:g} % | {words} |")


if __name__ == "__main__":
    main()
