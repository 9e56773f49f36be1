"""Real runs: with messages over TCP every injected delay is found, however long it became.

Delays of known length are in test_truth.py, which simulates them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from srumma_truth import EachRequest, compare, each_request

from onesided import TCP, Delay, delays, multiply
from scalkit.bench import Mpi
from scalkit.trace import analyse
from scalkit.trace.files.tables import ACCUMULATE, GET, PUT, RMW
from scalkit.trace.local.part import load
from scalkit.trace.results.summary import WAITS
from scalkit.trace.waits.each_wait import each_wait

NAMES = {
    "get": (GET, 8),
    "put": (PUT, 8),
    "accumulate": (ACCUMULATE, 8),
    "fetch and add": (RMW, 8),
    "strided get": (GET | 1 << 8, 80_000),
    "vector get": (GET | 2 << 8, 80_000),
    "strided put": (PUT | 1 << 8, 80_000),
}


def least(one: Delay, enter: int) -> int:
    """Return for how many ns the call that completes a transfer waited until process 1 awoke.

    It is 0 where process 1 fell asleep too late, as it does when the machine is busy. Between the
    time that the program notes and `enter`, the begin of the call, others may have had the core.
    """
    return max(0, one.injected_ns - (enter - one.completing))


def require_requests(injected: list[Delay], each: EachRequest) -> None:
    """Fail unless each transfer of process 0 waited at least until process 1 awoke."""
    assert [one.kind for one in injected] == [*NAMES]
    assert each.location.tolist() == [0] * 7
    columns = (values.tolist() for values in (each.enter, each.leave, each.found))
    for one, enter, leave, found in zip(injected, *columns, strict=True):
        assert one.begin <= one.completing <= enter, one.kind
        assert least(one, enter) <= found <= leave - enter <= one.end - one.begin, one.kind


@pytest.mark.mpi
def test_every_delay_is_found_with_tcp(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "rma", trace=tmp_path, environment=TCP, head_us=15_000)
    _, each = each_request(tmp_path)
    require_requests(injected, each)
    severity = analyse(tmp_path)["severity"]
    assert int(severity.sel(metric="wait_for_progress").sum()) == each.found.sum()
    assert int(severity.sel(metric="without_progress").sum()) == 0  # each needed process 1


@pytest.mark.mpi
def test_every_lock_that_must_be_granted_is_found_with_tcp(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "locks", trace=tmp_path, environment=TCP, head_us=15_000)
    trace, waits = load(tmp_path), each_wait(load(tmp_path))
    lock = np.flatnonzero(trace.is_call("MPI_Win_lock") & (trace.calls["location"] == 0))
    assert len(lock) == len(injected) == 7
    assert {WAITS[one] for one in waits.metric[lock[waits.wait[lock] > 0]]} <= {"wait_for_grant"}
    for one, call in zip(injected, lock.tolist(), strict=True):
        found, enter, leave = int(waits.wait[call]), int(trace.calls["enter"][call]), int(trace.calls["leave"][call])
        assert least(one, enter) <= found <= leave - enter <= one.end - one.begin, one.kind
    ds = analyse(tmp_path)
    assert waits.wait[lock].sum() <= int(ds["severity"].sel(metric="wait_for_grant").sum())


@pytest.mark.mpi
def test_every_kind_of_transfer_is_recorded_with_shared_memory(mpi: Mpi, tmp_path: Path) -> None:
    made = delays(mpi, "rma", trace=tmp_path, sleep_us=0, head_us=0)
    trace, each = each_request(tmp_path)
    transfers = trace.transfers
    assert [one.kind for one in made] == [*NAMES]
    assert list(zip(transfers["kind"].tolist(), transfers["bytes"].tolist(), strict=True)) == [*NAMES.values()]
    severity = analyse(tmp_path)["severity"]
    assert int(severity.sel(metric="rma_operations").sum()) == 7
    assert int(severity.sel(metric="wait_for_progress").sum()) == each.found.sum()
    assert ((each.found >= 0) & (each.found <= each.leave - each.enter)).all()


@pytest.mark.mpi
def test_the_layer_waits_also_really(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "layer", trace=tmp_path, sleep_us=60_000, head_us=25_000)
    _, each = each_request(tmp_path)
    require_requests(injected, each)
    found = compare(tmp_path)
    assert found.requests == 7
    assert found.found.tolist() == each.found.tolist()
    assert (found.gap >= 0).all()
    assert (found.true <= each.leave - each.enter).all()


@pytest.mark.mpi
@pytest.mark.parametrize("over", ["rma", "layer"])
@pytest.mark.parametrize("ahead", [0, 1])
def test_products_are_right(mpi: Mpi, tmp_path: Path, over: str, ahead: int) -> None:
    told = multiply(mpi, 2, over, trace=tmp_path if ahead else None, n=64, ahead=ahead, repeat=2)
    assert (told.over, told.is_simulated, told.processes, told.n, told.error) == (over, False, 2, 64, 0)
    assert len(told.times_s) == 2
    assert min(told.times_s) > 0
