"""Times against the bounds of a model: congestion between a message alone and the worst placement."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import AsymptoticModel, DominantTermModel, ExactModel, PointToPoint, bluegene_p, congested, inside_bounds

MESSAGE = PointToPoint(bluegene_p()["point-to-point"])
RNG = np.random.default_rng(20261)


def test_equation_2_comes_from_the_message():
    """The paper's bounds, from 1025 B on where it has them; below, the same for the other protocols."""
    at = {"S": np.array([65536, 65536, 2**20]), "P": np.array([512, 4096, 32768])}
    assert congested(MESSAGE).bounds(**at).upper == pytest.approx([2109.57344e-6, 4209.34688e-6, 134395.30016e-6], rel=1e-9)
    paper = bluegene_p()["point-to-point-congested"].bounds(**at)
    for own, printed in zip(congested(MESSAGE).bounds(**at), paper, strict=True):
        assert own == pytest.approx(printed, rel=1e-9)
    assert congested(MESSAGE).bounds(S=256, P=512).lower == pytest.approx(5.18352e-6, rel=1e-9)


def test_times_are_below_inside_and_above():
    model = congested(MESSAGE)
    low, high = model.bounds(S=65536, P=[8, 64, 512, 4096])
    truth = np.array([0.9 * low[0], low[1] + 0.25 * (high[1] - low[1]), high[2], 3 * high[3]])
    found = inside_bounds(model, truth[:, None] * RNG.lognormal(0, 0.02, (4, 20)), S="64 KiB", P=[8, 64, 512, 4096])
    assert found.places == ("below", "inside", "inside", "above")
    assert not found.is_inside
    assert found.shares[1] == pytest.approx(0.25, abs=0.02)
    assert found.sentence.startswith("2 of 4 times are inside the bounds of 'point-to-point, congested', ")
    assert "1 is above them, at most at S = 64 KiB, P = 4096: 3" in found.sentence
    assert "1 is below them, at most at S = 64 KiB, P = 8: 1.1" in found.sentence
    assert "times shorter than the bound." in found.sentence
    assert "P = 512" in found._repr_html_()
    assert repr(found) == f"InsideBounds({found.sentence})"


def test_noise_alone_puts_nothing_outside():
    model = congested(MESSAGE)
    outside = 0
    for _ in range(200):
        truth = model.bounds(S=[65536] * 6, P=[8] * 6).lower
        found = inside_bounds(model, truth[:, None] * RNG.lognormal(0, 0.05, (6, 10)), S=65536, P=8)
        outside += sum(one != "inside" for one in found.places)
    assert outside <= 0.02 * 1200


def test_other_levels_of_the_hierarchy():
    line = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, {"S": ("1 B", "1 MiB")}, name="line")
    assert inside_bounds(line, [[2e-6, 2.01e-6]], S=1000).is_inside
    least = DominantTermModel(line, AsymptoticModel("log(P)"))
    found = inside_bounds(least, [1.0, 2e-6], S=1000, P=[8, 64])
    assert found.is_inside
    assert np.isnan(found.shares).all()
    assert "of the way" not in found.sentence


@pytest.mark.parametrize(
    ("model", "times", "at", "error", "said"),
    [
        (AsymptoticModel("S"), [1.0], {"S": 8}, UsageError, r"is asymptotic, in s; bounds in s are needed\.$"),
        (congested(MESSAGE), [], {"S": [], "P": 8}, DataError, r"^there are no times; give at least one\.$"),
        (congested(MESSAGE), [0.0], {"S": 8, "P": 8}, DataError, "times must be positive and finite"),
        (congested(MESSAGE), [1.0, 2.0], {"S": [8, 8, 8], "P": 8}, DataError, "there are 2 times; give one value or as many"),
        (congested(MESSAGE), [1.0], {"S": "8 s", "P": 8}, UsageError, "S is '8 s'; it must be in B"),
        (congested(MESSAGE), [1.0], {"S": 8}, UsageError, "P"),
    ],
)
def test_what_makes_no_sense_is_refused(model, times, at, error, said):
    with pytest.raises(error, match=said):
        inside_bounds(model, times, **at)


def test_a_factor_is_a_formula_in_p():
    assert congested(MESSAGE, "P/2").bounds(S="1 MiB", P=16).upper == pytest.approx(9.8e-6 + 8 * 2.67e-9 * 2**20)
    with pytest.raises(UsageError, match=r"the factor 'P\*R' must be a formula in P, as in"):
        congested(MESSAGE, "P*R")
