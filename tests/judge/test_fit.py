"""Fits: data made from a tick give the tick back, scaling changes nothing else, bad data are named."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.judge.fit import Model, fit_series
from scalkit.judge.fit.model import Term
from scalkit.judge.fit.paper import fit_growths
from scalkit.judge.space import SearchSpace
from scalkit.measure import Series

ICS15 = SearchSpace.preset("ics15").ticks
GROWING = [tick for tick in ICS15 if not tick.is_constant]
P = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
ONE = Growth()


def series(y: object, x: object = P, *, exact: bool = False, metric: str = "time", resolution: float = 0.0) -> Series:
    values = np.asarray(y, dtype=float)
    per_run = values if values.ndim == 2 else values[:, None]
    return Series(
        function="f",
        metric=metric,
        parameter="p",
        unit="B" if metric.endswith("memory") else "s",
        exact=exact,
        x=np.asarray(x, dtype=float),
        values=per_run,
        y=np.quantile(per_run, 0.25, axis=1),
        n_repetitions=np.ones(len(per_run), dtype=np.int64),
        caveats=(),
        decides=True,
        noise=math.nan,
        resolution=resolution,
    )


@pytest.mark.parametrize("tick", GROWING, ids=str)
@pytest.mark.parametrize("constant", [0.0, 1e-9, 3.0])
def test_data_from_a_tick_give_the_tick_back(tick: Growth, constant: float) -> None:
    best = fit_series(series(constant + 2.5 * tick(P)), ICS15)[0]
    assert best.growth == tick
    assert best.coefficient == pytest.approx(2.5, rel=1e-6)
    assert best.constant == pytest.approx(constant, rel=1e-3, abs=1e-6)
    assert best.adjusted_r2 == pytest.approx(1.0)


def test_expectation_within_the_resolution_ties_with_the_best() -> None:
    x, expected = P[:5], Growth("p")
    padded = [5752.0, 5800.0, 5912.0, 6136.0, 6584.0]  # 5688 + 28 p, and 8 more at p = 2

    def best(y: object, resolution: float) -> Growth:
        given = series(y, x, exact=True, metric="object_memory", resolution=resolution)
        return fit_series(given, ICS15, expected)[0].growth

    assert str(best(padded, 0.0)) == "p^(3/4)*log(p)"
    assert best(padded, 16.0) == expected
    assert best(8.0 * x**1.5, 16.0) != expected
    assert best([5400.0] * 5, 16.0).is_constant
    leak = fit_series(series(5400 + 8.0 * np.log2(x), x, exact=True, metric="object_memory", resolution=16.0), ICS15, ONE)
    assert str(leak[0].growth) == "log(p)"


def test_exact_bytes_measured_once() -> None:
    x = P[:5]
    best = fit_series(series(8856 + 8 * x, x, exact=True, metric="object_memory"), ICS15, ONE)[0]
    assert best.growth == Growth.of("p", power=1)
    assert best.constant == pytest.approx(8856, abs=1e-9)
    assert best.coefficient == pytest.approx(8, abs=1e-9)
    assert str(best) == "8856 B + 8 B * p"
    assert best(1024) == pytest.approx(17048)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.5, 2.0), min_size=6, max_size=6), st.sampled_from(GROWING), st.floats(-12, 12).map(lambda e: 10.0**e))
def test_scaling_the_values_changes_the_coefficients_only(noise: list[float], tick: Growth, factor: float) -> None:
    y = (1 + tick(P)) * noise
    plain, scaled = (fit_series(series(values), ICS15) for values in (y, factor * y))
    assert plain[0].growth == scaled[0].growth
    assert scaled[0].constant == pytest.approx(factor * plain[0].constant, rel=1e-6, abs=1e-9 * factor)
    assert scaled[0].coefficient == pytest.approx(factor * plain[0].coefficient, rel=1e-6)
    assert scaled[0].rss == pytest.approx(plain[0].rss, rel=1e-6, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(6)), st.lists(st.floats(0.5, 2.0), min_size=6, max_size=6))
def test_the_order_of_the_points_does_not_matter(order: list[int], noise: list[float]) -> None:
    y = P * noise
    fits = fit_growths(P, y[None], GROWING)
    shuffled = fit_growths(P[order], y[None, order], GROWING)
    assert np.allclose(fits.rss, shuffled.rss, rtol=1e-9, equal_nan=True)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.1, 10.0), min_size=6, max_size=6))
def test_the_closed_form_is_the_least_sum_of_squares(noise: list[float]) -> None:
    y = P * noise
    fits = fit_growths(P, y[None], GROWING)
    for k, tick in enumerate(GROWING):
        if not math.isfinite(fits.rss[0, k]):
            continue
        c0, c1 = float(fits.constants[0, k]), float(fits.scaled[0, k])
        t = np.exp2(tick.log2_value(P) - fits.log2_scales[k])
        assert c0 >= 0
        assert c1 > 0
        for d0, d1 in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
            near0, near1 = max(0.0, c0 + d0 * c1), c1 * (1 + d1)
            rss = float((((y - near0 - near1 * t) / y) ** 2).sum())
            assert rss >= fits.rss[0, k] * (1 - 1e-9)


def test_series_fitted_together_are_fitted_as_alone() -> None:
    rng = np.random.default_rng(3)
    y = rng.uniform(1, 2, (7, 6)) * P
    together = fit_growths(P, y, GROWING)
    for row in range(7):
        alone = fit_growths(P, y[row : row + 1], GROWING)
        assert np.allclose(together.rss[row], alone.rss[0])
        assert np.allclose(together.scaled[row], alone.scaled[0])


def test_two_to_the_x_does_not_overflow() -> None:
    x = np.array([1000.0, 2000.0, 3000.0, 4000.0, 5000.0])
    ticks = [Growth(text) for text in ("1", "p^2", "2^(p/10)", "2^p", "p^3*2^p")]
    y = 1.0 + np.exp2(x / 10 - 450)
    best = fit_series(series(y, x), ticks)[0]
    assert best.growth == Growth("2^(p/10)")
    assert best.terms[-1].log2_coefficient == pytest.approx(-450)
    assert math.isfinite(float(best.log2_value(1e9)))
    steep = fit_series(series(np.array([1.0, 1, 1, 1, 2]), x), [Growth("2^p")])
    hidden = next(model for model in steep if not model.growth.is_constant)
    assert hidden.coefficient == 0.0
    assert hidden.terms[-1].log2_coefficient == pytest.approx(-5000)
    assert str(hidden).endswith("2^(-5000) s * 2^p")
    assert hidden(5000) == pytest.approx(2)


def test_equal_values_are_constant() -> None:
    (best,) = fit_series(series([5400.0] * 6), ICS15)
    assert (best.growth, best.constant, best.coefficient) == (ONE, 5400.0, 0.0)
    assert math.isnan(best.adjusted_r2)
    assert best([1, 2]).tolist() == [5400, 5400]


def test_noise_is_constant_by_the_f_test() -> None:
    y = [10.0, 10.4, 9.8, 10.1, 9.9, 10.2]
    assert fit_series(series(y), ICS15)[0].growth == ONE
    assert fit_series(series(y, exact=True), ICS15)[0].growth == ONE


def test_exact_growth_needs_no_f_test_but_must_repeat_in_every_run() -> None:
    stairs = np.array([100.0, 100, 108, 108, 108, 116])
    assert fit_series(series(np.array([100.0, 100, 100, 108, 108, 108])), ICS15)[0].growth != ONE
    doubtful = np.array([100.0, 108, 108, 108, 108, 116])
    assert fit_series(series(doubtful, exact=True), ICS15)[0].growth != ONE
    falls_once = np.column_stack([doubtful, doubtful, [100, 116, 108, 100, 108, 108]])
    assert fit_series(series(falls_once, exact=True), [ONE, Growth("p^2")])[0].growth == ONE
    single_step = np.array([100.0, 108, 108, 108, 108, 108])
    assert fit_series(series(single_step, exact=True), ICS15)[0].growth == ONE
    assert fit_series(series(np.column_stack([stairs, stairs]), exact=True), ICS15)[0].growth != ONE


def test_ties_go_to_the_expectation_then_to_the_slower_growth() -> None:
    twins = [Growth(text) for text in ("p", "p^2", "p^(1/2)")]
    data = series([10.0, 10, 11, 11, 11], [2.0, 2, 4, 4, 4])
    assert fit_series(data, twins)[0].growth == Growth("p^(1/2)")
    assert fit_series(data, twins, Growth("p"))[0].growth == Growth("p")


def test_falling_values_leave_the_constant() -> None:
    models = fit_series(series(1 / P), ICS15)
    assert [model.growth for model in models] == [ONE]


def test_rivals_come_by_falling_adjusted_r2() -> None:
    models = fit_series(series(P * [1, 1.1, 0.9, 1.05, 1, 0.97]), ICS15)
    r2 = [model.adjusted_r2 for model in models if not model.growth.is_constant]
    assert r2 == sorted(r2, reverse=True)
    assert models[-1].growth == ONE


@pytest.mark.parametrize(
    ("value", "metric", "shown"),
    [
        (math.nan, "time", "is nan s; it must be positive and finite"),
        (math.inf, "time", "is inf s; it must be positive and finite"),
        (0.0, "time", "is 0 s; it must be positive and finite"),
        (-1.0, "time", "is -1 s; it must be positive and finite"),
        (-1.0, "object_memory", "is -1 B; it must be zero or positive and finite"),
    ],
)
def test_bad_values_are_named(value: float, metric: str, shown: str) -> None:
    data = series(P, metric=metric)
    y = data.y.copy()
    y[2] = value
    message = f"'{metric}' of 'f' at p = 8 {shown}. Drop that point or measure it again."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_series(replace(data, y=y), ICS15)


def test_no_bytes_at_all_are_constant() -> None:
    assert fit_series(series(0 * P, exact=True, metric="object_memory"), ICS15)[0].constant == 0
    grown = fit_series(series([0.0, 8, 16, 32, 64, 128], exact=True, metric="object_memory"), ICS15)
    assert grown[0].growth != ONE


def test_too_few_settings() -> None:
    data = series(P[:3], P[:3])
    message = "fitting 'time' of 'f' needs 5 values of 'p', got 3 (2, 4, 8); measure more or set min_points=3 (--min-points 3)."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_series(data, ICS15)
    assert fit_series(data, ICS15, min_points=3)[0].growth == Growth("p")


def test_two_settings_make_no_model() -> None:
    message = "min_points is 2; a model of two coefficients needs at least 3 settings."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_series(series(P), ICS15, min_points=2)


def test_model_prints() -> None:
    model = Model(("p",), (Term.of(ONE, 16e6), Term.of(Growth("p"), 0.56e6)), "B", 0.0)
    assert str(model) == "16.0 MB + 560 kB * p"
    assert "<mtext>MB</mtext>" in model.to_mathml()
    assert str(model.to_sympy()) == "560000.0*p + 16000000.0"
    through_zero = replace(model, terms=model.terms[1:])
    assert str(through_zero) == "560 kB * p"
    assert through_zero.to_mathml().startswith("<mrow><mn>560</mn>")
    assert str(replace(model, unit="s", terms=(Term.of(Growth("2^p"), 3e-30),))) == "3e-30 s * 2^p"
    flat = replace(model, terms=(Term.of(ONE, 256.0),))
    assert str(flat) == "256 B"
    assert flat.to_mathml().startswith("<mrow><mn>256</mn>")
    assert float(flat.to_sympy()) == 256
    assert flat.log2_value(4) == 8


def test_models_without_a_number_are_equal_if_it_is_missing_in_both() -> None:
    first, second = (replace(fit_series(series(P), ICS15)[0], adjusted_r2=math.nan) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != replace(first, weight=0.5)
    assert first != replace(first, terms=first.terms[1:])
