"""Properties of piecewise models in any unit, and of the paper's choice for many series."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.judge import SearchSpace
from scalkit.judge.fit.paper import best_growths
from scalkit.judge.fit.piecewise import fit_piecewise
from scalkit.stats.pure_error import Noise

ICS15 = SearchSpace.preset("ics15")
P = 2.0 ** np.arange(1, 8)
SEEDS = st.integers(0, 10**9)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(-20, 20))
def test_pieces_do_not_depend_on_the_unit(seed: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    x = 2.0 ** np.arange(1, rng.integers(7, 15))
    y = np.where(np.arange(len(x)) < rng.integers(0, len(x)), 1 + np.log2(x), rng.uniform(0.1, 3) * x)
    y = y * np.exp(rng.normal(0, 0.05, len(x)))
    noise = Noise(0.05, 10, is_all=bool(rng.integers(2)))
    one, other = (fit_piecewise(x, s * y, ICS15.ticks, noise) for s in (1.0, 10.0**exponent))
    assert [(s.first, s.last) for s in other.segments] == [(s.first, s.last) for s in one.segments]
    assert other.growths == one.growths
    assert other.probability == pytest.approx(one.probability, abs=1e-6)
    criteria = [(found.bic_single, found.bic_several) for found in (one, other)]
    assert criteria[1] == pytest.approx(criteria[0], abs=1e-5)
    assert other.sentence == one.sentence
    np.testing.assert_allclose(other(x), 10.0**exponent * one(x), rtol=1e-7)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e200, 1e306])
def test_pieces_of_any_size(scale: float) -> None:
    y = scale * np.array([1.0, 1, 1, 1, 8, 8, 8, 8])
    found = fit_piecewise(2.0 ** np.arange(1, 9), y, ICS15.ticks, Noise(0.05, 10))
    assert [str(change) for change in found.change_points] == ["after p = 16, from 32 on, it is 8 times as large"]
    assert found(64.0) == y[-1]
    spread = fit_piecewise(2.0 ** np.arange(1, 9), [1e-300, 1e-200, 1, 1, 1, 1e10, 1e200, 1e300], ICS15.ticks, Noise(0.05, 10))
    assert 0 <= spread.probability <= 1


def test_many_series_get_the_growths_that_validate_gives_to_each() -> None:
    rng = np.random.default_rng(5)
    shapes = np.array([ICS15.ticks[place](P) for place in rng.integers(0, len(ICS15), 30)])
    noise = rng.choice([0.01, 0.1, 0.5], (30, 1))
    y = (1 + shapes) * np.exp(noise * rng.standard_normal(shapes.shape))
    found = []
    for each in y:
        result = sk.validate(sk.measurements(P, each), {"f": "p"}, space=ICS15, strictness="paper")
        found.append(result["f"].model.growth)
    assert best_growths(P, y, ICS15.ticks) == found
    assert best_growths(P, y, [sk.Growth()]) == [sk.Growth()] * 30
