"""One of every public object, made from data whose names are hostile."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.judge import load_expectations
from scalkit.judge.limit import limit
from scalkit.measure import combine

HOSTILE = "<script>document.title='hit'</script>&\"'"
"""A name of a function that would run where it is not escaped."""

P = [2, 4, 8, 16, 32, 64, 128]


def over_one() -> Any:
    """Return measurements of five functions, one of them with the hostile name."""
    rng = np.random.default_rng(1)
    p = np.array(P)
    truth = {HOSTILE: 5 + p**1.5, "steady": 3 + np.log2(p), "near": 2 + p**0.5, "loose": 1 + p}
    noise = 1 + 0.01 * np.abs(rng.standard_normal((len(P), 5)))
    made = [sk.measurements(P, values[:, None] * noise, unit="us", name=name) for name, values in truth.items()]
    wild = sk.measurements(P, 5 * (1 + rng.random((len(P), 3))), unit="us", name="wild")
    return combine([*made, wild])


def over_two() -> Any:
    """Return measurements over two parameters."""
    p, size = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
    points = np.array(list(itertools.product(p, size)))
    values = 2e-6 + 3e-6 * np.log2(points[:, 0]) + 1e-9 * points[:, 1]
    return sk.measurements(points, values, parameter=["p", "S"], name=HOSTILE)


def gallery() -> dict[str, Any]:
    """Return public objects by name; each has HTML of its own and a terse text."""
    data, expected = over_one(), {HOSTILE: "p", "steady": "log(p)", "near": "log(p)", "loose": "p", "wild": "log(p)"}
    result = sk.validate(data, expected, rules=["steady <= near + loose", "loose <= steady"])
    session = sk.Session(data, expected)
    session.snapshot(HOSTILE).select(HOSTILE).expect("p^(3/2)").refine()
    both = sk.validate(over_two(), {HOSTILE: "log(p) + S"})[HOSTILE]
    baseline = sk.Baseline(result)
    times = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], dtype=float)
    bent = sk.piecewise(sk.measurements(times, np.where(times < 20, 5.0, times) * 1e-6))
    verdict = result[HOSTILE]
    steady = sk.measurements(P, 3 + np.array(P), unit="us", name="steady")
    return {
        "Growth": sk.Growth("p^(1/2)*log(p)/2^(k/3)"),
        "Expectation": sk.Expectation("p*log(p)", deviation="p^(1/4)"),
        "SearchSpace": sk.SearchSpace.around(sk.Expectation("p")),
        "Model": verdict.model,
        "Verdict": verdict,
        "Verdict cannot tell": result["wild"],
        "Validation": result,
        "RuleResult": result.rules[0],
        "Litmus": sk.validate(sk.measurements(P, P, name="Bcast_binary_tree"), "mpi").litmus,
        "ExpectationSet": load_expectations("mpi"),
        "Advice": result.advise([256, 512])["wild", "time"],
        "Limit": limit(verdict, "1 ms"),
        "Piecewise": bent,
        "Baseline": baseline,
        "BaselineEntry": baseline[HOSTILE, "time"],
        "Comparison": baseline.compare(sk.validate(steady, {"steady": "p"})),
        "SeveralVerdict": both,
        "SeveralExpectation": both.expectation,
        "Model of several parameters": both.model,
        "GrowthSum": both.model.growth,
        "AlongVerdict": both.along["p"],
        "Session": session,
    }
