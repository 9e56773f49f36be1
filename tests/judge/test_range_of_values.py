"""Fits of values at the ends of the floating-point range, and of data that were made from exponential ticks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import scalkit as sk
from scalkit.growth import Growth
from scalkit.judge.fit import Model, fit_series
from scalkit.judge.fit.paper import fit_growths
from scalkit.measure import series

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
ICS15 = sk.SearchSpace.preset("ics15").ticks
EXPONENTIAL = [
    pytest.param(tick, ticks, id=f"{tick} around {text}")
    for text in ("2^k", "k^3*2^k", "2^(k/2)", "k^2*4^k")
    for ticks in [sk.SearchSpace.around(sk.Expectation(text)).ticks]
    for tick in ticks
    if not tick.is_constant
]


def best(x: object, y: object, ticks: tuple[Growth, ...] = ICS15, parameter: str = "p") -> Model:
    (one,) = series(sk.measurements(x, y, parameter))
    return fit_series(one, ticks)[0]


@pytest.mark.parametrize(
    "x", [np.arange(3.0, 17.0), np.arange(1.0, 9.0), np.arange(10.0, 60.0, 8.0)], ids=("3..16", "1..8", "10..58")
)
@pytest.mark.parametrize("constant", [0.0, 1.0, 1e3])
@pytest.mark.parametrize(("tick", "ticks"), EXPONENTIAL)
def test_data_from_an_exponential_ruler_give_the_tick_back(
    tick: Growth, ticks: tuple[Growth, ...], constant: float, x: np.ndarray
) -> None:
    model = best(x, constant + 2.5 * tick(x), ticks, "k")
    assert model.growth == tick
    assert model.terms[-1].log2_coefficient == pytest.approx(math.log2(2.5), rel=1e-6)


@pytest.mark.parametrize("x", [P, P[0] * 3.0 ** np.arange(6), np.arange(1.0, 12.0), 1e4 * P], ids=str)
@pytest.mark.parametrize("tick", [tick for tick in ICS15 if not tick.is_constant], ids=str)
def test_data_from_ics15_give_the_tick_back_in_every_range(tick: Growth, x: np.ndarray) -> None:
    assert best(x, 7.0 + 0.5 * tick(x)).growth == tick


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e306])
def test_no_size_of_the_values_overflows(factor: float) -> None:
    model = best(P, (100 + P) * factor if factor < 1e306 else P * factor)
    assert model.growth == Growth.of("p", power=1)
    if factor > 1e-310:
        assert model.coefficient == pytest.approx(factor)


@pytest.mark.parametrize("values", [[1e-300, 1, 1e300, 1e200, 1e10], [1e-200, 1e-100, 1, 1e100, 1e200], [5e-324, 1, 2, 3, 1e308]])
def test_values_over_the_whole_range_are_judged_without_a_warning(values: list[float]) -> None:
    model = best(P, values)
    assert model.constant >= 0
    assert math.isfinite(model.constant)


@pytest.mark.parametrize("scale", [1.0, 2.0**-30, 2.0**40])
def test_a_power_of_two_scales_values(scale: float) -> None:
    plain, scaled = best(P, 8856 + 8 * P), best(P, (8856 + 8 * P) * scale)
    assert scaled.constant == pytest.approx(plain.constant * scale, rel=1e-12)
    assert scaled.coefficient == pytest.approx(plain.coefficient * scale, rel=1e-12)


def test_adding_a_series_changes_nothing() -> None:
    ticks = [tick for tick in ICS15 if not tick.is_constant]
    y = np.array([8856 + 8 * P, 1e-9 * P**2])
    alone, together = fit_growths(P, y[:1], ticks), fit_growths(P, y, ticks)
    np.testing.assert_allclose(together.constants[0], alone.constants[0], rtol=1e-12)
    np.testing.assert_allclose(together.scaled[0], alone.scaled[0], rtol=1e-9)


def test_two_to_a_huge_setting_is_no_overflow() -> None:
    x = 1e300 * np.arange(1.0, 6.0)
    assert best(x, 2.0 ** np.arange(5), sk.SearchSpace.around(sk.Expectation("2^k")).ticks, "k").constant >= 0


def test_thousands_of_noisy_settings_are_judged_at_once() -> None:
    x = np.arange(1.0, 2001.0)
    y = np.random.default_rng(0).lognormal(0.0, 0.2, 2000)
    assert best(x, y).growth == Growth()
    assert best(x, x * y).growth >= Growth.of("p", power="3/4")
