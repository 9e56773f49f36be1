"""How often changes planted in a series of commits are found, and how often nothing is called a change.

    python benchmarks/changes.py --series 100 --seed 20261202

A function O(n) at six sizes over a factor of 32, five repetitions with log-normal noise. Each commit is compared with the first
one; a change is found if its commit or the next one fails. The history of all commits so far is asked, too: a change planted
anywhere in a series of 30 is found if two commits later the first bad commit is its own or the next one; a false alarm is a
commit at which the history of a series without a change fails.

With ``--odd``, single commits are off for reasons of their own, as on a busy machine, and only the history is asked. Noise is of
each value, as above, or of a whole commit that was measured once: all its sizes take longer together. A false first bad commit
is one that the history of a series without a change names; planted changes are looked for with such commits in between, too.

With ``--over-two``, functions log p + S of 25 points are compared with a baseline; a change is found if the points that it is
said to concern are the right ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable
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

SLOW, FAST = 0.02, 0.01
"""Shares of commits that are off: nearly one in a series."""
MOST = 2.0
"""An odd commit takes 1.1 to so many times as long, or as short."""
PLACES = {"first": 0, "second": 1, "middle": COMMITS // 2, "last but one": COMMITS - 2, "last": COMMITS - 1}

POINTS = np.array([(p, size) for p in 2.0 ** np.arange(3, 8) for size in 4.0 ** np.arange(3, 8)])
TIME_OVER_TWO = 1e-6 * (2 + 3 * np.log2(POINTS[:, 0])) + 1e-9 * POINTS[:, 1]
OVER_TWO: dict[str, Floats] = {
    "1.3 times": np.full(len(POINTS), 1.3),
    "1.3 times from a size on": np.where(POINTS[:, 1] >= 1024, 1.3, 1.0),
    "1.6 times at one point": np.where((POINTS == [64, 1024]).all(axis=1), 1.6, 1.0),
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
        quo = sk.Baseline(sk.validate(measured(rng, TIME, noise), {"f": "n"}))
        count += any(fails(quo, measured(rng, CHANGES[change], noise)) for _ in range(2))
    return count / series


def alarms(series: int, seed: int, noise: float, commits: int = 1) -> int:
    """Return how many commits without a change fail."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        quo = sk.Baseline(sk.validate(measured(rng, TIME, noise), {"f": "n"}))
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


def measured_once(rng: np.random.Generator, y: Floats, noise: float) -> Any:
    """Return measurements of a commit in one run, whose noise all sizes share."""
    return sk.measurements(N, y * np.exp(noise * rng.standard_normal()), parameter="n", name="f")


NOISES: dict[str, Callable[[np.random.Generator, Floats, float], Any]] = {"value": measured, "commit": measured_once}


def odd_factors(rng: np.random.Generator, commits: int = COMMITS, *, in_a_row: bool = False) -> Floats:
    """Return the factors of all commits where a few are off, apart from each other or independent."""
    factors = np.ones(commits)
    for k, drawn in enumerate(rng.random(commits)):
        if in_a_row or k == 0 or factors[k - 1] == 1:
            factors[k] = odd_factor(rng, drawn < SLOW) if drawn < SLOW + FAST else 1.0
    return factors


def odd_factor(rng: np.random.Generator, is_slow: bool) -> float:
    """Return the factor of an odd commit."""
    factor = float(rng.uniform(1.1, MOST))
    return factor if is_slow else 1 / factor


def odd_at(rng: np.random.Generator, place: int, is_slow: bool) -> Floats:
    """Return the factors of all commits where one is off."""
    factors = np.ones(COMMITS)
    factors[place] = odd_factor(rng, is_slow)
    return factors


UNCHANGED: dict[str, Callable[[np.random.Generator], Floats]] = {
    "none odd": lambda _: np.ones(COMMITS),
    "odd ones apart": odd_factors,
    "odd ones apart, drift of 2 %": lambda rng: odd_factors(rng) * np.linspace(1, 1.02, COMMITS),
    "odd ones, also in a row": lambda rng: odd_factors(rng, in_a_row=True),
}
ONE_ODD: dict[str, Callable[[np.random.Generator], Floats]] = {
    f"{name} {kind}": lambda rng, place=place, kind=kind: odd_at(rng, place, kind == "slow")  # type: ignore[misc]
    for name, place in PLACES.items()
    for kind in ("slow", "fast")
}


def two_modes(rng: np.random.Generator, share: float) -> Floats:
    """Return the factors of all commits on a machine that is 15 % slower at some of them."""
    return np.where(rng.random(COMMITS) < share, 1.15, 1.0)


