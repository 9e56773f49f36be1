"""Waits over process counts are measurements that scalkit.validate judges."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.trace import TraceBuilder, analyse, over_processes


def staggered(folder: Path, n: int) -> xr.Dataset:
    """Each process comes 1 us after the one before it: to a barrier of all, and to one of pairs, which does not grow."""
    trace = TraceBuilder(n, simulated=True)
    for location in range(n):
        trace.call(location, "MPI_Barrier", 1000 * location, 1000 * n, scope=0)
        enter = 10_000 * n + 500 * (location % 2)
        trace.call(location, "MPI_Allreduce", enter, 10_000 * n + 900, scope=0)
    return analyse(trace.write(folder / str(n)))


def test_the_growth_of_waits_is_judged(tmp_path: Path) -> None:
    results = [staggered(tmp_path, n) for n in (2, 4, 8, 16, 32)]
    ds = over_processes([*results, results[0]])
    assert ds.attrs["title"] == "waits of a process, simulated"
    assert ds["function"].values.tolist() == ["program", "MPI_Allreduce", "MPI_Barrier"]
    found = ds["wait_at_barrier"].sel(function="MPI_Barrier").isel(run=0)
    assert found.sel(p=8).values.tolist()[0] == pytest.approx(3.5e-6)
    assert found.sel(p=2).values.tolist() == [pytest.approx(0.5e-6)] * 2
    verdict = sk.validate(ds, {"MPI_Barrier": {"wait_at_barrier": "p"}, "MPI_Allreduce": {"wait_at_nxn": "1"}})
    ranks = {one.function: one.match for one in verdict.verdicts}
    assert ranks["MPI_Allreduce"] == "total"
    assert ranks["MPI_Barrier"] in ("total", "approximate")
    wrong = sk.validate(ds, {"MPI_Barrier": {"wait_at_barrier": "1"}})
    assert wrong.verdicts[0].match == "none"
    most = over_processes(results, of="max")
    assert float(most["wait_at_barrier"].sel(function="program", p=32).max()) == pytest.approx(31e-6)


def test_a_wait_that_is_0_everywhere_is_judged(tmp_path: Path) -> None:
    ds = over_processes([staggered(tmp_path, n) for n in (2, 4, 8, 16, 32)])
    found = sk.validate(ds, {"MPI_Allreduce": {"late_sender": "log(p)"}, "program": {"wait_for_progress": "1"}})
    assert [one.answer for one in found.verdicts] == ["fine", "fine"]


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^there are no results to compare; analyse a trace of each number of processes\.$"):
        over_processes([])
    trace = TraceBuilder(2)
    trace.call(0, "MPI_Init", 0, 1)
    quiet = analyse(trace.write(tmp_path))
    with pytest.raises(UsageError, match=r"^of is 'least'; it may be mean, max, sum\.$"):
        over_processes([quiet], of="least")  # type: ignore[arg-type]
