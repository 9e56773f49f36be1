"""Accuracy of scalkit's answers and predictions, next to Extra-P.

    python benchmarks/judging.py --cases 1800 --seed 31 --extrap 400

The series of `judging_series.py` are simulated, of known truth; `--real FILE` judges the series that
`real_times.py` measured instead, with the last point held out for predictions. `--limit` adds what
the best possible judge says of the group ``limit``. All figures are per cent, but for `n`. The
first `--extrap` series of each group are given to Extra-P 4.2.5, in an environment of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import extra_p
import numpy as np
from judging_limit import report
from judging_series import (
    AHEAD,
    LESS,
    ONE_CLASS,
    STEEP,
    TRUE,
    TWO_CLASSES,
    Array,
    Case,
    Term,
    batches,
    generate,
    is_steep,
    term_values,
)

SIZES = {"plain": 1.0, "between": 0.8, "adversarial": 0.6, "hard": 0.6, "systematic": 0.25, "limit": 1.0}
"""Cases of each group, in parts of `--cases`."""
MATERIAL = 1.25
OF_SIZES = ("memory hierarchy", "cache cliff")
"""Rows that speak of the size of a problem; the others of numbers of processes."""


@dataclass(frozen=True)
class Judged:
    """Answer, growth and predictions of a judge about one case.

    Attributes
    ----------
    growth, resolution : Term
    too_fast : float
        Probability of growing faster than claimed.
    answer : str
    predictions : array of shape (3,)
        At 2, 4 and 16 times the largest point.
    intervals : array of shape (2, 3)
        90 % intervals there.
    """

    growth: Term
    resolution: Term
    too_fast: float
    answer: str
    predictions: Array
    intervals: Array


def growth_text(term: Term, parameter: str) -> str:
    """Return a term as scalkit reads it."""
    power, log = (Fraction(value).limit_denominator(1000) for value in term)
    return f"{parameter}^({power})*log({parameter})^({log})"


def term_of(growth: Any, parameter: str) -> Term:
    """Return the exponents of a growth."""
    return float(growth.power(parameter)), float(growth.log(parameter))


def judge(cases: Sequence[Case]) -> list[Judged]:
    """Return scalkit's judgement of each case; cases at equal points are validated together."""
    found: dict[int, Judged] = {}
    for batch in batches(list(cases)):
        of_sizes = [k for k in batch if cases[k].row in OF_SIZES]
        others = [k for k in batch if cases[k].row not in OF_SIZES]
        for places, parameter in ((of_sizes, "n"), (others, "p")):
            judged = _together([cases[k] for k in places], parameter) if places else []
            found |= dict(zip(places, judged, strict=True))
    return [found[k] for k in range(len(cases))]


def _together(cases: Sequence[Case], parameter: str) -> list[Judged]:
    import scalkit as sk

    first, is_exact = cases[0], cases[0].noise == 0
    names = [f"f{k}" for k in range(len(cases))]
    metric, unit = ("operations", "1") if is_exact else ("time", "s")
    one = sk.measurements(first.x, first.repetitions, name="f", metric=metric, unit=unit, exact=is_exact, parameter=parameter)
    data = one.isel(function=[0] * len(cases)).assign_coords(function=names)
    values = np.array([case.repetitions for case in cases])
    data[metric] = data[metric].copy(data=values.reshape(data[metric].shape))
    claims = {
        name: sk.Expectation(growth_text(case.claim, parameter), None, parameter) for name, case in zip(names, cases, strict=True)
    }
    result = sk.validate(data, claims, strictness="strict", statistic="median", progress=False)
    at = first.x[-1] * np.array(AHEAD, dtype=float)
    found = []
    for name in names:
        verdict = result[name]
        found.append(
            Judged(
                term_of(verdict.model.growth, parameter),
                term_of(verdict.resolution, parameter),
                verdict.too_fast,
                verdict.answer,
                verdict.model(at),
                verdict.interval(at),
            )
        )
    return found


