"""Random traces: the analysis finds what a brute-force oracle finds, whatever order, chunk, unit or origin of time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from oracle import all_waits
from random_traces import build, random_calls

from scalkit.trace import Options, analyse
from scalkit.trace.results.summary import WAITS

COMPARED = (*WAITS, "wait_for_progress_bound", "wait_for_grant_bound", "without_progress")
READINGS: list[dict[str, Any]] = [{}, {"search": "entering"}, {"no_progress": ("MPI_Comm_rank", "MPI_Iprobe")}]


def by_location(ds: xr.Dataset) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for metric in COMPARED:
        for location, value in enumerate(ds["severity"].sel(metric=metric).sum("path").values.tolist()):
            found[metric, location] = value
    return Counter({key: value for key, value in found.items() if value})


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_equals_the_oracle(seed: int, reading: dict[str, Any], tmp_path: Path) -> None:
    calls = random_calls(seed, locations=2 + seed % 4, steps=25)
    build(calls).write(tmp_path)
    words = {name: word for name, word in reading.items() if name != "no_progress"}
    there = {one.name for made in calls for one in made}
    idle = tuple(name for name in reading.get("no_progress", ()) if name in there)
    expected = all_waits(calls, words, idle)
    assert by_location(analyse(tmp_path, Options(**words, no_progress=idle, chunk=7))) == expected


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_what_does_not_matter(seed: int, tmp_path: Path) -> None:
    calls = random_calls(seed, locations=4, steps=60)
    plain = analyse(build(calls).write(tmp_path / "plain"))
    shuffled = build(calls).write(tmp_path / "shuffled", block=5, rng=np.random.default_rng(seed))
    for chunk in (1, 3, 64, 1 << 18):
        xr.testing.assert_identical(analyse(shuffled, Options(chunk=chunk)), plain)
    xr.testing.assert_identical(analyse(build(calls, shift=10**17).write(tmp_path / "later")), plain)
    fine = analyse(build(calls, scale=1000).write(tmp_path / "fine"))
    is_time = ((plain["unit"] == "ns") & (plain["metric"] != "delay_cost")).values  # costs are rounded
    assert (fine["severity"].values[is_time] == 1000 * plain["severity"].values[is_time]).all()
    rounded = [one["severity"].sel(metric="delay_cost").values for one in (fine, plain)]
    assert (abs(rounded[0] - 1000 * rounded[1]) <= 501).all()
    is_count = (plain["unit"] != "ns").values
    assert (fine["severity"].values[is_count] == plain["severity"].values[is_count]).all()


@pytest.mark.parametrize("seed", [200, 201])
def test_what_always_holds(seed: int, tmp_path: Path) -> None:
    calls = random_calls(seed, locations=4, steps=80)
    ds = analyse(build(calls).write(tmp_path))
    severity = ds["severity"]
    assert int(severity.min()) == 0
    for metric in WAITS:
        blamed = ds["cause_severity"].values[ds["metric"].values[ds["cause_metric"].values] == metric]
        assert int(blamed.sum()) == int(severity.sel(metric=metric).sum()), metric
    spans = [max(c.leave for c in made) - min(c.enter for c in made) for made in calls]
    assert severity.sel(metric="time").sum("path").values.tolist() == spans
    assert int(severity.sel(metric="visits").sum()) == sum(map(len, calls))


def test_removing_a_call_of_the_target_moves_the_wait_to_the_next(tmp_path: Path) -> None:
    found = []
    for skipped in (None, 30):
        from scalkit.trace import TraceBuilder

        trace = TraceBuilder(2)
        trace.transfer(0, "get", trace.call(0, "ARMCI_Get", 10, 90), 1, blocking=True)
        for begin in (30, 70):
            if begin != skipped:
                trace.call(1, "ARMCI_Put", begin, begin + 5)
        found.append(int(analyse(trace.write(tmp_path))["severity"].sel(metric="wait_for_progress").sum()))
    assert found == [20, 60]
