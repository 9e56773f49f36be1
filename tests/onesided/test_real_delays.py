"""Real runs: with messages over TCP every injected delay is found, with shared memory there is none to find."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from srumma_truth import compare, each_request

from scalkit.bench import Mpi
from scalkit.bench.onesided import TCP, delays, multiply
from scalkit.trace import WAITS, analyse
from scalkit.trace.files.tables import ACCUMULATE, GET, PUT, RMW
from scalkit.trace.local.part import load
from scalkit.trace.waits.each_wait import each_wait

MS = 1_000_000
NAMES = {
    "get": (GET, 8),
    "put": (PUT, 8),
    "accumulate": (ACCUMULATE, 8),
    "fetch and add": (RMW, 8),
    "strided get": (GET | 1 << 8, 80_000),
    "vector get": (GET | 2 << 8, 80_000),
    "strided put": (PUT | 1 << 8, 80_000),
}


@pytest.mark.mpi
def test_every_delay_is_found_with_tcp(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "rma", trace=tmp_path, environment=TCP, head_us=15_000)
    assert len(injected) == 7
    _, each = each_request(tmp_path)
    assert each.location.tolist() == [0] * 7
    assert sum(one.injected_ns > 10 * MS for one in injected) > 3  # a loaded machine may let process 1 sleep too late
    for k, one in enumerate(injected):
        found, flush = int(each.found[k]), int(each.leave[k] - each.enter[k])
        late = int(each.enter[k]) - one.completing  # no time slice between the two clocks
        assert one.injected_ns - late - MS <= found <= flush <= one.end - one.begin, one.kind


@pytest.mark.mpi
def test_every_lock_that_must_be_granted_is_found_with_tcp(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "locks", trace=tmp_path, environment=TCP, head_us=15_000)
    trace, waits = load(tmp_path), each_wait(load(tmp_path))
    lock = np.flatnonzero(trace.is_call("MPI_Win_lock") & (trace.calls["location"] == 0))
    assert len(lock) == len(injected) == 7
    assert {WAITS[one] for one in waits.metric[lock[waits.wait[lock] > 0]]} == {"wait_for_grant"}
    assert sum(one.injected_ns > 10 * MS for one in injected) > 3
    for one, call in zip(injected, lock.tolist(), strict=True):
        found, enter, leave = int(waits.wait[call]), int(trace.calls["enter"][call]), int(trace.calls["leave"][call])
        late = enter - one.completing  # no time slice between the two clocks
        assert one.injected_ns - late - MS <= found <= leave - enter <= one.end - one.begin, one.kind
    ds = analyse(tmp_path)
    assert waits.wait[lock].sum() <= int(ds["severity"].sel(metric="wait_for_grant").sum())


@pytest.mark.mpi
def test_nobody_waits_with_shared_memory(mpi: Mpi, tmp_path: Path) -> None:
    made = delays(mpi, "rma", trace=tmp_path)
    transfers = load(tmp_path).transfers
    assert [one.kind for one in made] == [*NAMES]
    assert list(zip(transfers["kind"].tolist(), transfers["bytes"].tolist(), strict=True)) == [*NAMES.values()]
    severity = analyse(tmp_path)["severity"]
    assert int(severity.sel(metric="rma_operations").sum()) == 7
    assert int(severity.sel(metric="wait_for_progress").sum()) == 0


@pytest.mark.mpi
def test_the_layer_waits_also_really(mpi: Mpi, tmp_path: Path) -> None:
    injected = delays(mpi, "layer", trace=tmp_path, sleep_us=60_000, head_us=25_000)
    found = compare(tmp_path)
    assert found.requests == len(injected) == 7
    assert (found.gap >= 0).all()
    assert sum(one.injected_ns > 5 * MS for one in injected) > 3
    for one, wait, true in zip(injected, found.found.tolist(), found.true.tolist(), strict=True):
        assert one.injected_ns - MS <= wait <= true <= one.end - one.begin, one.kind


@pytest.mark.mpi
@pytest.mark.parametrize("over", ["rma", "layer"])
@pytest.mark.parametrize("ahead", [0, 1])
def test_products_are_right(mpi: Mpi, tmp_path: Path, over: str, ahead: int) -> None:
    told = multiply(mpi, 2, over, trace=tmp_path if ahead else None, n=64, ahead=ahead, repeat=2)
    assert (told.over, told.is_simulated, told.processes, told.n, told.error) == (over, False, 2, 64, 0)
    assert len(told.times_s) == 2
    assert min(told.times_s) > 0
