"""Compares models over two and three parameters with those of Extra-P 4.2.5: growth, predictions, intervals, time.

Every case is a sum of products of one-parameter terms with positive shares, drawn from the terms that both programs search
by default; some parameters have no effect. Designs: every combination of five values each, or sparse: one line of five
values for each parameter through the smallest point, and one point more. Five repetitions each. Noise: symmetric (normal,
relative) or one-sided (half normal, relative, and 5 % of the repetitions 20 to 100 % longer).

*Exact*: the leading term along every parameter is right. *Near*: none is off by more than a power of 1/4. Errors are those of
predictions at four times the largest value of every parameter, against the statistic over repetitions that a program models:
the first quartile for scalkit, the mean for Extra-P. Nobody is told the truth, but
for the answers: to the true claim, and to one that is too optimistic by a power of 1/2 along one parameter. Extra-P runs with
its defaults in an environment of its own, which this program makes, because it needs numpy below 2.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from fractions import Fraction
from typing import Any

import extra_p
import numpy as np

POWERS = ("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1", "5/4", "4/3", "3/2", "2")
TERMS = [(a, b) for a in POWERS for b in (0, 1) if (a, b) != ("0", 0)] + [("5/3", 0), ("7/4", 0)]
AXES = [2.0 ** np.arange(5, 10), 2.0 ** np.arange(2, 7), 4.0 ** np.arange(3, 8), np.arange(10.0, 60.0, 10.0)]
STRUCTURES = {
    2: [[(0, 1)], [(0,), (1,)], [(0,), (0, 1)], [(0,)]],
    3: [[(0, 1, 2)], [(0,), (1,), (2,)], [(0, 1), (2,)], [(0,), (0, 1, 2)], [(0, 1)], [(0,), (1, 2), (2,)]],
}
REPETITIONS = 5
NOISES = ((0.0, "none"), *((s, kind) for s in (0.01, 0.02, 0.05) for kind in ("symmetric", "one-sided")))
NAMES = "pSn"
NEAR = 0.25 + 1e-9
SURE = 0.95
ANSWERS = ("true fine", "true fix", "wrong sure", "wrong fix", "wrong fine")


def term_values(term: tuple[str, int], x: np.ndarray) -> np.ndarray:
    return x ** float(Fraction(term[0])) * np.log2(x) ** term[1]


def factors(rng: np.random.Generator, shape: tuple[int, int], noise: float, kind: str) -> np.ndarray:
    """Return factors by which noise changes repetitions."""
    if kind == "symmetric":
        return 1 + noise * rng.standard_normal(shape)
    if kind == "one-sided":
        spikes = np.where(rng.random(shape) < 0.05, rng.uniform(0.2, 1.0, shape), 0.0)
        return 1 + noise * np.abs(rng.standard_normal(shape)) + spikes
    return np.ones(shape)


def make_case(rng: np.random.Generator, n_parameters: int, design: str, noise: float, kind: str) -> dict[str, Any]:
    """Return points (n, parameters), values (n, repetitions), the truth, and its value at four times the largest point."""
    axes = [AXES[rng.integers(len(AXES))] for _ in range(n_parameters)]
    index = np.indices((5,) * n_parameters).reshape(n_parameters, -1).T
    if design == "sparse":
        more = rng.integers(1, 5, n_parameters)
        on_line = (index > 0).sum(axis=1) <= 1
        index = index[on_line | (index == more).all(axis=1)]
    points = np.stack([axis[index[:, i]] for i, axis in enumerate(axes)], axis=1)
    ahead = 4 * points.max(axis=0)
    terms = [TERMS[rng.integers(len(TERMS))] for _ in range(n_parameters)]
    order = rng.permutation(n_parameters)
    structure = STRUCTURES[n_parameters][rng.integers(len(STRUCTURES[n_parameters]))]
    columns = [[int(order[k]) for k in members] for members in structure]
    middle = [float(axis[2]) for axis in axes]
    shares = 0.1 + rng.random(len(structure) + 1)
    every = np.vstack([points, ahead])
    y = np.full(len(every), shares[0])
    for share, members in zip(shares[1:], columns, strict=True):
        product = np.full(len(every), share)
        for i in members:
            product *= term_values(terms[i], every[:, i]) / term_values(terms[i], np.array([middle[i]]))
        y = y + product
    y = y * 10.0 ** rng.uniform(-6, 0)
    values = np.repeat(y[:-1, None], REPETITIONS, axis=1)
    values = values * factors(rng, values.shape, noise, kind)
    typical = factors(np.random.default_rng(1), (20_000, REPETITIONS), noise, kind)
    acting = sorted({i for members in columns for i in members})
    return {
        "points": points.tolist(),
        "values": values.tolist(),
        "truth": [terms[i] if i in acting else ("0", 0) for i in range(n_parameters)],
        "columns": [[(i, terms[i]) for i in members] for members in columns],
        "optimistic": int(rng.choice(acting)),
        "ahead": ahead.tolist(),
        # What each program models: the first quartile of the repetitions, or their mean.
        "quartile": float(y[-1] * np.quantile(typical, 0.25, axis=1).mean()),
        "mean": float(y[-1] * typical.mean()),
        "measured": float(y[-1] * np.quantile(factors(rng, (1, REPETITIONS), noise, kind), 0.25)),
    }


def by_extrap(cases: list[dict[str, Any]]) -> tuple[list[list[tuple[str, int]]], list[float], float]:
    """Return the leading terms that Extra-P finds, its predictions, and CPU seconds; runs in Extra-P's environment."""
    import warnings

    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator
    from extrap.modelers.multi_parameter.multi_parameter_modeler import MultiParameterModeler

    warnings.simplefilter("ignore")
    found, predicted, seconds = [], [], 0.0
    for number, case in enumerate([cases[0], *cases]):  # what is loaded once is not counted
        n_parameters = len(case["truth"])
        experiment = Experiment()
        for name in NAMES[:n_parameters]:
            experiment.add_parameter(Parameter(name))
        path, metric = Callpath("f"), Metric("time")
        for point, values in zip(case["points"], case["values"], strict=True):
            experiment.add_measurement(Measurement(Coordinate(*point), path, metric, values))
        start = time.process_time()
        generator = ModelGenerator(experiment, modeler=MultiParameterModeler())
        generator.model_all()
        took = time.process_time() - start
        terms = [("0", 0)] * n_parameters
        function = generator.models[(path, metric)].hypothesis.function
        value = float(function.evaluate(case["ahead"]))
        for compound in function.compound_terms:
            for parameter, term in compound.parameter_term_pairs:
                exponents = {"polynomial": Fraction(0), "logarithm": Fraction(0)}
                for simple in term.simple_terms:
                    exponents[simple.term_type] += Fraction(simple.exponent).limit_denominator(60)
                terms[parameter] = (str(exponents["polynomial"]), int(exponents["logarithm"]))
        if number:
            found.append(terms)
            predicted.append(value)
            seconds += took
    return found, predicted, seconds


