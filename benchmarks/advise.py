"""Simulates whoever measures on: how often the rank is wrong in the end, and what it cost, by advice or by rule of thumb.

Every series starts with five repetitions at five settings, ``p = 32, ..., 512`` or ``2, ..., 32``, with log-normal noise. The
expectation is ``log(p)`` or ``p`` with the deviation ``p^(1/2)``; the rank of the truth is drawn first, so that the three are
equally frequent, then its leading term among the ticks of the preset ``ics15``; its share at the middle of the settings is 20
to 100 %. A step measures three repetitions at one setting, for three times that setting. The budget allows what `BUDGETS`
says, beyond the start.

- none: the five settings only
- repeat: measure the five settings again in turn, until the budget is spent
- random: any setting that can be paid, until the budget is spent
- largest: the largest setting that can be paid, until the budget is spent
- next doubling: twice the largest setting, until that cannot be paid
- next doubling, stop: the same, but until the advice is to stop
- advise: the first setting that ``advise`` names, until it says stop or nothing can be paid

Settings to choose from are ``p = 2^(k/2)`` from the first one on, rounded. The error is the share of series whose most
probable rank in the end is not that of the truth. The seed decides everything.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

EXPECTATIONS = ("log(p)", "p")
STARTS = (32, 2)
BUDGETS = {0.02: 768, 0.05: 768, 0.1: 3072}  # for each noise, in units of the first setting
FIRST, STEP = 5, 3
SURE = 0.9
RANKS = ("total", "approximate", "none")


@dataclass
class Case:
    """A series that is being measured, its truth, and what is left to spend."""

    expected: str
    rank: str
    truth: Callable[[np.ndarray], np.ndarray]
    noise: float
    values: dict[int, list[float]]
    budget: float
    rng: np.random.Generator
    steps: int = 0
    probability: dict[str, float] | None = None
    done: bool = False

    def measure(self, p: int, repetitions: int) -> None:
        y = float(self.truth(np.array([float(p)]))[0])
        self.values.setdefault(p, []).extend(y * np.exp(self.rng.normal(0, self.noise, repetitions)))

    def series(self) -> Any:
        from scalkit.measure import Series

        x = sorted(self.values)
        counts = np.array([len(self.values[p]) for p in x])
        values = np.full((len(x), counts.max()), np.nan)
        for row, p in zip(values, x, strict=True):
            row[: len(self.values[p])] = self.values[p]
        return Series(
            function="f",
            metric="time",
            parameter="p",
            unit="s",
            exact=False,
            x=np.array(x, dtype=float),
            values=values,
            y=np.nanmedian(values, axis=1),
            n_repetitions=counts,
            caveats=(),
            decides=True,
            noise=self.noise,
        )


def make_case(seed: list[int], start: int, noise: float) -> Case:
    import scalkit as sk

    rng = np.random.default_rng(seed)
    x = start * 2.0 ** np.arange(5)
    text = EXPECTATIONS[rng.integers(len(EXPECTATIONS))]
    expectation = sk.Expectation(text, deviation="p^(1/2)")
    rank = RANKS[rng.integers(3)]
    ticks = [tick for tick in sk.SearchSpace.preset("ics15").ticks if expectation.match(tick) == rank]
    growth, share = ticks[rng.integers(len(ticks))], rng.uniform(0.2, 1)

    def truth(p: np.ndarray) -> np.ndarray:
        return np.asarray(1 - share + share * growth(p) / growth(x[2]))

    case = Case(text, rank, truth, noise, {}, BUDGETS[noise] * start, rng)
    for p in x:
        case.measure(int(p), FIRST)
    return case


def settings(case: Case) -> np.ndarray:
    """Return the settings that can be paid."""
    first = min(case.values)
    steps = np.arange(0, 2 * np.log2(BUDGETS[case.noise]) + 1)
    found = np.unique(np.round(first * 2 ** (steps / 2)))
    return found[found * STEP <= case.budget]


def judge(cases: list[Case]) -> list[Any]:
    """Return the verdict on each case, computed together."""
    import scalkit as sk
    from scalkit.judge.along_one import judge as judge_series

    space = sk.SearchSpace.preset("ics15")
    expectations = {text: sk.Expectation(text, deviation="p^(1/2)") for text in EXPECTATIONS}
    return judge_series([(case.series(), expectations[case.expected], space) for case in cases])


def repeat(case: Case, _: Any) -> float | None:
    now = sorted(case.values)[case.steps % 5]
    return now if now * STEP <= case.budget else None


def random(case: Case, _: Any) -> float | None:
    ahead = settings(case)
    return float(case.rng.choice(ahead)) if ahead.size else None


def largest(case: Case, _: Any) -> float | None:
    return float(settings(case).max(initial=0)) or None


def doubling(case: Case, _: Any) -> float | None:
    ahead = 2 * max(case.values)
    return ahead if ahead * STEP <= case.budget else None


def doubling_until(case: Case, verdict: Any) -> float | None:
    from scalkit.judge.advise import advise

    ahead = doubling(case, verdict)
    return None if ahead is None or advise(verdict, [ahead]).stop else ahead


def by_advice(case: Case, verdict: Any) -> float | None:
    from scalkit.judge.advise import advise

    ahead = settings(case)
    if not ahead.size:
        return None
    advice = advise(verdict, ahead)
    return None if advice.stop else advice.candidates[0].x


STRATEGIES: dict[str, tuple[Callable[[Case, Any], float | None], bool]] = {
    "none": (lambda *_: None, False),
    "repeat": (repeat, False),
    "random": (random, False),
    "largest": (largest, False),
    "next doubling": (doubling, False),
    "next doubling, stop": (doubling_until, True),
    "advise": (by_advice, True),
}
"""What to measure next, and whether that asks for the verdict."""


def play(cases: list[Case], strategy: str) -> None:
    """Measure until the strategy ends, all cases side by side."""
    choose, needs_verdict = STRATEGIES[strategy]
    alive = cases
    while alive:
        known = judge(alive) if needs_verdict else [None] * len(alive)
        for case, verdict in zip(alive, known, strict=True):
            p = choose(case, verdict)
            if p is None:
                case.done = True
                case.probability = verdict and verdict.probability
            else:
                case.measure(int(p), STEP)
                case.budget -= STEP * p
                case.steps += 1
        alive = [case for case in alive if not case.done]
    late = [case for case in cases if case.probability is None]
    for case, verdict in zip(late, judge(late), strict=True):
        case.probability = verdict.probability


def score(cases: list[Case], start: int) -> dict[str, float]:
    sure = [max(case.probability.values()) for case in cases]
    wrong = np.array([max(case.probability, key=case.probability.get) != case.rank for case in cases])
    spent = np.array([BUDGETS[case.noise] * start - case.budget for case in cases])
    return {
        "error": float(wrong.mean()),
        "undecided": float(np.mean(np.array(sure) < SURE)),
        "sure_and_wrong": float(np.mean(wrong & (np.array(sure) >= SURE))),
        "cost": float(spent.mean()),
        "cost_median": float(np.median(spent)),
        "steps": float(np.mean([case.steps for case in cases])),
    }


def rows(n: int, seed: int, noises: list[float], starts: list[int], strategies: list[str]) -> Any:
    for start in starts:
        for noise in noises:
            reference = None
            for strategy in strategies:
                begin = time.process_time()
                cases = [make_case([seed, start, int(1000 * noise), i], start, noise) for i in range(n)]
                play(cases, strategy)
                row = score(cases, start)
                row["cpu_s"] = time.process_time() - begin
                reference = row["cost"] if strategy == "next doubling" else reference
                if reference:
                    row["of_next_doubling"] = row["cost"] / reference
                yield start, noise, strategy, row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=800, help="series in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--noise", type=float, nargs="+", default=[*BUDGETS], choices=[*BUDGETS])
    parser.add_argument("--start", type=int, nargs="+", default=[*STARTS], help="first of the five settings")
    parser.add_argument("--strategy", nargs="+", default=[*STRATEGIES], choices=[*STRATEGIES])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = []
    for start, noise, strategy, row in rows(args.cases, args.seed, args.noise, args.start, args.strategy):
        found.append({"start": start, "noise": noise, "strategy": strategy, **row})
        if not args.json:
            show(start, noise, strategy, row)
    if args.json:
        print(json.dumps({"seed": args.seed, "cases": args.cases, "rows": found}, indent=1))


def show(start: int, noise: float, strategy: str, row: dict[str, float]) -> None:
    relative = f"{row['of_next_doubling']:5.2f}" if "of_next_doubling" in row else "    -"
    print(
        f"from {start:2}, {100 * noise:2g} %  {strategy:20} error {100 * row['error']:5.1f} %  "
        f"undecided {100 * row['undecided']:5.1f} %  sure and wrong {100 * row['sure_and_wrong']:4.1f} %  "
        f"cost {row['cost']:8.0f} (median {row['cost_median']:6.0f}, of next doubling {relative})  "
        f"steps {row['steps']:5.1f}  CPU {row['cpu_s']:5.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