def by_extrap(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return growth and predictions of Extra-P; runs in the environment of Extra-P."""
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
        for x, values in zip(case["x"], case["y"], strict=True):
            experiment.add_measurement(Measurement(Coordinate(x), Callpath("f"), Metric("t"), values))
        generator = ModelGenerator(experiment, modeler=SingleParameterModeler())
        with contextlib.redirect_stderr(io.StringIO()):
            generator.model_all()
        function = generator.models[Callpath("f"), Metric("t")].hypothesis.function
        growth = [0.0, 0.0]
        for compound in function.compound_terms:
            for term in compound.simple_terms:
                growth[0 if term.term_type == "polynomial" else 1] += float(term.exponent)
        found.append({"growth": growth, "later": [float(function.evaluate(x)) for x in case["at"]]})
    return found


def extrap_answers(cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return Extra-P's growth and predictions of each case.

    `cases`: points ``"x"``, repetitions ``"y"`` of each, and points ``"at"`` to predict, as lists.
    """
    return list(extra_p.answer(__file__, list(cases)))


def plain(x: Array, repetitions: Array, at: Array) -> dict[str, Any]:
    """Return a case for `extrap_answers`."""
    return {"x": x.tolist(), "y": repetitions.tolist(), "at": at.tolist()}


def share(flags: Iterable[bool]) -> float:
    """Return the share of the flags that are set, in per cent; NaN of none."""
    values = list(flags)
    return 100 * float(np.mean(values)) if values else float("nan")


def excess(case: Case) -> float:
    """Return by what factor the medians outgrow a constant and the claim, fitted to them."""
    from scipy.optimize import nnls

    y, term = np.median(case.repetitions, axis=1), term_values(case.claim, case.x)
    columns = np.stack([np.ones(len(y)), term / term[-1]], axis=1) * (y[-1] / y)[:, None]
    fit = columns @ nnls(columns, np.ones(len(y)))[0]
    return float(fit.max() / fit[-1])


def is_exact(found: Term, truth: Term) -> bool:
    """Return whether a leading term is the true one."""
    return bool(np.allclose(found, truth, atol=1e-3))


def is_near(found: Term, truth: Term) -> bool:
    """Return whether the powers differ by at most 1/4, and those of the logarithm by at most 1."""
    return abs(found[0] - truth[0]) <= 0.2501 and abs(found[1] - truth[1]) <= 1.001


def figures(cases: Sequence[Case], judged: Sequence[Judged], peers: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the figures of a group by name, in per cent."""
    rows = list(zip(cases, judged, strict=True))
    both = (ONE_CLASS, TWO_CLASSES)
    true = [one for case, one in rows if case.kind == TRUE]
    steep = [row for row in rows if row[0].kind == STEEP or (row[0].kind in both and is_steep(row[0].truth, row[0].claim))]
    less = [row for row in rows if row[0].kind == LESS or (row[0].kind in both and not is_steep(row[0].truth, row[0].claim))]
    found = {"n": float(len(rows))}
    for answer in ("fine", "cannot tell", "fix"):
        found[f"true: {answer}"] = share(one.answer == answer for one in true)
    for name, part in (("by n^(1/2)", steep), ("by less", less)):
        for answer in ("fine", "fix"):
            found[f"too optimistic {name}: {answer}"] = share(one.answer == answer for _, one in part)
        material = [one for case, one in part if excess(case) >= MATERIAL]
        found[f"too optimistic {name}: fix if material"] = share(one.answer == "fix" for one in material)
    fine = [row for row in rows if row[1].answer == "fine"]
    found["fine, truth excluded"] = share(case.truth > one.resolution for case, one in fine)
    found["exact"] = share(is_exact(one.growth, case.truth) for case, one in rows)
    found["near"] = share(is_near(one.growth, case.truth) for case, one in rows)
    error = 100 * np.array([abs(one.predictions[-1] / case.later[-1] - 1) for case, one in rows])
    found["error at 16 times, median"], found["error at 16 times, p90"] = np.quantile(error, (0.5, 0.9))
    for k, times in enumerate(AHEAD):
        found[f"interval holds at {times} times"] = share(
            bool(one.intervals[0, k] <= case.fresh[k] <= one.intervals[1, k]) for case, one in rows
        )
    if peers:
        some = cases[: len(peers)]
        theirs = 100 * np.array([abs(one["later"][-1] / c.later[-1] - 1) for c, one in zip(some, peers, strict=True)])
        found["Extra-P: exact"] = share(is_exact(tuple(p["growth"]), c.truth) for c, p in zip(some, peers, strict=True))
        found["Extra-P: near"] = share(is_near(tuple(p["growth"]), c.truth) for c, p in zip(some, peers, strict=True))
        found["Extra-P: error at 16 times, median"], found["Extra-P: error at 16 times, p90"] = np.quantile(theirs, (0.5, 0.9))
        found["nearer than Extra-P"] = share(error[: len(peers)] < theirs)
    return found


def real_cases(path: Path, split: str, kind: str) -> list[tuple[dict[str, Any], Array, Array]]:
    """Return records of `real_times.py` with their sizes and repetitions."""
    records = [json.loads(line) for line in path.read_text().splitlines()][1:]
    chosen = [one for one in records if one["split"] == split and one["kind"] == kind]
    return [
        (one, np.array(one["sizes"], float), np.array(one["repetitions"], float).reshape(len(one["sizes"]), -1)) for one in chosen
    ]


def real_figures(path: Path, split: str, kind: str, with_extrap: bool) -> dict[str, float]:
    """Return the figures of real series of a kind: answers, and predictions of the last point."""
    import scalkit as sk

    is_count = kind in ("instructions", "bytes")
    metric, unit, size = ("operations", "1", 1.0) if is_count else ("time", "s", 1e-9)

    def verdict(x: Array, values: Array, claim: str) -> Any:
        data = sk.measurements(x, size * values, name="f", metric=metric, unit=unit, parameter="n", exact=is_count)
        return sk.validate(data, {"f": claim}, strictness="strict", progress=False)["f"]

    rows = real_cases(path, split, kind)
    found: dict[str, float] = {"n": float(len(rows))}
    for name in ("true", "near", "wrong"):
        answers = [verdict(x, y, one["claims"][name]).answer for one, x, y in rows if one["claims"][name]]
        for answer in ("fine", "cannot tell", "fix"):
            found[f"{name}: {answer}"] = share(each == answer for each in answers)
    errors, held, wanted, cases = [], [], [], []
    for one, x, y in rows:
        seen, last = verdict(x[:-1], y[:-1], one["claims"]["true"]), size * float(np.quantile(y[-1], 0.25))
        low, high = seen.interval(x[-1])
        errors.append(100 * abs(float(seen.model(x[-1])) / last - 1))
        held.append(bool(low <= last <= high))
        wanted.append(last)
        cases.append(plain(x[:-1], size * y[:-1], x[-1:]))
    found["last point: error, median"], found["last point: error, p90"] = np.quantile(errors, (0.5, 0.9))
    found["last point: interval holds"] = share(held)
    if with_extrap:
        peers = extrap_answers(cases)
        theirs = 100 * np.array([abs(one["later"][0] / last - 1) for one, last in zip(peers, wanted, strict=True)])
        found["Extra-P: error, median"], found["Extra-P: error, p90"] = np.quantile(theirs, (0.5, 0.9))
        found["nearer than Extra-P"], found["farther"] = share(errors < theirs), share(errors > theirs)
    return found


def printed(tables: dict[str, dict[str, float]]) -> str:
    """Return figures as a table in Markdown, a column for each group."""
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    lines = ["| | " + " | ".join(tables) + " |", "| --- |" + " --- |" * len(tables)]
    for name in names:
        cells = [table.get(name, float("nan")) for table in tables.values()]
        lines.append(
            f"| {name} | " + " | ".join("" if np.isnan(v) else f"{v:.1f}" if name != "n" else f"{v:.0f}" for v in cells) + " |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1800, help="series of the group plain (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=31, help="of the simulated series (default: %(default)s)")
    parser.add_argument("--extrap", type=int, default=0, help="series of each group for Extra-P (default: none)")
    parser.add_argument("--limit", action="store_true", help="print the best possible judge, too")
    parser.add_argument("--real", type=Path, help="file of real_times.py, in place of simulated series")
    parser.add_argument("--split", default="test", choices=("train", "test"), help="half of the real series")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(extra_p.WORKER, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.extrap_worker:
        print(json.dumps(by_extrap(json.loads(sys.stdin.read()))))
        return
    tables: dict[str, dict[str, float]] = {}
    if options.real is not None:
        for kind in ("cpu", "wall", "instructions", "bytes"):
            tables[kind] = real_figures(options.real, options.split, kind, bool(options.extrap))
    else:
        for group, part in SIZES.items():
            cases = generate(group, max(1, round(part * options.cases)), options.seed)
            judged, some = judge(cases), cases[: options.extrap]
            asked = [plain(case.x, case.repetitions, case.x[-1] * np.array(AHEAD)) for case in some]
            peers = extrap_answers(asked) if asked else []
            tables[group] = figures(cases, judged, peers)
            if options.limit and group == "limit":
                report(cases, {"scalkit": [one.too_fast for one in judged]})
    print(json.dumps(tables) if options.json else printed(tables))


if __name__ == "__main__":
    main()