def series_of(case: dict[str, Any]) -> Any:
    """Return the values of a case as scalkit judges them."""
    import scalkit as sk
    from scalkit.measure import several_series

    names = list(NAMES[: len(case["truth"])])
    (series,) = several_series(sk.measurements(case["points"], np.array(case["values"]), parameter=names))
    return series


def judged(series: Any, claim: str, *, knows_claim: bool) -> Any:
    """Return the verdict on a series about a claim."""
    import scalkit as sk
    from scalkit.judge.several.expectation import SeveralExpectation
    from scalkit.judge.several.judge import judge_several

    spaces = {name: sk.SearchSpace.preset("ics15", name) for name in series.parameters}
    return judge_several(series, SeveralExpectation(claim, parameters=series.parameters), spaces, knows_claim=knows_claim)


def by_scalkit(cases: list[dict[str, Any]]) -> tuple[list[list[tuple[str, int]]], list[float], list[bool], float]:
    """Return leading terms, predictions, whether the 80 % interval covers a new value, and CPU seconds of the models."""
    found, predicted, covered, seconds = [], [], [], 0.0
    judged(series_of(cases[0]), "1", knows_claim=False)  # what is loaded once is not counted
    for case in cases:
        series = series_of(case)
        start = time.process_time()
        verdict = judged(series, "1", knows_claim=False)
        leading = [(verdict.model.leading(name), name) for name in verdict.parameters]
        predicted.append(float(verdict.model(case["ahead"])))
        seconds += time.process_time() - start
        found.append([(str(growth.power(name)), int(growth.log(name))) for growth, name in leading])
        low, high = verdict.interval(case["ahead"], 0.8)
        covered.append(bool(low <= case["measured"] <= high))
    return found, predicted, covered, seconds


def claims_of(case: dict[str, Any]) -> tuple[str, str]:
    """Return the true claim, and one that is too optimistic by a power of 1/2 along one parameter."""
    from scalkit.growth import Growth

    true, wrong = [], []
    for members in case["columns"]:
        growths = {i: Growth.of(NAMES[i], power=power, log=log) for i, (power, log) in members}
        true.append("*".join(f"({growth})" for growth in growths.values()))
        slower = {
            i: growth / Growth.of(NAMES[i], power="1/2") if i == case["optimistic"] else growth for i, growth in growths.items()
        }
        wrong.append("*".join(f"({growth})" for growth in slower.values()))
    return " + ".join(true), " + ".join(wrong)


