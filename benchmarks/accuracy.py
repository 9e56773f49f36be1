"""Measures how often scalkit and Extra-P 4.2.5 are right, on synthetic series whose truth is known.

Every series has 5 to 8 settings p = 2^k, 2^(k+1), ..., five repetitions, and a truth of one of the forms constant plus term,
or constant plus a slower term plus term; the leading term is a tick of the preset ``ics15``, its share at the middle of the
settings 20 to 100 %. An expectation is drawn first, then the match rank of the truth, so that the three ranks are equally
frequent. Noise of 0 to 20 %: symmetric (log-normal) or one-sided with spikes (half-normal, 5 % of the repetitions 1.2 to 3
times). A second set hides a term beyond the limits behind the expected one; a third has powers between the ticks, such as
p^0.42 or p^0.9 log p, to see whether prediction intervals hold there too. The seed decides everything; the program was developed
on other seeds than its default.

Extrapolation errors are those of the statistic that a tool models, for five repetitions: the expected first quartile for
scalkit, the mean for Extra-P. Of scalkit's answers the growth of the model that is shown counts, the prediction of the average,
and for "inside the limits or not" whether the probability of inside is above 60 %: a missed violation is taken as somewhat worse
than a false alarm. Beside it stand the extrapolation of the formula alone, the model that adjusted R2 chooses, the rank of the
shown model and the verdict, which may also be undecided. The interval of scalkit is held against a newly measured value. The
series are simulated, not measured. Extra-P runs with its defaults in an environment of its own, because it needs numpy below 2.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "extrap-4.2.5"
EXPECTATIONS = ("log(p)", "p^(1/2)", "p", "p*log(p)", "p^(3/2)")
NOISE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
KINDS = ("symmetric", "one-sided")
REPETITIONS = 5
FAR = (4, 16)
SURE = 0.9
GUESS = 0.6
AHEAD = ("measured_later", "quartile", "mean")
BETWEEN_NOISE = (0.01, 0.02, 0.05, 0.1, 0.2)
FROM_A_TICK = 0.03  # of a power between the ticks, at least


def middle(x: np.ndarray) -> float:
    return float(np.exp(np.log(x).mean()))


def with_noise(rng: np.random.Generator, y: np.ndarray, kind: str, noise: float) -> np.ndarray:
    shape = (len(y), REPETITIONS)
    if kind == "symmetric":
        return y[:, None] * np.exp(rng.normal(0, noise, shape))
    factor = 1 + np.abs(rng.normal(0, noise, shape))
    spikes = (rng.random(shape) < 0.05) & (noise > 0)
    return y[:, None] * np.where(spikes, factor * rng.uniform(1.2, 3, shape), factor)


def make_case(rng: np.random.Generator, kind: str, noise: float) -> dict[str, Any]:
    """Return one series with its expectation and truth, as plain values."""
    import scalkit as sk

    ticks = sk.SearchSpace.preset("ics15").ticks
    n = int(rng.integers(5, 9))
    x = 2.0 ** (rng.integers(1, 7) + np.arange(n))
    text = EXPECTATIONS[rng.integers(len(EXPECTATIONS))]
    expectation = sk.Expectation(text, deviation="p^(1/2)")
    wanted = ("total", "approximate", "none")[rng.integers(3)]
    candidates = [tick for tick in ticks if expectation.rank(tick) == wanted]
    growth = candidates[rng.integers(len(candidates))]
    share, slow_share = rng.uniform(0.2, 1), rng.uniform(0, 0.7)
    slower = [tick for tick in ticks if tick < growth]
    slow = slower[rng.integers(len(slower))] if slower and rng.random() < 1 / 3 else None
    size = 10 ** rng.uniform(-6, 0)
    at = np.concatenate([x, x[-1] * np.array(FAR)])
    base = np.ones(len(at)) if slow is None else 1 - slow_share + slow_share * slow(at) / slow(middle(x))
    y = size * (base if growth.is_constant else (1 - share) * base + share * growth(at) / growth(middle(x)))
    return {
        "x": x.tolist(),
        "y": with_noise(rng, y[:n], kind, noise).tolist(),
        "measured_later": np.quantile(with_noise(rng, y[n:], kind, noise), 0.25, axis=1).tolist(),
        **later(rng, y[n:], kind, noise),
        "on_ruler": slow is None,
        "expected": text,
        "growth": str(growth),
    }


def later(rng: np.random.Generator, y: np.ndarray, kind: str, noise: float) -> dict[str, list[float]]:
    """Return what scalkit models, the expected first quartile of the repetitions, and what Extra-P models, their mean."""
    many = np.stack([with_noise(rng, y, kind, noise) for _ in range(400)])
    return {"quartile": np.quantile(many, 0.25, axis=2).mean(axis=0).tolist(), "mean": many.mean(axis=(0, 2)).tolist()}


def make_hidden(rng: np.random.Generator, n: int, noise: float) -> dict[str, Any]:
    """Return a series of the expected term and a term beyond the limits that makes up 5 to 60 % at the last setting."""
    import scalkit as sk

    ticks = sk.SearchSpace.preset("ics15").ticks
    x = 2.0 ** (rng.integers(1, 7) + np.arange(n))
    text = ("log(p)", "p")[rng.integers(2)]
    expectation = sk.Expectation(text, deviation="p^(1/2)")
    beyond = [tick for tick in ticks if tick > expectation.limits[1]]
    growth = beyond[rng.integers(len(beyond))]
    share, hidden = rng.uniform(0.2, 1), rng.uniform(0.05, 0.6)
    base = 1 - share + share * expectation.growth(x) / expectation.growth(middle(x))
    y = base + hidden / (1 - hidden) * base[-1] * growth(x) / growth(x[-1:])
    return {"x": x.tolist(), "y": with_noise(rng, y, "symmetric", noise).tolist(), "expected": text, "growth": str(growth)}


def make_between(rng: np.random.Generator, kind: str, noise: float) -> dict[str, Any]:
    """Return a series of a constant and one term whose power is no tick, with a value measured at 4 times its end."""
    import scalkit as sk

    powers = np.array(sorted({float(tick.power("p")) for tick in sk.SearchSpace.preset("ics15").ticks}))
    power = float(rng.uniform(0.1, 1.9))
    while np.abs(powers - power).min() < FROM_A_TICK:
        power = float(rng.uniform(0.1, 1.9))
    n, has_log = int(rng.integers(5, 9)), bool(rng.integers(2))
    x = 2.0 ** ((2, 5)[rng.integers(2)] + np.arange(n))  # few kinds of settings, so that their hypotheses are made once
    at = np.append(x, FAR[0] * x[-1])
    term = (at / middle(x)) ** power * (np.log(at) / np.log(middle(x)) if has_log else 1.0)
    share = rng.uniform(0.2, 1)
    y = 10 ** rng.uniform(-6, 0) * (1 - share + share * term)
    return {
        "x": x.tolist(),
        "y": with_noise(rng, y[:n], kind, noise).tolist(),
        "measured_later": np.quantile(with_noise(rng, y[n:], kind, noise), 0.25, axis=1).tolist(),
        "expected": ("log(p)", "p")[rng.integers(2)],
    }


def by_scalkit(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    import scalkit as sk

    found: dict[int, dict[str, Any]] = {}
    for index, case in sorted(enumerate(cases), key=lambda pair: (pair[1]["expected"], pair[1]["x"])):  # for the caches
        data = sk.measurements(case["x"], case["y"], name="f")
        expected = {"f": {"expectation": case["expected"], "deviation": "p^(1/2)", "space": "ics15"}}
        verdict = sk.validate(data, expected)["f"]
        by_paper = replace(verdict, estimator="adjusted_r2").model
        answer = {
            "growth": str(verdict.model.growth),
            "by_adjusted_r2": str(by_paper.growth),
            "rank": verdict.rank,
            "verdict": verdict.verdict,
        }
        answer["inside"] = 1 - verdict.probability["none"]
        if "quartile" in case:
            far = case["x"][-1] * np.array(FAR)
            answer["later"] = verdict.predict(far).tolist()
            answer["shown"], answer["by_paper"] = verdict.model.by_formula(far).tolist(), by_paper(far).tolist()
        if "measured_later" in case:
            answer["band"] = [float(bound) for bound in verdict.interval(FAR[0] * case["x"][-1], SURE)]
        found[index] = answer
    return [found[index] for index in range(len(cases))]


def by_extrap(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return leading growths and predictions; runs in the environment of Extra-P."""
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator
    from extrap.modelers.single_parameter.basic import SingleParameterModeler

    found = []
    for case in cases:
        experiment = Experiment()
        experiment.add_parameter(Parameter("p"))
        for p, values in zip(case["x"], case["y"], strict=True):
            experiment.add_measurement(Measurement(Coordinate(p), Callpath("f"), Metric("t"), values))
        generator = ModelGenerator(experiment, modeler=SingleParameterModeler())
        generator.model_all()
        function = generator.models[(Callpath("f"), Metric("t"))].hypothesis.function
        factors = []
        for compound in function.compound_terms:
            for term in compound.simple_terms:
                base = "p" if term.term_type == "polynomial" else "log(p)"
                factors.append(f"{base}^({term.exponent})")
        later = [float(function.evaluate(case["x"][-1] * far)) for far in FAR]
        found.append({"growth": "*".join(factors) or "1", "later": later})
        if "at" in case:
            found[-1]["at"] = float(function.evaluate(case["at"]))
    return found


