"""Counts how often scalkit and Extra-P 4.2.5 find the leading term of each parameter in data over two and three parameters.

Every case is a sum of products of one-parameter terms with positive shares, drawn from the terms that both programs search
by default; some parameters have no effect. Designs: every combination of five values each, or sparse: one line of five
values for each parameter through the smallest point, and one point more. Five repetitions each. Noise: symmetric (normal,
relative) or one-sided (half normal, relative, and 5 % of the repetitions 20 to 100 % longer). scalkit searches once its own
list of terms (26) and once Extra-P's (42). Extra-P runs with its defaults in an environment of its own, which this program
makes, because it needs numpy below 2.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "extrap-4.2.5"
POWERS = ("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1", "5/4", "4/3", "3/2", "2")
TERMS = [(a, b) for a in POWERS for b in (0, 1) if (a, b) != ("0", 0)] + [("5/3", 0), ("7/4", 0)]
EXTRAP_TERMS = [
    *[(a, b) for a in ("1/4", "1/3", "1/2", "2/3", "3/4", "1", "3/2", "2", "5/2") for b in (0, 1, 2)],
    *[(a, b) for a in ("5/4", "4/3", "3") for b in (0, 1)],
    *[(a, 0) for a in ("4/5", "5/3", "7/4", "9/4", "7/3", "8/3", "11/4")],
    *[("0", 1), ("0", 2)],
]
AXES = [2.0 ** np.arange(5, 10), 2.0 ** np.arange(2, 7), 4.0 ** np.arange(3, 8), np.arange(10.0, 60.0, 10.0)]
STRUCTURES = {
    2: [[(0, 1)], [(0,), (1,)], [(0,), (0, 1)], [(0,)]],
    3: [[(0, 1, 2)], [(0,), (1,), (2,)], [(0, 1), (2,)], [(0,), (0, 1, 2)], [(0, 1)], [(0,), (1, 2), (2,)]],
}
REPETITIONS = 5
NOISES = ((0.0, "none"), *((s, kind) for s in (0.01, 0.02, 0.05) for kind in ("symmetric", "one-sided")))
NAMES = "pSn"
TOOLS = ("scalkit", "scalkit, 42 terms", "Extra-P")


def term_values(term: tuple[str, int], x: np.ndarray) -> np.ndarray:
    return x ** float(Fraction(term[0])) * np.log2(x) ** term[1]


def make_case(rng: np.random.Generator, n_parameters: int, design: str, noise: float, kind: str) -> dict[str, Any]:
    """Return points (n, parameters), values (n, repetitions) and the true leading term of each parameter."""
    axes = [AXES[rng.integers(len(AXES))] for _ in range(n_parameters)]
    index = np.indices((5,) * n_parameters).reshape(n_parameters, -1).T
    if design == "sparse":
        more = rng.integers(1, 5, n_parameters)
        on_line = (index > 0).sum(axis=1) <= 1
        index = index[on_line | (index == more).all(axis=1)]
    points = np.stack([axis[index[:, i]] for i, axis in enumerate(axes)], axis=1)
    terms = [TERMS[rng.integers(len(TERMS))] for _ in range(n_parameters)]
    order = rng.permutation(n_parameters)
    structure = STRUCTURES[n_parameters][rng.integers(len(STRUCTURES[n_parameters]))]
    middle = [float(axis[2]) for axis in axes]
    shares = 0.1 + rng.random(len(structure) + 1)
    y = np.full(len(points), shares[0])
    acting: set[int] = set()
    for share, members in zip(shares[1:], structure, strict=True):
        product = np.full(len(points), share)
        for i in (int(order[k]) for k in members):
            product *= term_values(terms[i], points[:, i]) / term_values(terms[i], np.array([middle[i]]))
            acting.add(i)
        y = y + product
    y = y * 10.0 ** rng.uniform(-6, 0)
    values = np.repeat(y[:, None], REPETITIONS, axis=1)
    if kind == "symmetric":
        values = values * (1 + noise * rng.standard_normal(values.shape))
    elif kind == "one-sided":
        spikes = np.where(rng.random(values.shape) < 0.05, rng.uniform(0.2, 1.0, values.shape), 0.0)
        values = values * (1 + noise * np.abs(rng.standard_normal(values.shape)) + spikes)
    truth = [terms[i] if i in acting else ("0", 0) for i in range(n_parameters)]
    return {"points": points.tolist(), "values": values.tolist(), "truth": truth}


def by_extrap(cases: list[dict[str, Any]]) -> tuple[list[list[tuple[str, int]]], float]:
    """Return the leading terms that Extra-P finds, and CPU seconds; runs in Extra-P's environment."""
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
    found, start = [], time.process_time()
    for case in cases:
        n_parameters = len(case["truth"])
        experiment = Experiment()
        for name in NAMES[:n_parameters]:
            experiment.add_parameter(Parameter(name))
        path, metric = Callpath("f"), Metric("time")
        for point, values in zip(case["points"], case["values"], strict=True):
            experiment.add_measurement(Measurement(Coordinate(*point), path, metric, values))
        generator = ModelGenerator(experiment, modeler=MultiParameterModeler())
        generator.model_all()
        terms = [("0", 0)] * n_parameters
        for compound in generator.models[(path, metric)].hypothesis.function.compound_terms:
            for parameter, term in compound.parameter_term_pairs:
                exponents = {"polynomial": Fraction(0), "logarithm": Fraction(0)}
                for simple in term.simple_terms:
                    exponents[simple.term_type] += Fraction(simple.exponent).limit_denominator(60)
                terms[parameter] = (str(exponents["polynomial"]), int(exponents["logarithm"]))
        found.append(terms)
    return found, time.process_time() - start


