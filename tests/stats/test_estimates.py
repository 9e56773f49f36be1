"""Shifts, fences, adjusted p-values: golden values, independent computations, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.stats.rank_tests import adjusted_p, rank_sum, signed_rank
from scalkit.stats.shift import fenced_medians, hodges_lehmann, hodges_lehmann_ratio

X = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
Y = [1.15, 0.88, 0.90, 0.74, 1.21]


def test_shift_of_two_samples_by_the_definition() -> None:
    shift = hodges_lehmann(X, Y)
    all_shifts = np.sort(np.subtract.outer(X, Y).ravel())
    assert shift.estimate[0] == pytest.approx(np.median(all_shifts))
    # R: qwilcox(0.025, 10, 5) is 9, so the bounds are the ninth shift from either end
    assert (shift.low[0], shift.high[0]) == pytest.approx((all_shifts[8], all_shifts[-9]))


def test_interval_holds_the_shifts_that_the_test_does_not_refuse() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(1, 1, (5, 9)), rng.normal(0, 1, (5, 7))
    pairs = rng.normal(0.5, 1, (5, 12))
    for confidence in (0.8, 0.95):
        two, one = hodges_lehmann(x, y, confidence), hodges_lehmann(pairs, 0 * pairs, confidence, paired=True)
        for inside, sign in ((True, 1), (False, -1)):
            for bound, side in ((two.low, 1), (two.high, -1)):
                p = rank_sum(x - (bound + side * sign * 1e-9)[:, None], y, "two-sided")
                assert ((p > 1 - confidence) == inside).all()
            for bound, side in ((one.low, 1), (one.high, -1)):
                p = signed_rank(pairs - (bound + side * sign * 1e-9)[:, None], 0 * pairs, "two-sided")
                assert ((p > 1 - confidence) == inside).all()


def test_coverage() -> None:
    rng = np.random.default_rng(4)
    for n in (4, 10, 30):
        shift = hodges_lehmann_ratio(1.07 * rng.lognormal(0, 0.1, (2000, n)), rng.lognormal(0, 0.1, (2000, n)))
        assert 0.94 <= np.mean((shift.low <= 1.07) & (shift.high >= 1.07)) <= 0.985


def test_too_few_values_leave_the_interval_open() -> None:
    shift = hodges_lehmann([1.0, 2, 3], [4.0, 5, 6])
    assert (shift.estimate[0], shift.low[0], shift.high[0]) == (-3, -np.inf, np.inf)
    ratio = hodges_lehmann_ratio([1.0, 2, 3], [4.0, 5, 6])
    assert (ratio.low[0], ratio.high[0]) == (0, np.inf)
    assert np.isnan(hodges_lehmann([np.nan], [1.0]).estimate[0])


def test_swapped_sides_invert_the_ratio() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.lognormal(size=(9, 11)), rng.lognormal(size=(9, 11))
    a[3, 4] = np.nan
    for paired in (False, True):
        one, other = (hodges_lehmann_ratio(*sides, paired=paired) for sides in ((a, b), (b, a)))
        np.testing.assert_allclose(one.estimate, 1 / other.estimate)
        np.testing.assert_allclose(one.low, 1 / other.high)
        np.testing.assert_allclose(one.high, 1 / other.low)


def test_large_samples_use_the_normal_approximation_and_agree_with_the_exact_bounds(monkeypatch) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(3, 45)), rng.normal(size=(3, 40))
    exact = [hodges_lehmann(x, y), hodges_lehmann(x[:, :40], y, paired=True)]
    monkeypatch.setattr("scalkit.stats.shift._EXACT_UP_TO", 5)
    rough = [hodges_lehmann(x, y), hodges_lehmann(x[:, :40], y, paired=True)]
    for one, other in zip(exact, rough, strict=True):
        np.testing.assert_allclose(one.low, other.low, atol=0.02)
        np.testing.assert_allclose(one.high, other.high, atol=0.02)


def test_fence_is_that_of_numpy_sample_by_sample() -> None:
    rng = np.random.default_rng(3)
    values = rng.lognormal(0, 1, (60, 23))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[7] = np.nan
    values[8, 1:] = np.nan
    medians = fenced_medians(values)
    for row in range(60):
        x = values[row][~np.isnan(values[row])]
        if not len(x):
            assert np.isnan(medians[row])
            continue
        q1, q3 = np.quantile(x, [0.25, 0.75])
        inside = x[(x >= q1 - 1.5 * (q3 - q1)) & (x <= q3 + 1.5 * (q3 - q1))]
        assert medians[row] == pytest.approx(np.median(inside))


def test_fence_of_equal_values_keeps_them() -> None:
    assert fenced_medians([[0.1] * 7 + [0.3], [0.1] * 8]).tolist() == [0.1, 0.1]
    assert np.isnan(fenced_medians(np.empty((2, 0)))).all()


def test_adjusted_p() -> None:
    # Benjamini and Hochberg 1995, section 3.2: four of fifteen at 5 %
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1]
    assert np.count_nonzero(adjusted_p(p) <= 0.05) == 4
    gaps = np.array([0.04, np.nan, 0.01])
    np.testing.assert_allclose(adjusted_p(gaps), [0.04, np.nan, 0.02])
    assert np.isnan(adjusted_p([np.nan])).all()


def test_a_ratio_needs_positive_values() -> None:
    with pytest.raises(DataError, match="right has the value 0; a ratio needs positive values"):
        hodges_lehmann_ratio([1.0], [0.0])
