"""Exact values that are counted in coarse steps: one step up may be any class, many steps tell as much as ever."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit.validation import Verdict
from scalkit.validation.posterior.exact import common_step

P = [2, 4, 8, 16, 32, 64]
REMARK = (
    "the values take two levels only, 0 and 4096 B; any class that is counted in steps may look like that: measure more "
    "settings, or larger ones"
)


def verdict(y: list[int], expectation: str) -> Verdict:
    data = sk.measurements(P[: len(y)], y, name="f", metric="object_memory")
    return sk.validate(data, {"f": expectation})["f"]


@pytest.mark.parametrize("expectation", ["1", "log(p)", "p"])
@pytest.mark.parametrize(
    "y",
    [
        [0, 0, 0, 0, 0, 4096],
        [0, 0, 0, 4096, 4096, 4096],
        [0, 16, 16, 16, 16, 16],
        [8, 8, 8, 8, 8, 16],
        [0, 0, 0, 0, 0, 1],
        [0, 8, 0, 8, 0, 8],
        [100, 100, 100, 100, 100, 4196],
    ],
)
def test_one_step_decides_nothing(y: list[int], expectation: str) -> None:
    found = verdict(y, expectation)
    assert found.verdict == "undecided"
    assert max(found.probability.values()) < 0.75


def test_one_step_is_remarked_and_many_are_not() -> None:
    assert REMARK in verdict([0, 0, 0, 0, 0, 4096], "log(p)").remarks
    assert not any("two levels" in remark for remark in verdict([0, 0, 0, 0, 4096, 8192], "log(p)").remarks)
    assert not any("two levels" in remark for remark in verdict([0, 4096, 0, 4096, 0, 4096], "log(p)").remarks)


def test_the_interval_after_one_step_is_as_wide_as_the_doubt() -> None:
    low, high = verdict([0, 0, 0, 0, 0, 4096], "log(p)").interval(256)
    assert low < 4096 < 40_000 < high


@pytest.mark.parametrize(
    ("y", "expectation", "word"),
    [
        ([8872, 8888, 8920, 8984, 9112], "p", "total"),
        ([8872, 8888, 8920, 8984, 9112], "log(p)", "none"),
        ([0, 0, 8, 24, 56, 120], "p", "approximate"),
        ([0, 0, 8, 24, 56, 120], "log(p)", "none"),
        ([0, 8, 16, 24, 32, 40], "log(p)", "approximate"),
        ([8192, 16384, 32768, 61440, 122880, 249856], "log(p)", "none"),
        ([0, 0, 0, 0, 4096, 8192], "1", "none"),
    ],
)
def test_many_steps_decide(y: list[int], expectation: str, word: str) -> None:
    assert verdict(y, expectation).verdict == word


@pytest.mark.parametrize(
    ("y", "step"),
    [
        ([0, 4096, 4096], 4096),
        ([100, 4196], 4096),
        ([8872, 8888, 8920], 16),
        ([0.3, 0.1, 0.2], 0.1),
        ([1, 1 + 1e-13, 2], 1),
        ([6, 10, 25], 1),
        ([7, 7], 0),
    ],
)
def test_the_largest_common_step(y: list[float], step: float) -> None:
    assert common_step(np.array(y, dtype=float)) == pytest.approx(step, rel=1e-6)
