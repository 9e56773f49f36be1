"""Strong scaling is recognised by falling values, and its cost is modelled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalkit.fit import fit_series
from scalkit.growth import Growth
from scalkit.measure import Series, measurements, series
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.strong import cost_expectation, cost_series, strong_scaling

P = 2.0 ** np.arange(1, 8)


def one(y: object, x: object = P) -> Series:
    (made,) = series(measurements(x, y, name="solve"))
    return made


def test_falling_times_are_strong_scaling() -> None:
    found = strong_scaling(one(10 / P + 0.01))
    assert found is not None
    assert found.tail == pytest.approx(1 / math.factorial(7))
    assert found.fall == pytest.approx((10 / 128 + 0.01) / 5.01)
    assert found.sentence == (
        "the time of solve falls to 1.76 % from p = 2 to 128, as for a problem of fixed size (strong scaling); "
        "its cost p*time is modelled"
    )
    assert found.cost.metric == "p*time"
    assert found.cost.unit == "s"
    assert found.cost.y == pytest.approx(10 + 0.01 * P)
    assert found.cost.values == pytest.approx(found.series.values * P[:, None])
    repeated = cost_series(one((10 / P)[:, None] * [1.0, 1.1]))
    assert repeated.replicates == pytest.approx(10 * np.ones((7, 1)) * [1.0, 1.1])


def test_the_cost_is_modelled() -> None:
    found = strong_scaling(one(10 / P + 0.01 * np.log2(P)))
    assert found is not None
    model = fit_series(found.cost, SearchSpace.preset("ics15").ticks)[0]
    assert model.growth == Growth.parse("p*log(p)")
    assert model.constant == pytest.approx(10)


@pytest.mark.parametrize(
    "y", [P, np.full(7, 3.0), [10, 9.9, 9.8, 9.7, 9.6, 9.5, 9.4], [10, 5, 2, 1, 2, 5, 10], [10, 1, 9, 2, 8, 3, 7]]
)
def test_other_values_are_not(y: object) -> None:
    assert strong_scaling(one(y)) is None


def test_too_few_or_zero_values_are_not() -> None:
    assert strong_scaling(one([3.0, 2.0, 1.0], [2, 4, 8])) is None
    (bytes_,) = series(measurements([2, 4, 8, 16], [8, 4, 2, 0], metric="object_memory", unit="B", name="f"))
    assert strong_scaling(bytes_) is None


def test_noise_without_a_trend_is_rarely_called_strong_scaling() -> None:
    rng = np.random.default_rng(4)
    found = [strong_scaling(one(np.exp(0.1 * rng.standard_normal(7)))) for _ in range(300)]
    assert np.mean([f is not None for f in found]) <= 0.05


def test_resolution_grows_with_the_values() -> None:
    (bytes_,) = series(measurements([2, 4, 8], [80, 48, 16], metric="object_memory", unit="B", name="f"))
    assert cost_series(bytes_).resolution == 8 * bytes_.resolution
    assert cost_series(bytes_).exact == bytes_.exact


@pytest.mark.parametrize(
    ("expectation", "cost"), [("1/p", "1"), ("log(p)/p", "log(p)"), ("1", "1"), ("log(p)", "log(p)"), ("p^(-1/2)", "p^(1/2)")]
)
def test_a_falling_expectation_speaks_of_times(expectation: str, cost: str) -> None:
    assert cost_expectation(Expectation(expectation)).growth == Growth.parse(cost)


def test_an_own_deviation_stays() -> None:
    assert cost_expectation(Expectation("1/p", deviation="p^(1/3)")).deviation == Growth.parse("p^(1/3)")
