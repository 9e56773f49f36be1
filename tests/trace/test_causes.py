"""Critical path, delay costs and gains: as a brute-force oracle finds them, and as examples say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from oracle_causes import Causes
from random_traces import build, random_calls, random_regions

from scalkit.cli import main
from scalkit.trace import Options, TraceBuilder, analyse, read_result, write_result
from scalkit.trace.causes.innermost import Innermost
from scalkit.trace.results.summary import summary


def differences(seed: int, folder: Path) -> list[str]:
    """Return where the analysis of a random trace differs from the oracle."""
    calls = random_calls(seed, locations=2 + seed % 4, steps=6 + seed % 15)
    regions = random_regions(seed, calls)
    ds = analyse(build(calls, regions=regions).write(folder), Options(chunk=5))
    expected = Causes(calls, regions)
    names = [tuple(str(name).split("/")[1:]) for name in ds["path_name"].values]
    found = []
    path, costs = expected.critical_path(), expected.delay_costs()
    severity = ds["severity"]
    for k, name in enumerate(names):
        for at in range(len(calls)):
            if (got := int(severity.sel(metric="critical_path")[k, at])) != path[name, at]:
                found.append(f"critical path {name} {at}: {got}, not {path[name, at]}")
            got = int(severity.sel(metric="delay_cost")[k, at])
            if abs(got - costs.get((name, at), 0)) > 0.5 + 1e-6:
                found.append(f"cost {name} {at}: {got}, not {float(costs.get((name, at), 0))}")
    for k, at, gain in zip(*(ds[one].values.tolist() for one in ("gain_path", "gain_location", "gain_ns")), strict=True):
        if gain != int(expected.gain(names[k], at)):
            found.append(f"gain {names[k]} {at}: {gain}, not {expected.gain(names[k], at)}")
    assert sum(path.values()) == max(expected.ends) - expected.begin
    return found


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_oracle(seed: int, tmp_path: Path) -> None:
    assert differences(seed, tmp_path) == []


def worked_example(folder: Path) -> Path:
    """Write the trace of docs/trace.md: init of location 1 delays location 0, and through it location 2."""
    trace = TraceBuilder(3, simulated=True)
    for location, name, begin, end in ((0, "solve", 0, 30), (1, "init", 0, 20), (1, "solve", 20, 50), (2, "solve", 0, 40)):
        trace.enter(location, name, 1000 * begin)
        trace.leave(location, name, 1000 * end)
    for end, begin in ((51_000, 30_000), (82_000, 40_000)):
        source, target = (1, 0) if end == 51_000 else (0, 2)
        trace.transfer(target, "receive", trace.call(target, "MPI_Recv", begin, end, scope=0), source, blocking=True)
    trace.transfer(1, "send", trace.call(1, "MPI_Send", 50_000, 51_000, scope=0), 0, blocking=True)
    trace.enter(0, "solve", 51_000)
    trace.leave(0, "solve", 80_000)
    trace.transfer(0, "send", trace.call(0, "MPI_Send", 80_000, 81_000, scope=0), 2, blocking=True)
    return trace.write(folder)


def test_an_example_computed_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ds = analyse(worked_example(tmp_path))
    found = {
        (metric, str(ds["region"].values[path]), at): int(ds["severity"].sel(metric=metric).values[path, at])
        for metric in ("critical_path", "delay_cost")
        for path, at in np.argwhere(ds["severity"].sel(metric=metric).values).tolist()
    }
    assert found == {
        ("critical_path", "MPI_Recv", 2): 2000,
        ("critical_path", "solve", 0): 29_000,
        ("critical_path", "MPI_Recv", 0): 1000,
        ("critical_path", "solve", 1): 30_000,
        ("critical_path", "init", 1): 20_000,
        ("delay_cost", "init", 1): 40_000,
        ("delay_cost", "solve", 0): 19_000,
        ("delay_cost", "MPI_Recv", 0): 1000,
    }
    regions = [str(ds["region"].values[path]) for path in ds["gain_path"].values]
    gains = [(name, int(at), int(ns)) for name, at, ns in zip(regions, ds["gain_location"], ds["gain_ns"], strict=True)]
    assert gains == [("init", 1, 2000), ("solve", 0, 2900), ("MPI_Recv", 0, 100)]
    write_result(ds, tmp_path / "waits.nc")
    xr.testing.assert_identical(read_result(tmp_path / "waits.nc"), ds)
    assert main(["trace", "analyse", str(tmp_path / "waits.nc")]) == 0
    assert """\
reasons of waiting  location  cost     10 % faster, the run is shorter by at most
program/init        1         40.0 us  2.00 us, 2.4 %
program/solve       0         19.0 us  2.90 us, 3.5 %
program/MPI_Recv    0         1.00 us  100 ns, 0.1 %

The critical path, the run, is 82.0 us long, 30.0 us of it program/solve of location 1.
""" in capsys.readouterr().out  # fmt: skip


def test_others_that_come_late_too_limit_the_gain(tmp_path: Path) -> None:
    trace = TraceBuilder(3)
    for location, begin in enumerate((100, 990, 1000)):
        trace.enter(location, "work", 0)
        trace.leave(location, "work", begin)
        trace.call(location, "MPI_Barrier", begin, 1005, scope=0)
    ds = analyse(trace.write(tmp_path))
    assert ds["gain_location"].values[0] == 2
    assert ds["gain_ns"].values[0] == 10  # not 100: location 1 comes at 990


def test_processes_that_do_not_wait_have_no_causes(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    trace.call(0, "MPI_Comm_rank", 0, 5)
    trace.call(1, "MPI_Comm_rank", 2, 9)
    trace.write(tmp_path)
    ds = analyse(tmp_path)
    assert int(ds["severity"].sel(metric="critical_path").sum()) == 9
    assert int(ds["severity"].sel(metric="delay_cost").sum()) == len(ds["gain_ns"]) == 0
    without = analyse(tmp_path, causes=False)
    assert not {"critical_path", "delay_cost"} & set(without["metric"].values.tolist())
    assert "critical_path" not in summary(without)


def test_regions_of_many_stretches_are_summed_as_those_of_few() -> None:
    rng = np.random.default_rng(3)
    start = np.cumsum(rng.integers(1, 9, 400))
    there = Innermost(start, rng.integers(0, 3, 400), rng.random(400) < 0.3)
    low = rng.integers(0, 1000, 50) + start[0]
    high = low + rng.integers(0, 900, 50)
    for waiting in (True, False):
        number, path, time = there.profile(low, high, waiting=waiting)
        each = {(k, p): t for k, p, t in zip(number.tolist(), path.tolist(), time.tolist(), strict=True)}
        for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            at = np.searchsorted(start, np.arange(a, b), side="right") - 1
            for p in range(3):
                expected = int(((there.path[at] == p) & (waiting | ~there.waits[at])).sum())
                assert each.get((k, p), 0) == expected
