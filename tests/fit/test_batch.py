"""The fast path agrees with the fits of one series at a time, whatever the values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.errors import DataError
from scalkit.fit import Model, fit_series
from scalkit.fit.batch import FitModels, fit_models
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.measure import series as series_of
from scalkit.measure.reduce import statistic_over

ICS15 = sk.SearchSpace.preset("ics15")
GROWING = [tick for tick in ICS15.ticks if not tick.is_constant]
EXPONENTIAL = sk.SearchSpace.around(sk.Expectation("2^k"))
P = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
ONE = Growth.constant()
TINIEST = 1e-323


def alone(x: np.ndarray, y: np.ndarray, space: sk.SearchSpace, **options: object) -> Model:
    """The model that `fit_series` chooses for one series."""
    exact, expected = bool(options.get("exact")), options.get("expected")
    there = ~np.isnan(y)
    order = np.argsort(x[there])
    values = y[there][order]
    series = Series(
        function="f",
        metric="object_memory",
        parameter="p",
        unit="B",
        exact=exact,
        x=x[there][order],
        values=values[:, None],
        y=values,
        n_repetitions=np.ones(len(values), dtype=np.int64),
        caveats=(),
        decides=True,
        noise=math.nan,
    )
    return fit_series(series, space.ticks, expected if isinstance(expected, Growth) else None, 3)[0]


def assert_as_alone(x: np.ndarray, Y: np.ndarray, space: sk.SearchSpace, **options: object) -> FitModels:
    models = fit_models(x, Y, space, positive=False, min_points=3, **options)
    for i, y in enumerate(Y):
        one, size = alone(x, y, space, **options), np.nanmax(y)
        assert models.is_rough[i] == one.is_rough
        if one.is_rough:
            continue
        many = models.model(i)
        assert many.growth == one.growth, (i, y, many, one)
        assert many.constant == pytest.approx(one.constant, rel=1e-9, abs=1e-12 * size + TINIEST)
        assert many.coefficient == pytest.approx(one.coefficient, rel=1e-9, abs=TINIEST)
        if one.coefficient > TINIEST * 1e9:
            assert many.log2_coefficient == pytest.approx(one.log2_coefficient, rel=1e-12, abs=2e-9)
        assert many.rss == pytest.approx(one.rss, rel=1e-6, abs=1e-18)
        assert many.adjusted_r2 == pytest.approx(one.adjusted_r2, abs=1e-9, nan_ok=True)
        assert models.n_points[i] == np.count_nonzero(~np.isnan(y))
    return models


def noisy(seed: int, x: np.ndarray, n_series: int, noise: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ticks = [GROWING[k] for k in rng.integers(0, len(GROWING), n_series)]
    share = rng.choice([0.0, 0.3, 0.9, 1.0], n_series)
    shapes = np.array([tick(x) / tick(x).max() for tick in ticks])
    return (share[:, None] + (1 - share[:, None]) * shapes) * np.exp(rng.normal(0, noise, shapes.shape)) * 1e-3


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("x", [P, 4 * P, np.arange(1.0, 9.0), np.array([3.0, 5, 6, 1000]), 1e5 + P], ids=str)
def test_random_series_are_fitted_as_alone(x: np.ndarray, noise: float) -> None:
    assert_as_alone(x, noisy(7, x, 100, noise), ICS15)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.floats(0.0, 10.0, width=16), min_size=6, max_size=6), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([None, ONE, Growth.parse("p"), Growth.parse("log(p)")]),
)
def test_any_series_are_fitted_as_alone(values: list[list[float]], exact: bool, expected: Growth | None) -> None:
    assert_as_alone(P, np.array(values), ICS15, exact=exact, expected=expected)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 60), min_size=6, max_size=6),
    st.booleans(),
    st.sets(st.integers(0, 5), max_size=3),
    st.sampled_from([1.0, 8.0, 1e-300, 1e300, 2.0**-1060]),
)
def test_whole_numbers_zeros_gaps_and_all_scales(values: list[int], exact: bool, gone: set[int], factor: float) -> None:
    y = np.array(values, dtype=float)
    y[list(gone)] = np.nan
    assert_as_alone(P, np.array([y, P, y * factor]) * [[1.0], [factor], [1.0]], ICS15, exact=exact)


def test_a_tick_that_explains_nothing_is_no_error() -> None:
    x = np.array([2.0, 16.0, 32.0, 64.0])
    assert assert_as_alone(x, np.array([[45.0, 58.0, 45.0, 45.0]]), ICS15).growth(0) == ONE


@pytest.mark.parametrize("space", [ICS15, sk.SearchSpace.around(sk.Expectation("p")), EXPONENTIAL])
@pytest.mark.parametrize("x", [P, np.arange(1.0, 9.0), np.linspace(100, 2000, 6)], ids=str)
def test_missing_points_count_for_nothing(space: sk.SearchSpace, x: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    Y = noisy(8, x, 120)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    assert_as_alone(x, Y[np.isfinite(Y).sum(axis=1) >= 3], space)


@pytest.mark.parametrize("x", [np.arange(3.0, 17.0), np.arange(1.0, 9.0), np.linspace(10, 3000, 8)], ids=str)
def test_exponential_ticks_do_not_overflow(x: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    ticks = [tick for tick in EXPONENTIAL.ticks if not tick.is_constant]
    logs = np.array([tick.log2_value(x) for tick in ticks])
    shapes = np.exp2(logs - logs.max(axis=1, keepdims=True))
    Y = (rng.choice([0.0, 0.5], (len(ticks), 1)) + shapes) * np.exp(rng.normal(0, 0.02, shapes.shape))
    models = assert_as_alone(x, np.maximum(Y, 1e-300), EXPONENTIAL)
    assert np.isfinite(models.log2_coefficient[models.best > 0]).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-100, 1.0, 1e100, 1e300])
def test_values_of_every_size(scale: float) -> None:
    Y = np.round(noisy(3, P, 40, 0.05) * 1e6) * scale
    assert_as_alone(P, Y, ICS15)
    assert_as_alone(P, np.array([[1e-300, 1, 1e300, 1e200, 1e10, 1e11], P * scale, 1 / P]), ICS15)


@pytest.mark.parametrize("tick", GROWING, ids=str)
def test_data_from_a_tick_give_the_tick_back(tick: Growth) -> None:
    constants = np.array([0.0, 1e-9, 3.0, 1e3])
    for x in (P, np.arange(1.0, 12.0), 1e4 * P):
        models = fit_models(x, constants[:, None] + 2.5 * tick(x), ICS15, positive=False)
        assert [models.growth(i) for i in range(4)] == [tick] * 4
        assert models.coefficient == pytest.approx(np.full(4, 2.5), rel=1e-5)
        assert models.adjusted_r2 == pytest.approx(np.ones(4))


@pytest.mark.parametrize("tick", [tick for tick in EXPONENTIAL.ticks if not tick.is_constant], ids=str)
def test_data_from_an_exponential_tick_give_the_tick_back(tick: Growth) -> None:
    x = np.arange(3.0, 17.0)
    models = fit_models(x, np.array([[0.0], [1.0], [1e3]]) + 2.5 * tick(x), EXPONENTIAL)
    assert [models.growth(i) for i in range(3)] == [tick] * 3
    assert models.coefficient == pytest.approx(np.full(3, 2.5), rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-12, 12).map(lambda e: 10.0**e), st.permutations(range(6)))
def test_scaling_permuting_and_adding_series_change_nothing_else(seed: int, factor: float, order: list[int]) -> None:
    Y = noisy(seed, P, 8)
    plain = fit_models(P, Y, ICS15)
    others = (
        (fit_models(P, factor * Y, ICS15), factor),
        (fit_models(P[order], Y[:, order], ICS15), 1.0),
        (fit_models(P, np.vstack([Y, Y[:1] * 3, P[None] / 7, np.ones((1, 6))]), ICS15), 1.0),
    )
    for changed, scale in others:
        assert (changed.best[:8] == plain.best).all()
        np.testing.assert_allclose(changed.constant[:8], scale * plain.constant, rtol=1e-9, atol=1e-13 * scale)
        np.testing.assert_allclose(changed.coefficient[:8], scale * plain.coefficient, rtol=1e-9)
        np.testing.assert_allclose(changed.adjusted_r2[:8], plain.adjusted_r2, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("statistic", ["q1", "median", "mean", "min", "cut_mean_4"])
def test_repetitions_are_reduced_as_elsewhere(statistic: str) -> None:
    rng = np.random.default_rng(4)
    Y = P[:, None] * rng.uniform(1, 2, (30, 6, 7))
    Y[rng.random(Y.shape) < 0.2] = np.nan
    repeated = fit_models(P, Y, ICS15, statistic=statistic)
    reduced = fit_models(P, statistic_over(Y, 2, statistic), ICS15)
    assert (repeated.best == reduced.best).all()
    assert (repeated.rss == reduced.rss).all()


def test_repeated_points_are_repetitions() -> None:
    rng = np.random.default_rng(6)
    x = np.array([2.0, 8, 4, 2, 16, 32, 8, 2])
    Y = x * rng.uniform(1, 1.5, (20, 8))
    Y[3, 0] = np.nan
    many = fit_models(x, Y, ICS15, statistic="median")
    for i, y in enumerate(Y):
        assert many.growth(i) == fit_series(series_of(sk.measurements(x, y), "median")[0], ICS15.ticks)[0].growth
    by_hand = np.array([[np.nanmedian(y[x == p]) for p in np.unique(x)] for y in Y])
    assert (many.rss == fit_models(np.unique(x), by_hand, ICS15).rss).all()
    assert (many.n_points == 5).all()


def test_blocks_of_any_length_hold_the_same() -> None:
    Y = noisy(11, P, 2500)
    whole, first = fit_models(P, Y, ICS15), fit_models(P, Y[:1], ICS15)
    assert whole.growth(0) == first.growth(0)
    assert whole.constant[0] == pytest.approx(first.constant[0], rel=1e-12)
    assert whole.coefficient[0] == pytest.approx(first.coefficient[0], rel=1e-12)
    assert len(fit_models(P, np.empty((0, 6)), ICS15)) == 0
    tail = fit_models(P, Y[2000:].astype(np.float32), ICS15)
    assert (tail.best == whole.best[2000:]).mean() > 0.99


def test_all_hypotheses_are_there_on_request() -> None:
    from scalkit.fit import fit_ticks

    Y = noisy(12, P, 50)
    models = fit_models(P, Y, ICS15, all_hypotheses=True)
    fits = fit_ticks(P, Y, models.growths[1:])
    fitting = np.isfinite(fits.rss)
    assert models.all_constants is not None
    assert models.all_coefficients is not None
    assert models.all_adjusted_r2 is not None
    assert (np.isnan(models.all_adjusted_r2[:, 1:]) == ~fitting).all()
    assert np.isnan(models.all_adjusted_r2[:, 0]).all()
    np.testing.assert_allclose(models.all_adjusted_r2[:, 1:][fitting], fits.adjusted_r2[fitting], atol=1e-9)
    np.testing.assert_allclose(
        models.all_coefficients[:, 1:][fitting], (fits.scaled * 2.0**-fits.log2_scales)[fitting], rtol=1e-9
    )
    np.testing.assert_allclose(models.all_constants[:, 1:][fitting], fits.constants[fitting], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(models.all_constants[:, 0], fits.means)
    assert (models.best == fit_models(P, Y, ICS15).best).all()
    assert fit_models(P, Y, ICS15).all_coefficients is None


def test_results_print_and_predict() -> None:
    models = fit_models(P, np.array([8856 + 8 * P, 0 * P + 256]), ICS15, unit="B")
    assert str(models.model(0)).startswith("8856 B + 8")
    assert str(models.model(1)) == "256 B"
    assert models.counts() == {ONE: 1, Growth.parse("p"): 1}
    assert repr(models) == "FitModels(2 series, 26 growths, most often 1, 0 rough)"
    np.testing.assert_allclose(models.predict([1024]), [[17048], [256]])
    assert models.growths[0] == ONE
    assert (models.best[1], models.rss[1], models.coefficient[1]) == (0, 0, 0)


def test_a_space_may_be_a_sequence_or_hold_the_constant_alone() -> None:
    twins = [Growth.parse(text) for text in ("p^2", "p", "1", "p^(1/2)")]
    x, Y = [2.0, 2, 4, 4, 8, 8], np.array([[10.0, 10, 11, 11, 11, 11]])
    assert fit_models(P, P[None], twins).growth(0) == Growth.parse("p")
    flat = fit_models(P, np.array([P, P**2]), [ONE], all_hypotheses=True)
    assert (flat.best == 0).all()
    assert not flat.is_rough.any()
    assert fit_models(x, Y, twins, min_points=3).n_points[0] == 3


def test_ties_go_to_the_expectation_then_to_the_slower_growth() -> None:
    space = sk.SearchSpace.of([Growth.parse("2^p"), Growth.parse("4^p")], "exponential", "p")
    data = np.array([[1.0, 1.01, 0.99, 1.0, 1.01, 5.0]])  # both ticks are zero but for the last point
    for expected in (None, Growth.parse("2^p"), Growth.parse("4^p")):
        found = assert_as_alone(1000 * P, data, space, expected=expected)
        assert found.growth(0) == (expected or Growth.parse("2^p"))


def test_signs_and_weights_can_be_off() -> None:
    rng = np.random.default_rng(9)
    Y = np.array([-3 + 2 * P, 5 - 0.5 * P, 100 - 7 * np.log2(P)]) + rng.normal(0, 0.01, (3, 6))
    models = fit_models(P, Y, ICS15, weights="none", nonnegative=False, positive=False, all_hypotheses=True)
    assert models.all_coefficients is not None
    assert models.all_constants is not None
    line = models.growths.index(Growth.parse("p"))
    for i, y in enumerate(Y):
        slope, constant = np.polyfit(P, y, 1)
        assert models.all_coefficients[i, line] == pytest.approx(slope, rel=1e-9)
        assert models.all_constants[i, line] == pytest.approx(constant, rel=1e-9)
    assert [str(models.growth(i)) for i in range(3)] == ["p", "p", "log(p)"]
    assert (models.coefficient[1:] < 0).all()
    np.testing.assert_allclose(models.predict(P), Y, atol=0.1)
    quick = fit_models(P, Y, ICS15, weights="none", nonnegative=False, positive=False)
    np.testing.assert_array_equal(quick.rss, models.rss)
    with pytest.raises(DataError, match=r"^series 1 has the negative coefficient -0\.\d*; a Model has none"):
        models.model(1)


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_absolute_errors_can_count(scale: float) -> None:
    Y = np.array([[1.0, 2, 3, 4, 5, 60.0], [3.0, 4, 5, 4, 5, 6]]) * scale
    models = fit_models(P, Y, [Growth.parse("p")], weights="none", all_hypotheses=True)
    assert models.all_coefficients is not None
    slope = np.polyfit(P, Y[1] / scale, 1)[0]
    assert models.all_coefficients[1, 1] == pytest.approx(slope * scale)
    through_zero = (P @ Y[0]) / (P @ P)
    assert models.all_coefficients[0, 1] == pytest.approx(through_zero)
    assert models.all_constants is not None
    assert models.all_constants[0, 1] == 0