def answers(cases: list[dict[str, Any]]) -> dict[str, float]:
    """Return the shares of answers to true claims and to claims that are too optimistic.

    *Sure*: faster with a probability of 95 %, before it is asked what the machine explains.
    """
    counts = dict.fromkeys(ANSWERS, 0)
    for case in cases:
        series = series_of(case)
        for kind, claim in zip(("true", "wrong"), claims_of(case), strict=True):
            verdict = judged(series, claim, knows_claim=True)
            if f"{kind} {verdict.answer}" in counts:
                counts[f"{kind} {verdict.answer}"] += 1
            counts["wrong sure"] += kind == "wrong" and verdict.posterior.too_fast(verdict.evidence.bounds) >= SURE
    return {kind: count / len(cases) for kind, count in counts.items()}


def in_environment(cases: list[dict[str, Any]]) -> tuple[list[list[tuple[str, int]]], list[float], float]:
    """Return the result of `by_extrap`, run in Extra-P's environment."""
    found, predicted, seconds = extra_p.answer(__file__, cases)
    return [[(a, b) for a, b in terms] for terms in found], predicted, seconds


def power_of(term: tuple[str, int]) -> float:
    """Return the power that a term is like over a moderate range; a logarithm is like 0.15 there."""
    return float(Fraction(term[0])) + 0.15 * term[1]


def scored(
    cases: list[dict[str, Any]], statistic: str, found: list[list[tuple[str, int]]], predicted: list[float], seconds: float
) -> dict[str, float]:
    """Return shares of exact and near leading terms, quantiles of the error, and milliseconds a model."""
    exact, near = [], []
    for case, terms in zip(cases, found, strict=True):
        pairs = [(tuple(a), tuple(b)) for a, b in zip(terms, case["truth"], strict=True)]
        exact.append(all(a == b for a, b in pairs))
        near.append(all(abs(power_of(a) - power_of(b)) <= NEAR for a, b in pairs))
    values = np.array([case[statistic] for case in cases])
    errors = np.abs(np.array(predicted) / values - 1)
    return {
        "exact": float(np.mean(exact)),
        "near": float(np.mean(near)),
        "error": float(np.median(errors)),
        "error p90": float(np.quantile(errors, 0.9)),
        "cpu_ms": seconds / len(cases) * 1e3,
    }


def shown(name: str, row: dict[str, Any]) -> str:
    """Return the figures of one program as text."""
    parts = [f"{100 * row[key]:6.1f}" for key in ("exact", "near", "error", "error p90")]
    return f"{name:8s}{''.join(parts)} {row['cpu_ms']:7.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100, help="in each row")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(extra_p.WORKER, action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.extrap_worker:
        print(json.dumps(by_extrap(json.loads(sys.stdin.read()))))
        return
    rows = []
    if not args.json:
        print(f"{args.cases} cases a row, seed {args.seed}; per cent; median and p90 of the error at four times all parameters")
        print("parameters design  noise  kind       program  exact  near error   p90    CPU a model")
    for n_parameters in (2, 3):
        for design in ("full", "sparse"):
            for number, (noise, kind) in enumerate(NOISES):
                rng = np.random.default_rng([args.seed, n_parameters, design == "sparse", number])
                cases = [make_case(rng, n_parameters, design, noise, kind) for _ in range(args.cases)]
                found, predicted, covered, seconds = by_scalkit(cases)
                results: dict[str, dict[str, float]] = {"scalkit": scored(cases, "quartile", found, predicted, seconds)}
                results["scalkit"] |= {"covers": float(np.mean(covered)), **answers(cases)}
                if not args.no_extrap:
                    results["Extra-P"] = scored(cases, "mean", *in_environment(cases))
                rows.append({"parameters": n_parameters, "design": design, "noise": noise, "kind": kind, **results})
                if args.json:
                    continue
                head = f"{n_parameters:10d} {design:6s} {100 * noise:4.0f} %  {kind:9s}"
                for name, row in results.items():
                    print(f"{head}  {shown(name, row)}", flush=True)
                own = results["scalkit"]
                said = ", ".join(f"{kind} {100 * own[kind]:.0f}" for kind in ANSWERS)
                print(f"{'':35s}80 % intervals cover {100 * own['covers']:.0f} %; {said} %", flush=True)
    if args.json:
        print(json.dumps({"cases": args.cases, "seed": args.seed, "rows": rows}))


if __name__ == "__main__":
    main()
