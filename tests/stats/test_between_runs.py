"""One comparison over runs for compare and advise: it is exact, and says so where runs are few."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.stats.between_runs import run_ratios
from scalkit.stats.rank_tests import rank_sum, signed_rank
from scalkit.stats.shift import hodges_lehmann_ratio

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("n", [5, 6, 8, 12])
@pytest.mark.parametrize("together", [False, True])
def test_equal_pairs_are_different_in_one_of_a_hundred(n: int, together: bool) -> None:
    rng = np.random.default_rng(n)
    left, right = (rng.lognormal(0, 0.05, (4000, n)) for _ in range(2))
    if not together:  # runs of their own, so that only rank sums are possible
        gaps = np.full((4000, n), np.nan)
        left, right = np.concatenate([left, gaps], axis=1), np.concatenate([gaps, right], axis=1)
    found = run_ratios(left, right)
    assert found.is_paired.all() == (together and n >= 8)
    assert (found.probability > 0.99).mean() <= 0.015
    assert found.probability.max() < 1
    assert found.probability.min() == 0.5
    inside = (found.low <= 1) & (found.high >= 1)
    np.testing.assert_array_equal(inside, found.p > 0.01)


def test_runs_that_both_sides_share_are_pairs() -> None:
    rng = np.random.default_rng(1)
    of_run = rng.lognormal(0, 0.3, 10)
    left, right = (of_run * factor * rng.lognormal(0, 0.01, 10) for factor in (1.1, 1.0))
    together = run_ratios(left, right)
    assert together.p[0] == signed_rank(np.log(left), np.log(right), "two-sided")[0] < 0.01
    assert 1 < together.low[0] < 1.1 < together.high[0]
    apart = run_ratios([*left, *[np.nan] * 10], [*[np.nan] * 10, *right])
    assert apart.p[0] == rank_sum(left, right, "two-sided")[0] > 0.05
    assert apart.ratio[0] == hodges_lehmann_ratio(left, right, 0.99).estimate[0]


def test_few_runs_have_no_probability_and_no_interval() -> None:
    found = run_ratios([[1.0, 1.1, 1.2, 1.3]], [[2.0, 2.1, 2.2, 2.3]])
    assert np.isnan(found.probability[0])
    assert (found.low[0], found.high[0]) == (0, np.inf)
    assert np.isfinite(run_ratios([[1.0, 1.1, 1.2, 1.3]], [[2.0, 2.1, 2.2, 2.3]], 0.95).p[0])
    nothing = run_ratios([[np.nan, np.nan]], [[1.0, 2.0]])
    assert np.isnan([nothing.ratio[0], nothing.p[0]]).all()


def test_what_never_differs_is_the_same() -> None:
    found = run_ratios([[3.0] * 9], [[3.0] * 9])
    assert (found.ratio[0], found.low[0], found.high[0], found.probability[0]) == (1, 1, 1, 0.5)


def test_the_benchmark_of_equal_pairs() -> None:
    spec = importlib.util.spec_from_file_location("between_runs", ROOT / "benchmarks" / "between_runs.py")
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    for noise in benchmark.NOISES:
        found = benchmark.row(noise, 12, 1000, 1)
        assert found["equal"]["P > 0.99"] <= 0.02
        assert found["equal"]["bootstrap P > 0.99"] > 0.03
        assert found["10 % apart"]["P > 0.99"] > 0.2


def test_what_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="left has the value 0; a ratio needs positive values"):
        run_ratios([0.0, 1.0], [1.0, 2.0])
    with pytest.raises(UsageError, match=r"the confidence is 1; a number from 0\.5 to below 1 is needed"):
        run_ratios([1.0], [1.0], 1)
