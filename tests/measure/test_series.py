"""The statistic over repetitions and runs, and the series made of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scalkit.errors import DataError
from scalkit.measure import combine, measurements, series
from scalkit.measure.reduce import statistic_over

P = np.array([2, 4, 8, 16, 32])
VALUES = arrays(np.float64, array_shapes(min_dims=2, max_dims=3, max_side=6), elements=st.floats(0, 1e6))


@given(VALUES, st.sampled_from(["q1", "median", "mean", "min"]), st.integers(0, 1))
def test_agrees_with_numpy_where_nothing_is_missing(values: np.ndarray, statistic: str, axis: int) -> None:
    expected = {
        "q1": np.quantile(values, 0.25, axis=axis),
        "median": np.median(values, axis=axis),
        "mean": np.mean(values, axis=axis),
        "min": np.min(values, axis=axis),
    }[statistic]
    np.testing.assert_allclose(statistic_over(values, axis, statistic), expected, rtol=1e-12, atol=1e-9)  # type: ignore[arg-type]


def test_missing_values_do_not_count() -> None:
    values = np.array([[4.0, np.nan, 2.0, np.nan], [np.nan] * 4])
    for statistic, expected in (("q1", 2.5), ("median", 3.0), ("mean", 3.0), ("min", 2.0)):
        np.testing.assert_allclose(statistic_over(values, 1, statistic), [expected, np.nan])  # type: ignore[arg-type]
    assert np.isnan(statistic_over(np.empty((2, 0)), 1)).all()


def test_unknown_statistic() -> None:
    message = "the statistic 'mode' is unknown; choose one of q1, median, mean, min, cut_mean, "
    message += "cut_mean_1, cut_mean_4, cut_mean_12, cut_mean_34."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        series(measurements(P, P), statistic="mode")  # type: ignore[arg-type]


def test_first_over_repetitions_then_over_runs() -> None:
    runs = [measurements(P, np.outer(P, [1.0, 2.0, 3.0, 4.0, 5.0]) * scale) for scale in (1.0, 2.0, 3.0)]
    (one,) = series(combine(runs))
    np.testing.assert_allclose(one.values, np.outer(P, [2.0, 4.0, 6.0]))
    np.testing.assert_allclose(one.y, 3.0 * P)
    assert one.n_repetitions.tolist() == [15] * 5
    assert one.noise == pytest.approx(np.std([2, 4, 6], ddof=1) / 4)
    assert (one.function, one.metric, one.parameter, one.unit, one.exact) == ("f", "time", "p", "s", False)
    (least,) = series(combine(runs), statistic="min")
    np.testing.assert_allclose(least.y, P)


def test_points_without_a_value_are_left_out() -> None:
    a = measurements(P, [1, np.nan, 3, 4, 5], name="a")
    b = measurements([64], [1], name="b")
    one, other = series(combine([a, b]))
    assert one.x.tolist() == [2, 8, 16, 32]
    assert other.x.tolist() == [64]
    assert np.isnan(other.noise)


def test_functions_and_metrics_without_any_value_have_no_series() -> None:
    sets = [measurements(P, P, name="a"), measurements(P, P, metric="object_memory", name="b")]
    found = [(one.function, one.metric, one.exact) for one in series(combine(sets))]
    assert found == [("a", "time", False), ("b", "object_memory", True)]


def test_nothing_but_nan_is_an_error() -> None:
    message = "there is no value to judge: 'time' is NaN everywhere, which stands for what was not measured; measure again."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        series(measurements(P, np.nan * P))


def test_identical_runs_have_no_noise() -> None:
    sets = [measurements(P, 0 * P, metric="object_memory")] * 2
    assert series(combine(sets))[0].noise == 0