def by_scalkit(cases: list[dict[str, Any]], terms: list[tuple[str, int]] | None) -> tuple[list[list[tuple[str, int]]], float]:
    """Return the leading terms that scalkit finds, and CPU seconds."""
    from scalkit.fit.several import fit_several
    from scalkit.growth import Growth
    from scalkit.validation.space import SearchSpace

    found, start = [], time.process_time()
    for case in cases:
        names = tuple(NAMES[: len(case["truth"])])
        ticks = {
            name: [Growth.of(name, power=a, log=b) for a, b in terms] if terms else SearchSpace.preset("ics15", name).ticks
            for name in names
        }
        model = fit_several(case["points"], case["values"], names, ticks).model
        leading = [model.leading(name) for name in names]
        found.append([(str(g.power(name)), int(g.log(name))) for g, name in zip(leading, names, strict=True)])
    return found, time.process_time() - start


def extrap_python() -> Path:
    """Return the interpreter of Extra-P's environment, made at first use."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "extrap==4.2.5", "numpy<2"], check=True)
        (ENVIRONMENT / "ready").touch()
    return python


def in_environment(cases: list[dict[str, Any]]) -> tuple[list[list[tuple[str, int]]], float]:
    done = subprocess.run(
        [extrap_python(), __file__, "--extrap-worker"], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    found, seconds = json.loads(done.stdout.splitlines()[-1])
    return [[(a, b) for a, b in terms] for terms in found], seconds


def exact(found: list[list[tuple[str, int]]], cases: list[dict[str, Any]]) -> float:
    """Return the share of exact leading terms, over all parameters of all cases."""
    hits = [f == tuple(t) for terms, case in zip(found, cases, strict=True) for f, t in zip(terms, case["truth"], strict=True)]
    return float(np.mean(hits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=150, help="in each row")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--extrap-worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.extrap_worker:
        print(json.dumps(by_extrap(json.loads(sys.stdin.read()))))
        return
    rows = []
    if not args.json:
        print(f"exact leading term of a parameter, %; {args.cases} cases a row, seed {args.seed}; CPU ms a model")
        print("parameters design  noise  kind          scalkit with 42 terms      Extra-P   |    scalkit  42 terms   Extra-P")
    for n_parameters in (2, 3):
        for design in ("full", "sparse"):
            for number, (noise, kind) in enumerate(NOISES):
                rng = np.random.default_rng([args.seed, n_parameters, design == "sparse", number])
                cases = [make_case(rng, n_parameters, design, noise, kind) for _ in range(args.cases)]
                results = [by_scalkit(cases, None), by_scalkit(cases, EXTRAP_TERMS)]
                results += [] if args.no_extrap else [in_environment(cases)]
                shares = [exact(found, cases) for found, _ in results]
                cpu = [seconds / len(cases) * 1e3 for _, seconds in results]
                rows.append(
                    {
                        "parameters": n_parameters,
                        "design": design,
                        "noise": noise,
                        "kind": kind,
                        "exact": dict(zip(TOOLS, shares, strict=False)),
                        "cpu_ms": dict(zip(TOOLS, cpu, strict=False)),
                    }
                )
                if not args.json:
                    said = "".join(f"{100 * share:14.1f}" for share in shares), "".join(f"{ms:10.1f}" for ms in cpu)
                    print(f"{n_parameters:10d} {design:6s} {100 * noise:4.0f} %  {kind:9s}{said[0]}   | {said[1]}", flush=True)
    if args.json:
        print(json.dumps({"cases": args.cases, "seed": args.seed, "rows": rows}))


if __name__ == "__main__":
    main()
