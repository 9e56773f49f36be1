"""The rank tests against R's documentation, against scipy, against all arrangements, and in the corners."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from scalkit.errors import DataError, UsageError
from scalkit.stats.rank_tests import least_rank_sum_p, least_signed_rank_p, rank_sum, runs_needed, signed_rank

# help(wilcox.test) of R: permeability constants, depression scores, ozone in May and in August
PERMEABILITY = ([0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21])
DEPRESSION = ([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30], [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
MAY = [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37]
AUGUST = [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85]


def test_rank_sum_of_the_documentation_of_r() -> None:
    assert round(rank_sum(*PERMEABILITY)[0], 4) == 0.1272
    ozone = rank_sum(MAY, AUGUST, "two-sided")  # 52 values with ties: the approximation
    assert f"{ozone[0]:.4g}" == "0.0001208"


def test_signed_rank_of_the_documentation_of_r() -> None:
    assert round(signed_rank(*DEPRESSION)[0], 5) == 0.01953


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 7), (10, 10), (30, 30), (49, 12)])
def test_exact_rank_sum_is_that_of_scipy(n: int, m: int, alternative: str) -> None:
    rng = np.random.default_rng(n * 100 + m)
    a, b = rng.normal(0.3, 1, (40, n)), rng.normal(0, 1, (40, m))
    found = rank_sum(a, b, alternative)
    wanted = stats.mannwhitneyu(a, b, alternative=alternative, method="exact", axis=1)
    np.testing.assert_allclose(found, wanted.pvalue, rtol=1e-9)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_tied_rank_sum_counts_all_arrangements(alternative: str) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 5, (12, 4)).astype(float), rng.integers(0, 4, (12, 5)).astype(float)
    found = rank_sum(a, b, alternative)
    for row in range(12):
        pooled = stats.rankdata(np.concatenate((a[row], b[row])))
        sums = np.array([sum(choice) for choice in combinations(pooled, 4)])
        here = pooled[:4].sum()
        above, below = np.mean(sums >= here - 1e-9), np.mean(sums <= here + 1e-9)
        wanted = {"greater": above, "two-sided": min(1, 2 * min(above, below))}[alternative]
        assert found[row] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_many_tied_values_use_the_corrected_approximation(alternative: str) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 30, (20, 30)), rng.integers(0, 28, (20, 25))
    found = rank_sum(a, b, alternative)
    wanted = stats.mannwhitneyu(a, b, alternative=alternative, method="asymptotic", use_continuity=True, axis=1)
    np.testing.assert_allclose(found, wanted.pvalue, rtol=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_tied_signed_rank_counts_all_signs(alternative: str) -> None:
    rng = np.random.default_rng(8)
    d = rng.integers(-3, 5, (12, 7)).astype(float)
    found = signed_rank(d, 0 * d, alternative)
    for row in range(12):
        kept = d[row][d[row] != 0]
        ranks = stats.rankdata(abs(kept))
        sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=len(kept))])
        here = ranks[kept > 0].sum()
        above, below = np.mean(sums >= here - 1e-9), np.mean(sums <= here + 1e-9)
        wanted = {"greater": above, "two-sided": min(1, 2 * min(above, below))}[alternative]
        assert found[row] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_signed_rank_is_that_of_scipy(alternative: str) -> None:
    rng = np.random.default_rng(9)
    a, b = rng.normal(0.2, 1, (20, 17)), rng.normal(0, 1, (20, 17))
    wanted = stats.wilcoxon(a, b, alternative=alternative, method="exact", axis=1).pvalue
    np.testing.assert_allclose(signed_rank(a, b, alternative), wanted, rtol=1e-9)
    d = np.round(rng.normal(0.2, 1, (5, 80)), 1)
    for row in d:
        wanted = stats.wilcoxon(row, alternative=alternative, method="approx", correction=True).pvalue
        assert signed_rank(row, 0 * row, alternative)[0] == pytest.approx(wanted, rel=1e-9)


def test_missing_values_are_left_out() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(6, 9)), rng.normal(size=(6, 8))
    a[0, 3] = a[2, 5] = a[2, 6] = b[2, 0] = b[4, 7] = np.nan
    found = rank_sum(a, b)
    for row in range(6):
        x, y = a[row][~np.isnan(a[row])], b[row][~np.isnan(b[row])]
        assert found[row] == pytest.approx(stats.mannwhitneyu(x, y, alternative="greater", method="exact").pvalue, rel=1e-12)
    pairs = signed_rank(a[:, :8], b)
    keep = ~np.isnan(a[2, :8] - b[2])
    assert pairs[2] == signed_rank(a[2, :8][keep], b[2][keep])[0]


def test_corners() -> None:
    assert rank_sum([2.0], [1.0])[0] == 0.5
    assert rank_sum([1.0], [2.0])[0] == 1
    assert rank_sum([9.0], [1.0, 2, 3, 4, 5])[0] == pytest.approx(1 / 6)
    for n in (6, 60):
        for alternative in ("greater", "two-sided"):
            assert rank_sum([3.0] * n, [3.0] * 7, alternative)[0] == 1
    assert np.isnan(rank_sum([], [1.0, 2.0])[0])
    assert np.isnan(rank_sum([np.nan], [1.0])[0])
    assert signed_rank([1.0, 1.0], [1.0, 1.0])[0] == 1
    assert np.isnan(signed_rank([np.nan], [1.0])[0])


def test_level_is_kept_without_a_difference() -> None:
    rng = np.random.default_rng(11)
    p = rank_sum(rng.lognormal(size=(20_000, 9)), rng.lognormal(size=(20_000, 8)))
    for level in (0.2, 0.05, 0.01, 0.001):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level / 20_000)


def test_smallest_p_and_how_many_runs_reach_it() -> None:
    assert [round(least_rank_sum_p(n, n), 5) for n in (5, 6, 7)] == [0.00397, 0.00108, 0.00029]
    assert rank_sum(np.arange(7) + 10, np.arange(7))[0] == pytest.approx(least_rank_sum_p(7, 7))
    assert signed_rank(np.arange(1, 11), np.zeros(10))[0] == pytest.approx(least_signed_rank_p(10))
    assert runs_needed(0.001, lambda n: least_rank_sum_p(n, n)) == 7
    assert runs_needed(0.001, least_signed_rank_p) == 10
    with pytest.raises(UsageError, match=r"no number of runs up to 10000 reaches p = 0\.0; choose a larger one"):
        runs_needed(0.0, lambda n: 1 / n)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: rank_sum([1.0], [np.inf]), DataError, r"right is infinite at \(0, 0\); leave it out, or write NaN"),
        (lambda: rank_sum(["a"], [1.0]), DataError, "left must be numbers in rows of one length"),
        (lambda: rank_sum([[1.0]] * 2, [[1.0]] * 3), DataError, "left has 2 samples, right 3; give as many on both"),
        (lambda: rank_sum(np.ones((1, 1, 1)), [1.0]), DataError, "left has 3 axes; give one sample, or rows"),
        (lambda: signed_rank([1.0, 2], [1.0]), DataError, "left has 2 values a sample, right 1; pairs need as many"),
    ],
)
def test_refused(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()
