"""Means that leave out quarters: one definition, whatever asks for it."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.measure import series
from scalkit.measure.quarter_means import CUT_MEANS, Cut, cut_mean
from scalkit.measure.reduce import statistic_over
from scalkit.stats.pure_error import pure_error
from scalkit.store.runs.summaries import summaries
from scalkit.support.options import Statistic

VALUES = st.lists(st.integers(1, 10**6), min_size=1, max_size=40)


def _plainly(values: list[int], cut: Cut) -> float:
    low, high = np.quantile(values, [cut.lowest / 4, 1 - cut.highest / 4])
    inside = [v for v in values if low <= v <= high]
    return float(np.mean(inside) if inside else np.median(values))


@given(VALUES, st.sampled_from(sorted(CUT_MEANS)), st.integers(0, 3))
def test_cut_means_are_means_between_quartiles(values: list[int], name: str, missing: int) -> None:
    table = np.array([[*values, *[np.nan] * missing]])
    found = statistic_over(table, 1, name)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, _plainly(values, CUT_MEANS[name]), rtol=1e-12)
    np.testing.assert_array_equal(statistic_over(table.T, 0, name), found)  # type: ignore[arg-type]


@given(VALUES)
def test_the_store_cuts_alike(values: list[int]) -> None:
    stored = summaries([np.array(values, dtype=np.int64)], ["med"])["cut_mean"]
    np.testing.assert_allclose(stored, statistic_over(np.array([values], dtype=float), 1, "cut_mean"), rtol=1e-12)


def test_nothing_has_no_mean() -> None:
    assert np.isnan(statistic_over(np.full((2, 3), np.nan), 1, "cut_mean")).all()
    assert np.isnan(statistic_over(np.empty((2, 0)), 1, "cut_mean_4")).all()
    assert np.isnan(cut_mean(np.empty((2, 0)), np.zeros(2, dtype=int), Cut())).all()


def test_quartiles_by_number() -> None:
    assert {Cut.of(cut.quartiles) for cut in CUT_MEANS.values()} == set(CUT_MEANS.values())
    assert (Cut.of((4, 1)), Cut.of(())) == (Cut(1, 1), Cut())
    message = r"^quartiles to cut: 2,3 is not possible; choose 1,4 or 4 or 1 or 3,4 or 1,2, or none\.$"
    with pytest.raises(UsageError, match=message):
        Cut.of((2, 3))


def test_a_verdict_by_a_cut_mean() -> None:
    p = np.array([2, 4, 8, 16, 32, 64])
    rng = np.random.default_rng(3)
    times = (5 + 3 * np.log2(p))[:, None] * rng.normal(1, 0.01, (6, 40))
    times[:, ::7] *= 50  # stragglers, which a mean cannot bear
    ds = sk.measurements(p, times * 1e-6, name="f")
    result = sk.validate(ds, {"f": "log(p)"}, statistic="cut_mean")
    assert (result["f"].match, result.statistic) == ("total", "cut_mean")
    by_name = {name: series(ds, name)[0].y[0] for name in get_args(Statistic)}
    assert by_name["mean"] > 5 * by_name["cut_mean"]
    assert by_name["min"] < by_name["cut_mean_34"] < by_name["cut_mean_4"] < by_name["cut_mean_1"]
    with pytest.raises(DataError, match=r"^the statistic 'cut' is unknown; choose one of q1, median, .*cut_mean_34\.$"):
        series(ds, "cut")  # type: ignore[arg-type]


def test_the_noise_of_a_cut_mean_is_that_of_many_samples() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(1, 0.05, (400, 400))
    for name in CUT_MEANS:
        spread = float(np.std(statistic_over(values, 1, name)))  # type: ignore[arg-type]
        assert pure_error(values, name).error == pytest.approx(spread, rel=0.1)