TWO_MODES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "15 % slower at one in ten": lambda rng: two_modes(rng, 0.1),
    "15 % slower at half of them": lambda rng: two_modes(rng, 0.5),
}


def false_first_bad(
    series: int, seed: int, of: str, noise: float, factors: Callable[[np.random.Generator], Floats]
) -> dict[str, int]:
    """Return in how many series without a change a first bad commit is named, and in how many the last must be measured again."""
    rng, named, again = np.random.default_rng(seed), 0, 0
    for _ in range(series):
        commits = [(str(k), NOISES[of](rng, TIME * factor, noise)) for k, factor in enumerate(factors(rng))]
        found = history(commits)
        named += found.first_bad is not None
        again += bool(found.measure_again)
    return {"series": series, "first bad": named, "measure again": again}


def found_among_odd(series: int, seed: int, of: str, noise: float, change: str, *, are_odd: bool, later: int = 2) -> float:
    """Return the share of series whose first bad commit, so many commits after a change, is its own or the next one."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        first = int(rng.integers(2, COMMITS - 1))
        factors = odd_factors(rng, first + later) if are_odd else np.ones(first + later)
        times = [factors[k] * (CHANGES[change] if k >= first else TIME) for k in range(first + later)]
        bad = history([(str(k), NOISES[of](rng, y, noise)) for k, y in enumerate(times)]).first_bad
        count += bad in (str(first), str(first + 1))
    return count / series


def print_odd(series: int, seed: int) -> None:
    """Print what the history finds where commits are off: planted changes, and false first bad commits."""
    few = max(series // 5, 1)
    for number, (of, noise) in enumerate(itertools.product(NOISES, (0.01, 0.02, 0.05))):
        row, own = {"noise of each": of, "noise": noise}, seed + 100 * number
        for change, (are_odd, later) in itertools.product(CHANGES, ((False, 2), (True, 2), (True, 5))):
            share = found_among_odd(few, own, of, noise, change, are_odd=are_odd, later=later)
            print(json.dumps({**row, "change": change, "odd ones": are_odd, "later": later, "found": share}), flush=True)
        for k, (name, factors) in enumerate({**UNCHANGED, **TWO_MODES, **ONE_ODD}.items(), 1):
            some = series if name in UNCHANGED else few
            print(json.dumps({**row, "unchanged": name, **false_first_bad(some, own + k, of, noise, factors)}), flush=True)


def over_two(rng: np.random.Generator, factor: Floats | float, noise: float) -> Any:
    """Return measurements of a commit over two parameters."""
    y = (TIME_OVER_TWO * factor)[:, None] * np.exp(noise * rng.standard_normal((len(POINTS), 5)))
    return sk.measurements(POINTS, y, parameter=["p", "S"], name="f")


def found_over_two(series: int, seed: int, noise: float, change: str) -> float:
    """Return the share of commits over two parameters that are said to be slower, at the right points."""
    rng, count = np.random.default_rng(seed), 0
    factor = OVER_TWO[change]
    for _ in range(series):
        quo = sk.Baseline(sk.validate(over_two(rng, 1.0, noise), {"f": "log(p) + S"}))
        (one,) = quo.compare(sk.validate(over_two(rng, factor, noise), {"f": "log(p) + S"}))
        there = one.regression.concerned if one.regression is not None and one.regression.shape else np.zeros(len(POINTS))
        count += bool(one.is_slower and (there == (factor > 1)).all())
    return count / series


def alarms_over_two(series: int, seed: int, noise: float) -> int:
    """Return how many commits over two parameters without a change fail."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(series):
        quo = sk.Baseline(sk.validate(over_two(rng, 1.0, noise), {"f": "log(p) + S"}))
        count += quo.compare(sk.validate(over_two(rng, 1.0, noise), {"f": "log(p) + S"})).exit_status()
    return count


def print_over_two(series: int, seed: int) -> None:
    """Print the shares that are found over two parameters, and the false alarms of four times as many commits."""
    for noise in (0.01, 0.05):
        shares = {change: found_over_two(series, seed, noise, change) for change in OVER_TWO}
        wrong = alarms_over_two(4 * series, seed + 1, noise)
        print(json.dumps({"over": "p, S", "noise": noise, **shares, "commits": 4 * series, "false alarms": wrong}), flush=True)


def main() -> None:
    """Print the tables as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261202)
    parser.add_argument("--odd", action="store_true", help="series in which commits are off alone")
    parser.add_argument("--over-two", action="store_true", help="functions of two parameters alone")
    args = parser.parse_args()
    if args.odd:
        print_odd(args.series, args.seed)
        return
    if args.over_two:
        print_over_two(args.series, args.seed)
        return
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
