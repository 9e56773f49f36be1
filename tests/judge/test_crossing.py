"""The crossing point p*: where the divergence, coefficients stripped, leaves the deviation limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.growth import Growth
from scalkit.judge.crossing import crossing, last_sign_change, place_of, shown_scale


@pytest.mark.parametrize(
    ("model", "expectation", "deviation", "p_star"),
    [
        ("p^(1/4)*log(p)", "p", "p^(1/2)", 65536.0),  # delta = p^(-3/4) log p
        ("p", "log(p)", "p^(1/2)", 16.0),
        ("p^(2/3)*log(p)", "log(p)", "p^(1/2)", 1.0),
        ("p*log(p)", "log(p)", "p^(1/2)", 1.0),
        ("p", "1", "log(p)^(1/2)", 1.0),
        ("log(p)", "1", "log(p)^(1/2)", 2.0),
        ("p^(3/2)", "p", "p^(1/2)", math.nan),
        ("p", "p", "p^(1/2)", math.nan),
        ("p^(1001/1000)", "p", "log(p)^9", math.inf),
        ("p^1000", "p^999", "p/log(p)", 2.0),
        ("2^p", "p", "p", 4.0),
        ("2^p/p^10", "1", "1", 58.77010593),
    ],
)
def test_golden(model: str, expectation: str, deviation: str, p_star: float) -> None:
    found = crossing(Growth(model), sk.Expectation(expectation, deviation))
    assert found == pytest.approx(p_star, rel=1e-9, nan_ok=True)
    if math.isfinite(p_star) and p_star == int(p_star):
        assert found == p_star


EXPONENTS = st.fractions(min_value=-3, max_value=3, max_denominator=4)


@settings(max_examples=100, deadline=None)
@given(EXPONENTS, EXPONENTS, st.fractions(min_value="1/4", max_value=2, max_denominator=4))
def test_outside_beyond_it_and_on_a_limit_at_it(power: object, log: object, deviation: object) -> None:
    model = Growth.of("p", power=power, log=log)  # type: ignore[arg-type]
    expectation = sk.Expectation("p", Growth.of("p", power=deviation))  # type: ignore[arg-type]
    p_star = crossing(model, expectation)
    if math.isnan(p_star):
        assert expectation.match(model) != "none"
        return
    divergence = model / expectation.growth

    def excess(x: float) -> float:
        return abs(float(divergence.log2_value(x))) - float(expectation.deviation.log2_value(x))

    if 1 < p_star < 1e300:
        assert excess(p_star) == pytest.approx(0, abs=1e-6 * (1 + math.log2(p_star)))
    for factor in (1.01, 2.0, 1e3):
        if p_star * factor < 1e300:
            assert excess(p_star * factor) > 0


def test_last_sign_change() -> None:
    grid = np.linspace(0.1, 10, 200)
    assert last_sign_change(lambda x: (x - 2) * (x - 5) * (x - 7), grid) == pytest.approx(7)
    assert math.isnan(last_sign_change(lambda x: x, grid))
    assert math.isinf(last_sign_change(lambda x: -x, grid))


def test_places_and_scales_in_words() -> None:
    places = [place_of(x, 64) for x in (2, 64, 65, 1024, 1025)]
    assert places == [
        "inside the measured range",
        "inside the measured range",
        "near the measured range",
        "near the measured range",
        "far beyond the measured range",
    ]
    shown = [shown_scale(x) for x in (2.0, 5.657, 982.3, 65536.0, 1.3e12, math.inf)]
    assert shown == ["2", "5.66", "982", "65,536", "1.3e+12", "more than 2^1000"]
