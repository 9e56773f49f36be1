"""Counts how often exponential growths come out right: c0 + c1 * x^k * 2^(c x) with k from 0 to 4 and c of 1/2 or 1.

Eight settings x = 4..11, five repetitions, log-normal noise of 1, 2 or 5 %; the term makes up 30 to 100 % of the fifth value. The
expectation is drawn from the same growths, seven times of ten with the same c; the ruler is the default one around it. Simulated,
not measured.
"""

from __future__ import annotations

import argparse

import numpy as np


def growth_of(power: int, c: str) -> str:
    return (f"x^{power}*" if power else "") + f"2^({c}*x)"


def main() -> None:
    import scalkit as sk

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261123)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    x = np.arange(4, 12.0)
    exact, decided, wrong = [], [], []
    for case in range(args.cases):
        c = ("1/2", "1")[rng.integers(2)]
        truth = sk.Growth(growth_of(int(rng.integers(5)), c))
        other = c if rng.random() < 0.7 else "1" if c == "1/2" else "1/2"
        share = rng.uniform(0.3, 1)
        y = 1 - share + share * truth(x) / truth(x[4:5])
        values = y[:, None] * np.exp(rng.normal(0, (0.01, 0.02, 0.05)[case % 3], (len(x), 5)))
        data = sk.measurements(x, values, name="f", parameter="x")
        verdict = sk.validate(data, {"f": growth_of(int(rng.integers(5)), other)}, scaling="weak")["f"]
        inside = 1 - verdict.probability["none"]
        is_inside = verdict.expectation.match(truth) != "none"
        exact.append(verdict.model.growth == truth)
        decided.append(max(inside, 1 - inside) >= 0.9)
        wrong.append(decided[-1] and (inside > 0.5) != is_inside)
    print(
        f"{args.cases} series: exact {np.mean(exact):.1%}, inside or outside decided {np.mean(decided):.1%}, of these wrong "
        f"{sum(wrong) / sum(decided):.1%}"
    )


if __name__ == "__main__":
    main()
