"""Questions to a verdict: points and levels that make no sense are refused in a sentence, without a warning."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.judge import Verdict
from scalkit.measure import combine

P = 2.0 ** np.arange(2, 8)
NO_LEVEL = "is no probability between 0 and 1; 0.9 is usual."


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    return sk.validate(sk.measurements(P, [5.0, 6.3, 8.1, 10.4, 14.1, 18.9]), {"f": "log(p)"})["f"]


@pytest.mark.parametrize("level", [0, 1, -1, 2, float("nan"), "a", None, [0.5, 0.9]])
def test_levels_that_are_none(verdict: Verdict, level: object) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(f'the level {level!r} {NO_LEVEL}')}$"):
        verdict.interval(256, level)  # type: ignore[arg-type]


def test_a_smaller_level_lies_inside_a_larger_one(verdict: Verdict) -> None:
    (low, high), (lower, higher) = verdict.interval(256, 0.5), verdict.interval(256, 0.9)
    assert lower < low < verdict.model(256) < high < higher


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (0, "the setting p = 0 is not positive and finite; ask for others."),
        ([64, -1], "the setting p = -1 is not positive and finite; ask for others."),
        (np.nan, "the setting p = nan is not positive and finite; ask for others."),
        (np.inf, "the setting p = inf is not positive and finite; ask for others."),
        ([2 + 1j], "[(2+1j)] is no setting of p; give a number, or an array of them."),
        (np.array([2 + 0j]), "array([2.+0.j]) is no setting of p; give a number, or an array of them."),
        (10**400, f"1{'0' * 59}... is no setting of p; give a number, or an array of them."),
        ("many", "'many' is no setting of p; give a number, or an array of them."),
        (0.5, "nothing can be predicted at p = 0.5, where log(p) has no value; ask for larger points."),
    ],
)
@pytest.mark.filterwarnings("error")
def test_settings_that_are_none(verdict: Verdict, x: object, message: str) -> None:
    for ask in (verdict.interval, verdict.model):
        with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
            ask(x)  # type: ignore[arg-type]


def test_points_keep_their_shape(verdict: Verdict) -> None:
    at = [[16.0, 64.0], [256.0, 1024.0]]
    assert verdict.model(at).shape == (2, 2)
    assert verdict.interval(at).shape == (2, 2, 2)
    assert verdict.model(256) == pytest.approx(verdict.model(at)[1, 0], rel=0.01)


def test_numbers_of_numpy_do(verdict: Verdict) -> None:
    half: Any = np.float32(0.5)
    assert verdict.interval(64, half).tolist() == verdict.interval(64, 0.5).tolist()


@pytest.mark.parametrize(("expectation", "at"), [("p/log(p)", 1), ("log(p)^(1/2)", 0.5)])
def test_settings_where_the_expectation_has_no_value(expectation: str, at: float) -> None:
    x = np.array([at, *P])
    with pytest.raises(DataError, match=re.escape(f"p = {at}, where the expectation {expectation} has no value")):
        sk.validate(sk.measurements(x, x), {"f": expectation})


def test_settings_below_one_are_asked_for_where_some_were_measured() -> None:
    x = np.array([0.125, 0.25, 0.5, 1.0, 2.0])
    found = sk.validate(sk.measurements(x, 3 * x), {"f": "p"})["f"]
    low, high = found.interval(0.2)
    assert low < 0.6 < high


def test_zeros_are_predicted_to_be_zero() -> None:
    found = sk.validate(sk.measurements(P, 0 * P, metric="object_memory"), {"f": "1"})["f"]
    assert found.interval(256) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.model(256) == pytest.approx(0.0, abs=1e-12)


def test_an_expectation_without_a_value_along_one_of_several_parameters_is_not_judged() -> None:
    p, n = (each.ravel() for each in np.meshgrid([1.0, 2, 4, 8, 16], [10.0, 20, 40, 80, 160]))
    y = n * (1 + p)
    data = sk.measurements(np.column_stack([p, n]), y, parameter=["p", "n"], name="f")
    with pytest.raises(DataError, match=r"^'time' of 'f' cannot be judged at p = 1, where the expectation along p, p/log\(p\),"):
        sk.validate(data, {"f": "p/log(p)*n"})
    both = combine([data, sk.measurements(np.column_stack([p, n]), y, parameter=["p", "n"], name="g")])
    found = sk.validate(both, {"f": "p/log(p)*n", "g": "p*n"})
    assert [one.function for one in found.verdicts] == ["g"]
    assert "cannot be judged at p = 1" in found.unjudged[0]