def extrap_answers(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "extrap==4.2.5", "numpy<2"], check=True)
    done = subprocess.run(
        [python, Path(__file__).resolve(), "--extrap-worker"], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


def score(cases: list[dict[str, Any]], answers: list[dict[str, Any]], statistic: str) -> dict[str, float]:
    """Return rates of exact and near leading terms, false alarms, missed violations, and extrapolation errors."""
    import scalkit as sk

    exact, near, alarms, missed, errors = [], [], [], [], []
    for case, answer in zip(cases, answers, strict=True):
        truth, found = sk.Growth.parse(case["growth"], "p"), sk.Growth.parse(answer["growth"], "p")
        expectation = sk.Expectation(case["expected"], deviation="p^(1/2)")
        exact.append(found == truth)
        near.append(abs(found.power("p") - truth.power("p")) <= 0.25)
        inside = answer["inside"] > GUESS if "inside" in answer else expectation.rank(found) != "none"
        (alarms if expectation.rank(truth) != "none" else missed).append(
            not inside if expectation.rank(truth) != "none" else inside
        )
        if statistic in case:
            errors.append(np.abs(np.array(answer["later"]) / np.array(case[statistic]) - 1))
    rates = {"exact": exact, "near": near, "false_alarms": alarms, "missed": missed}
    found = {name: float(np.mean(rate)) for name, rate in rates.items()}
    if not errors:
        return found
    far = np.array(errors)
    return {
        **found,
        **{f"error_{f}x": float(np.median(far[:, i])) for i, f in enumerate(FAR)},
        **{f"error_{f}x_p90": float(np.quantile(far[:, i], 0.9)) for i, f in enumerate(FAR)},
    }


def decisions(cases: list[dict[str, Any]], answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return how many questions "inside the limits or not" are decided, how many of these wrongly, and the calibration."""
    import scalkit as sk

    p = np.array([answer["inside"] for answer in answers])
    truth = np.array(
        [sk.Expectation(c["expected"], deviation="p^(1/2)").rank(sk.Growth.parse(c["growth"], "p")) != "none" for c in cases]
    )
    decided = np.maximum(p, 1 - p) >= SURE
    bins = np.minimum((p * 10).astype(int), 9)
    gaps = [abs(p[bins == b].mean() - truth[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)]
    return {
        "decided": float(decided.mean()),
        "false_alarms": float(np.mean(p[decided & truth] < 0.5)) if (decided & truth).any() else 0.0,
        "violations_found": float(np.mean(p[decided & ~truth] < 0.5)) if (decided & ~truth).any() else 1.0,
        "calibration_error": float(np.sum(gaps)),
        "sure_and_wrong": float(np.mean((p >= SURE) & ~truth)),
    }


def coverage(cases: list[dict[str, Any]], answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return how often the 90 % interval at 4 times the largest setting holds the value measured there."""
    inside = covered(cases, answers)
    on_ruler = np.array([c["on_ruler"] for c in cases])
    return {"on_ruler": float(inside[on_ruler].mean()), "second_term": float(inside[~on_ruler].mean())}


def covered(cases: list[dict[str, Any]], answers: list[dict[str, Any]]) -> np.ndarray:
    """Return of each series whether its interval holds the value measured at 4 times its end."""
    return np.array([a["band"][0] <= c["measured_later"][0] <= a["band"][1] for c, a in zip(cases, answers, strict=True)])


def by_words(cases: list[dict[str, Any]], answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return false alarms and missed violations of the best model's rank and of the verdict, and how many are undecided."""
    import scalkit as sk

    inside = np.array(
        [sk.Expectation(c["expected"], deviation="p^(1/2)").rank(sk.Growth.parse(c["growth"], "p")) != "none" for c in cases]
    )
    rank, verdict = (np.array([answer[word] for answer in answers]) for word in ("rank", "verdict"))
    return {
        "rank_false_alarms": float(np.mean(rank[inside] == "none")),
        "rank_missed": float(np.mean(rank[~inside] != "none")),
        "verdict_false_alarms": float(np.mean(verdict[inside] == "none")),
        "verdict_missed": float(np.mean(np.isin(verdict[~inside], ("total", "approximate")))),
        "undecided": float(np.mean(verdict == "undecided")),
    }


def rows(n: int, seed: int, with_extrap: bool, only: str = "", far: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    all_cases: list[dict[str, Any]] = []
    all_answers: list[dict[str, Any]] = []
    for kind in KINDS:
        for noise in NOISE:
            name = f"{kind} {100 * noise:g} %"
            if only not in name:
                continue
            rng = np.random.default_rng([seed, KINDS.index(kind), int(1000 * noise)])
            cases = [make_case(rng, kind, noise) for _ in range(n)]
            if not far:
                cases = [{key: value for key, value in case.items() if key not in AHEAD} for case in cases]
            answers = by_scalkit(cases)
            all_cases += cases
            all_answers += answers
            row: dict[str, Any] = {"scalkit": score(cases, answers, "quartile")}
            row["shown"] = score(cases, [{**one, "later": one.get("shown")} for one in answers], "quartile")
            paper = [{"growth": one["by_adjusted_r2"], "later": one.get("by_paper")} for one in answers]
            row["adjusted_r2"] = score(cases, paper, "quartile")
            if far:
                row["coverage_4x"] = coverage(cases, answers)
            row["decisions"] = decisions(cases, answers)
            row["words"] = by_words(cases, answers)
            if with_extrap:
                row["extrap"] = score(cases, extrap_answers(cases), "mean")
            yield name, row
    everything: dict[str, Any] = {"decisions": decisions(all_cases, all_answers)}
    if far:
        everything["coverage_4x"] = coverage(all_cases, all_answers)
    yield "all", everything


def hidden_rows(n: int, seed: int) -> Iterator[tuple[str, float]]:
    for settings in (6, 7, 8):
        for noise in (0.01, 0.02, 0.05):
            rng = np.random.default_rng([seed, settings, int(1000 * noise), 7])
            cases = [make_hidden(rng, settings, noise) for _ in range(n)]
            yield f"{settings} settings, {100 * noise:g} %", decisions(cases, by_scalkit(cases))["sure_and_wrong"]


def between_rows(n: int, seed: int) -> Iterator[tuple[str, float]]:
    kinds = [(kind, noise) for kind in KINDS for noise in BETWEEN_NOISE]
    cases = []
    for kind, noise in kinds:
        rng = np.random.default_rng([seed, KINDS.index(kind), int(1000 * noise), 11])
        cases += [make_between(rng, kind, noise) for _ in range(n)]
    inside = covered(cases, by_scalkit(cases)).reshape(len(kinds), n)
    for (kind, noise), row in zip(kinds, inside, strict=True):
        yield f"{kind} {100 * noise:g} %", float(row.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300, help="series in each row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument(
        "--only",
        default="",
        metavar="ROW",
        help="one row alone, as 'symmetric 20 %%', and neither hidden terms nor powers between the ticks; 'between' for these",
    )
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--ranks", action="store_true", help="growths, ranks and verdicts alone, which takes a tenth of the time")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--extrap-worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.extrap_worker:
        print(json.dumps(by_extrap(json.loads(sys.stdin.read()))))
        return
    result = {"seed": args.seed, "cases": args.cases, "rows": {}, "hidden": {}, "between": {}}
    is_between = args.only == "between"
    for name, row in () if is_between else rows(args.cases, args.seed, not args.no_extrap, args.only, not args.ranks):
        result["rows"][name] = row
        if not args.json:
            show(name, row)
    for name, share in () if args.only or args.ranks else hidden_rows(args.cases, args.seed):
        result["hidden"][name] = share
        if not args.json:
            print(f"hidden term, {name}: sure and wrong {share:.3f}")
    for name, share in between_rows(args.cases, args.seed) if is_between or not (args.only or args.ranks) else ():
        result["between"][name] = share
        if not args.json:
            print(f"power between ticks, {name}: covered at 4x {share:.3f}", flush=True)
    if result["between"]:
        result["between"]["mean"] = float(np.mean(list(result["between"].values())))
    if result["hidden"]:
        result["hidden"]["mean"] = float(np.mean(list(result["hidden"].values())))
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        for kind in ("hidden", "between"):
            if result[kind]:
                print(f"{kind}, mean: {result[kind]['mean']:.3f}")


def show(name: str, row: dict[str, Any]) -> None:
    for tool in ("scalkit", "shown", "adjusted_r2", "extrap"):
        if tool in row:
            print(f"{name:18} {tool:8} " + "  ".join(f"{k} {v:.3f}" for k, v in row[tool].items()))
    if "words" in row:
        print(f"{name:18} words    " + "  ".join(f"{k} {v:.4f}" for k, v in row["words"].items()))
    words = "  ".join(f"{k} {v:.4f}" for k, v in row["decisions"].items())
    held = "  ".join(f"{k} {v:.3f}" for k, v in row.get("coverage_4x", {}).items())
    print(f"{name:18} verdicts {words}" + (f"  covered at 4x: {held}" if held else ""), flush=True)


if __name__ == "__main__":
    main()
