"""Limits and advice over several parameters."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.judge import Validation

P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
POINTS = np.array(list(itertools.product(P, S)))
SUM = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]


def judged(y: np.ndarray, claim: str, noise: float, seed: int = 1, parameters: tuple[str, str] = ("p", "S")) -> Validation:
    values = y[:, None] * np.random.default_rng(seed).lognormal(0, noise, (len(y), 5))
    return sk.validate(sk.measurements(POINTS, values, parameter=list(parameters)), {"f": claim})


@pytest.fixture(scope="module")
def result() -> Validation:
    return judged(SUM, "log(p) + S", 0.01)


def test_a_limit_is_along_the_processes_with_the_others_at_their_largest_value(result: Validation) -> None:
    found = result.limit("time", "60 us")[0]
    exact = 2.0 ** ((60e-6 - 2e-6 - 1e-9 * 16384) / 3e-6)
    assert (found.parameter, found.fixed) == ("p", {"S": 16384.0})
    assert found.low < exact < found.high
    assert found.value == pytest.approx(exact, rel=0.3)
    assert found.sentence.startswith("The time of f with S = 16384 stays within 60.0 us up to p = ")
    assert json.loads(json.dumps(found.to_dict()))["fixed"] == {"S": 16384.0}


def test_a_limit_along_another_parameter(result: Validation) -> None:
    found = result.limit("time", "60 us", along="S", fixed={"p": 1024})[0]
    exact = (60e-6 - 2e-6 - 3e-6 * 10) / 1e-9
    assert found.low <= exact * 1.02
    assert found.high >= exact * 0.98
    assert found.value == pytest.approx(exact, rel=0.05)
    assert found.largest == 16384


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"along": "q"}, "'f' has no parameter 'q'; it has p, S."),
        ({"fixed": {"z": 1.0}}, "'f' has no parameter 'z'; it has p, S."),
        ({"along": "p", "fixed": {"p": 3.0}}, "the limit is asked along 'p', so it cannot be fixed at 3; leave that out."),
    ],
)
def test_a_limit_along_no_parameter(result: Validation, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        result.limit("time", "60 us", **options)


def test_the_parameter_of_a_limit_over_one() -> None:
    one = sk.validate(sk.measurements(P, 1e-6 * P), {"f": "p"})
    assert one.limit("time", "1 s", along="p") == one.limit("time", "1 s")
    with pytest.raises(UsageError, match=r"^'f' has no parameter 'S'; it has p\.$"):
        one.limit("time", "1 s", along="S")


@pytest.fixture(scope="module")
def cannot_tell() -> Validation:
    """A claim that small p does not tell from the truth."""
    found = judged(1e-6 * (20 + POINTS[:, 0] ** 0.5) * POINTS[:, 1] ** 0.5, "log(p)*S^(1/2)", 0.08)
    assert found["f"].answer == "cannot tell"
    return found


def test_advice_prefers_points_far_along_the_parameter_in_doubt(cannot_tell: Validation) -> None:
    along_p, along_s, again = (4096.0, 16384.0), (128.0, 524288.0), (128.0, 16384.0)
    advice = cannot_tell.advise([along_s, again, along_p], cost=None)["f", "time"]
    told = {one.x: one.information for one in advice.candidates}
    assert advice.candidates[0].x == along_p
    assert told[along_p] > 5 * told[again]
    assert advice.sentence.startswith("Measure p = 4096, S = 16384: f grows faster than claimed with a probability of ")
    growths = [str(growth) for growth, _ in advice.candidates[0].predictions]
    assert len(growths) == 2
    assert "4096, 16384" in advice._repr_html_()


def test_costs_of_points(cannot_tell: Validation) -> None:
    points = [[256, 16384], [512, 65536]]

    def costs(cost: object) -> list[float]:
        advice = cannot_tell.advise(points, cost=cost)["f", "time"]  # type: ignore[arg-type]
        return [one.cost for one in sorted(advice.candidates, key=lambda one: one.x)]

    assert costs("p") == [256, 512]
    assert costs("S") == [16384, 65536]
    assert costs(None) == [1, 1]
    assert costs(lambda p, size: p * size) == [256 * 16384, 512 * 65536]
    with pytest.raises(UsageError, match="cost is 'q'; name the parameter, one of p, S, give a function of it, or None"):
        cannot_tell.advise(points, cost="q")


def test_cost_of_processes_by_another_name() -> None:
    found = judged(SUM, "log(ranks) + size", 0.01, parameters=("size", "ranks"))
    advice = found.advise([[16, 2]])["f", "time"]
    assert advice.candidates[0].cost == 2


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([1, 2, 3], "candidates are [1, 2, 3]; each needs 2 values, one for each parameter."),
        ("x", "candidates are 'x'; name at least one positive setting to measure."),
        ([[0, 1]], "candidates are [[0, 1]]; name at least one positive setting to measure."),
        ([], "candidates are []; "),
    ],
)
def test_candidates_that_are_none(cannot_tell: Validation, candidates: object, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        cannot_tell.advise(candidates)  # type: ignore[arg-type]


def test_an_answer_needs_no_advice(result: Validation) -> None:
    assert result.advise([[256, 64]])["f", "time"].sentence == "Stop: the answer for f is fine."
