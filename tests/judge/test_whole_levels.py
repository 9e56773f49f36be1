"""Exact times of a virtual clock: judged at powers of two, with the others beside them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.judge.expectation import sure_match
from scalkit.measure import series

COUNTS = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
MESSAGE_S = 1.6


def _times(of: Callable[[int], float], clock: str = "virtual") -> xr.Dataset:
    ds = sk.measurements(COUNTS, [of(p) for p in COUNTS], unit="us", name="mine")
    return ds.assign_attrs(clock=clock, virtual='{"network": "cluster"}')


def _binomial(p: int) -> float:
    """Return the time of a tree: whole levels, and a message more between powers of two."""
    return MESSAGE_S * int(np.log2(p)) + (0.3 if np.log2(p) % 1 else 0.0)


def test_a_tree_is_judged_at_its_whole_levels() -> None:
    verdict = sk.validate(_times(_binomial), {"mine": "log(p)"})["mine"]
    assert sure_match(verdict.probability) == "total"
    assert verdict.model.adjusted_r2 == pytest.approx(1.0)
    assert verdict.series.x.tolist() == [2, 4, 8, 16, 32, 64]
    assert verdict.series.beside is not None
    assert verdict.series.beside.x.tolist() == [3, 6, 12, 24, 48]
    assert verdict.caveats[-1] == (
        "judged at powers of two, where trees have whole levels; beside them is shown p = 3, 6, 12, 24, 48"
    )
    traces = {trace.name: trace for trace in sk.plots.fit(verdict).data}
    assert list(traces["not judged"].x) == [3, 6, 12, 24, 48]


def test_what_grows_only_between_powers_of_two_is_found() -> None:
    verdict = sk.validate(_times(lambda p: _binomial(p) if np.log2(p) % 1 == 0 else MESSAGE_S * p), {"mine": "log(p)"})["mine"]
    assert (sure_match(verdict.probability), verdict.direction) == ("none", "grows faster")
    assert verdict.series.x.tolist() == [3, 6, 12, 24, 48]
    assert "judged between powers of two; at powers of two the answer would be fine" in verdict.caveats


def test_other_times_and_few_powers_of_two_stay_whole() -> None:
    (real,) = series(_times(_binomial, "real"))
    assert real.at_whole_levels is real
    (few,) = series(_times(_binomial).sel(p=COUNTS[:8]))
    assert few.at_whole_levels is few
    (powers,) = series(_times(_binomial).sel(p=[2, 4, 8, 16, 32]))
    assert powers.at_whole_levels is powers
