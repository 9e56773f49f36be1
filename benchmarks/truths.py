"""How near scalkit and Extra-P 4.2.5 come where the truth is a term of one of them, or of neither; simulated series.

Each series has 5 to 8 settings, five repetitions and one term beside a constant, whose share is 20 to 100 % in the middle: a tick
of the preset ``ics15``, a term of Extra-P's default list, or ``p^a log^b(p)`` with `a` at least 0.03 from every power of both.
Expectation and truth are drawn apart. scalkit takes its ruler around the expectation, Extra-P its defaults. The interval is held
against a value measured at 2, 4 and 16 times the last setting, the first quartile of as many repetitions. The seed decides all.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
from accuracy import EXPECTATIONS, FAR, SURE, decisions, extrap_answers, later, middle, score, with_noise

TIMES = (2, 4, 16)
NOISE = (("symmetric", 0.01), ("symmetric", 0.05), ("symmetric", 0.1), ("one-sided", 0.05))
TRUTHS = ("ours", "Extra-P's", "neither's")
EXTRAP = (
    "0,1 0,2 1/4,0 1/3,0 1/4,1 1/3,1 1/4,2 1/3,2 1/2,0 1/2,1 1/2,2 2/3,0 3/4,0 2/3,1 3/4,1 4/5,0 2/3,2 3/4,2 1,0 1,1 1,2 5/4,0 "
    "5/4,1 4/3,0 4/3,1 3/2,0 3/2,1 3/2,2 5/3,0 7/4,0 2,0 2,1 2,2 9/4,0 7/3,0 5/2,0 5/2,1 5/2,2 8/3,0 11/4,0 3,0 3,1"
).split()
APART = 0.03


def growth_of(rng: np.random.Generator, truth: str) -> Any:
    import scalkit as sk

    ticks = [tick for tick in sk.SearchSpace.preset("ics15").ticks if not tick.is_constant]
    if truth == "ours":
        return ticks[rng.integers(len(ticks))]
    if truth == "Extra-P's":
        exponent, log = EXTRAP[rng.integers(len(EXTRAP))].split(",")
        return sk.Growth.of("p", power=exponent, log=log)
    taken = [float(tick.power("p")) for tick in ticks] + [float(Fraction(each.split(",")[0])) for each in EXTRAP]
    power = 0.0
    while min(abs(power - one) for one in taken) < APART:
        power = round(float(rng.uniform(0.1, 2.9)), 3)
    return sk.Growth.of("p", power=str(power), log=int(rng.integers(3)))


def make_case(rng: np.random.Generator, truth: str, kind: str, noise: float) -> dict[str, Any]:
    n, growth = int(rng.integers(5, 9)), growth_of(rng, truth)
    x = 2.0 ** ((2, 5)[rng.integers(2)] + np.arange(n))  # few kinds of settings, so that their hypotheses are made once
    at = np.concatenate([x, x[-1] * np.array(TIMES)])
    share = rng.uniform(0.2, 1)
    y = 10 ** rng.uniform(-6, 0) * (1 - share + share * growth(at) / growth(np.array([middle(x)])))
    return {
        "x": x.tolist(),
        "y": with_noise(rng, y[:n], kind, noise).tolist(),
        "measured": np.quantile(with_noise(rng, y[n:], kind, noise), 0.25, axis=1).tolist(),
        **later(rng, y[[n + TIMES.index(far) for far in FAR]], kind, noise),
        "expected": EXPECTATIONS[rng.integers(len(EXPECTATIONS))],
        "growth": str(growth),
    }


def by_scalkit(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what scalkit says of each; those at the same settings are judged together."""
    import scalkit as sk

    groups: dict[tuple[float, ...], list[int]] = defaultdict(list)
    for place, case in enumerate(cases):
        groups[tuple(case["x"])].append(place)
    found: dict[int, dict[str, Any]] = {}
    for x, places in groups.items():
        names = [f"f{place}" for place in places]
        data = sk.measurements(x, cases[places[0]]["y"]).isel(function=[0] * len(places)).assign_coords(function=names)
        values = np.array([cases[place]["y"] for place in places])
        data["time"] = data.time.copy(data=values.reshape(data.time.shape))
        expected = [{"expectation": cases[place]["expected"], "deviation": "p^(1/2)"} for place in places]
        judged = sk.validate(data, dict(zip(names, expected, strict=True)), progress=False)
        for name, place in zip(names, places, strict=True):
            verdict = judged[name]
            found[place] = {
                "growth": str(verdict.model.growth),
                "inside": 1 - verdict.probability["none"],
                "later": verdict.predict(x[-1] * np.array(FAR)).tolist(),
                "shown": verdict.model.by_formula(x[-1] * np.array(FAR)).tolist(),
                "bands": verdict.interval(x[-1] * np.array(TIMES), SURE).T.tolist(),
            }
    return [found[place] for place in range(len(cases))]


def row_of(cases: list[dict[str, Any]], with_extrap: bool) -> dict[str, Any]:
    answers = by_scalkit(cases)
    bands, measured = np.array([one["bands"] for one in answers]), np.array([case["measured"] for case in cases])
    held = ((bands[:, :, 0] <= measured) & (measured <= bands[:, :, 1])).mean(axis=0)
    row: dict[str, Any] = {
        "scalkit": score(cases, answers, "quartile"),
        "shown": score(cases, [{**one, "later": one["shown"]} for one in answers], "quartile"),
        "decisions": decisions(cases, answers),
        "covered": {f"{times}x": float(share) for times, share in zip(TIMES, held, strict=True)},
    }
    return {**row, "extrap": score(cases, extrap_answers(cases), "mean")} if with_extrap else row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60, help="series in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261126)
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    for truth in TRUTHS:
        for kind, noise in NOISE:
            rng = np.random.default_rng([args.seed, TRUTHS.index(truth), len(kind), int(1000 * noise)])
            cases = [make_case(rng, truth, kind, noise) for _ in range(args.cases)]
            name = f"{truth}, {kind} {100 * noise:g} %"
            result[name] = row_of(cases, not args.no_extrap)
            for what, values in () if args.json else result[name].items():
                print(f"{name:28} {what:9} " + "  ".join(f"{k} {v:.3f}" for k, v in values.items()), flush=True)
    if args.json:
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
