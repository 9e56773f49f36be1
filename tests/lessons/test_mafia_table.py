"""Table 4 next to our own measurements."""

from __future__ import annotations

import tomllib
from math import comb
from pathlib import Path

import pytest
import xarray as xr

import scalkit as sk
from lessons.mafia import mafia_comparisons, mafia_costs, mafia_table

DATA = Path(__file__).parents[2] / "data/mafia"
FUNCTIONS = ["gen", "dedup", "pcount", "unjoin"]
WORDS = 1600
"""Of a bit map of 100000 points, in blocks of 64 words of 64 bits."""


@pytest.fixture(scope="module")
def bundled() -> xr.Dataset:
    return sk.read(DATA / "m3")


def test_bundled_data_are_the_setting_of_the_paper(bundled: xr.Dataset) -> None:
    assert bundled["k"].values.tolist() == list(range(3, 17))
    assert bundled.sizes["run"] == 5
    assert bundled["verified"].all()
    assert not bundled["incomplete"].any()
    counts = bundled["operations"]
    assert (counts == counts.isel(run=0)).all()
    for m in (1, 2, 3):
        campaign = tomllib.loads((DATA / f"m{m}/campaign.toml").read_text(encoding="utf-8"))
        arguments = campaign["arguments"]
        assert {name: arguments[name] for name in ("n", "d", "clusters")} == {"n": 100_000, "d": 20, "clusters": m}
        assert campaign["remarks"] == []


def test_bundled_counts_of_one_cluster_are_the_closed_form() -> None:
    counts = sk.read(DATA / "m1")["operations"].isel(run=0)
    for k in range(3, 17):
        expected = sum(comb(k, s) * s * WORDS for s in range(2, k + 1))
        assert int(counts.sel(function="pcount", k=k)) == expected


def test_table_by_operations_is_the_expectation(bundled: xr.Dataset) -> None:
    table = mafia_table(bundled)
    assert table.index.tolist() == FUNCTIONS
    assert table["paper", "expectation"].tolist() == ["k^3*2^k", "k^4*2^k", "k*2^k", "k^3*2^k"]
    assert table["paper", "model"].tolist() == ["k^4*2^k", "k^4*2^k", "k*2^k", "k^2*2^k"]
    assert table["paper", "divergence"].tolist() == ["k", "1", "1", "1/k"]
    assert table["paper", "match"].tolist() == ["approximate", "total", "total", "approximate"]
    assert table["operations", "answer"].tolist() == ["fine"] * 4
    assert table["operations", "probable"].tolist() == table["paper", "expectation"].tolist()


def test_table_by_time_is_inside_the_limits(bundled: xr.Dataset) -> None:
    table = mafia_table(bundled)
    assert set(table["time", "match"]) <= {"total", "approximate"}
    assert set(table["time", "answer"]) <= {"fine"}


def test_costs_are_times_over_counts(bundled: xr.Dataset) -> None:
    costs = mafia_costs(bundled)
    assert costs.columns.tolist() == FUNCTIONS
    assert costs.index.tolist() == list(range(3, 17))
    times = {(s.function, s.metric): s for s in sk.measure.series(bundled)}
    expected = 1e9 * times["gen", "time"].y[-1] / times["gen", "operations"].y[-1]
    assert costs.loc[16, "gen"] == pytest.approx(expected)


def test_a_comparison_costs_the_same_while_it_compares_more(bundled: xr.Dataset) -> None:
    """Says why the time of dedup grows slower than its operations."""
    table = mafia_comparisons(bundled)
    operations, ns = table["dedup", "operations"], table["dedup", "ns"]
    assert operations[16] > 1.5 * operations[9]
    assert ns[16] < 1.25 * ns[9]
    # k = 3: three clusters have 9 units of 2 windows, made once, and 3 of 3 windows, made three times
    expected = 9 * 3.321928 + 9 * 2.0
    assert operations[3] == pytest.approx(float(bundled["operations"].sel(function="dedup", k=3, run=0)) / expected)
