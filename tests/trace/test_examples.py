"""Examples computed by hand: the waits must come out to the nanosecond."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import xarray as xr

from scalkit.cli.trace import text_of
from scalkit.reports import write_report
from scalkit.trace import Options, TraceBuilder, analyse, read_result, write_result
from scalkit.trace.results.over_processes import breakdown


def total(ds: xr.Dataset, metric: str, location: int | None = None) -> int:
    values = ds["severity"].sel(metric=metric)
    return int((values if location is None else values.sel(location=location)).sum())


def single(folder: Path, origin: tuple[int, int], *calls: tuple[int, int]) -> xr.Dataset:
    trace = TraceBuilder(2)
    get = trace.call(0, "ARMCI_Get", *origin)
    trace.transfer(0, "get", get, 1, blocking=True)
    for begin, end in calls:
        trace.call(1, "ARMCI_Put", begin, end)
    return analyse(trace.write(folder))


@pytest.mark.parametrize(
    ("calls", "wait", "bound", "unseen"),
    [
        ([(0, 5), (30, 60)], 20, 20, 0),
        ([(5, 12), (30, 60)], 0, 18, 0),
        ([(0, 5), (60, 70)], 0, 40, 1),
        ([(0, 40), (20, 25)], 0, 10, 0),
        ([(10, 20)], 0, 30, 0),
        ([(50, 60)], 40, 40, 0),
        ([(0, 10)], 0, 40, 0),
        ([], 0, 40, 1),
    ],
)
def test_one_target(tmp_path: Path, calls: list[tuple[int, int]], wait: int, bound: int, unseen: int) -> None:
    ds = single(tmp_path, (10, 50), *calls)
    assert total(ds, "wait_for_progress") == wait
    assert total(ds, "wait_for_progress_bound") == bound
    assert total(ds, "without_progress") == unseen


def several(folder: Path, *targets: list[tuple[int, int]]) -> xr.Dataset:
    trace = TraceBuilder(1 + len(targets))
    for target in range(1, len(targets) + 1):
        trace.transfer(0, "put", trace.call(0, "MPI_Put", 2 * target, 2 * target + 1, scope=1), target)
    trace.call(0, "MPI_Win_flush_all", 10, 100, scope=1)
    for target, calls in enumerate(targets, 1):
        for begin, end in calls:
            trace.call(target, "MPI_Barrier", begin, end)
    return analyse(trace.write(folder))


@pytest.mark.parametrize(
    ("targets", "wait"),
    [
        ([[(20, 30)], [(50, 60)]], 30),
        ([[(20, 60)], [(50, 70)]], 10),
        ([[(20, 30)], [(20, 60)]], 10),
        ([[(20, 30)], [(150, 160)]], 10),
        ([[(140, 150)], [(150, 160)]], 0),
        ([[(0, 15)], [(40, 50)]], 25),
    ],
)
def test_several_targets(tmp_path: Path, targets: list[list[tuple[int, int]]], wait: int) -> None:
    assert total(several(tmp_path, *targets), "wait_for_progress", 0) == wait


@pytest.mark.parametrize(("search", "expected"), [("posting", [0, 20]), ("entering", [0, 20])])
@pytest.mark.parametrize(("place", "call"), [(0, (15, 20)), (1, (60, 90))])
def test_an_operation_is_posted_before_it_is_waited_for(
    tmp_path: Path, search: str, expected: list[int], place: int, call: tuple[int, int]
) -> None:
    trace = TraceBuilder(2)
    posted = trace.call(0, "MPI_Rget", 10, 12, scope=1)
    trace.transfer(0, "get", posted, 1)
    trace.complete(0, trace.call(0, "MPI_Wait", 40, 80), posted)
    trace.call(1, "MPI_Barrier", *call)
    assert total(analyse(trace.write(tmp_path), Options(search=search)), "wait_for_progress") == expected[place]


def test_progress_between_posting_and_waiting_counts_unless_asked_otherwise(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    posted = trace.call(0, "MPI_Rget", 10, 12, scope=1)
    trace.transfer(0, "get", posted, 1)
    trace.complete(0, trace.call(0, "MPI_Wait", 40, 80), posted)
    trace.call(1, "MPI_Barrier", 15, 20)
    trace.call(1, "MPI_Barrier", 60, 90)
    trace.write(tmp_path)
    assert total(analyse(tmp_path), "wait_for_progress") == 0
    assert total(analyse(tmp_path, Options(search="entering")), "wait_for_progress") == 20
    assert total(analyse(tmp_path, Options(no_progress=("MPI_Barrier",))), "without_progress") == 1


def test_the_last_operation_to_a_target_decides(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    for begin in (10, 30):
        trace.transfer(0, "put", trace.call(0, "MPI_Put", begin, begin + 1, scope=1), 1)
    trace.call(0, "MPI_Win_flush", 40, 80, scope=1, peer=1)
    trace.call(1, "MPI_Barrier", 15, 20)
    trace.call(1, "MPI_Barrier", 55, 60)
    assert total(analyse(trace.write(tmp_path)), "wait_for_progress") == 15


def test_what_is_left_out(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    trace.transfer(0, "put", trace.call(0, "MPI_Put", 0, 1, scope=1), 0)
    trace.transfer(0, "put", trace.call(0, "MPI_Put", 2, 3, scope=1), 1)
    trace.call(0, "MPI_Win_fence", 10, 50, scope=1)
    trace.call(0, "MPI_Win_flush", 60, 90, scope=1, peer=1)
    trace.call(1, "MPI_Win_fence", 30, 50, scope=1)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "wait_for_progress_bound") == 0
    assert total(ds, "wait_at_fence", 0) == 20


def test_only_targets_with_operations_are_waited_for(tmp_path: Path) -> None:
    trace = TraceBuilder(3)
    trace.call(0, "MPI_Win_flush_all", 10, 50, scope=1)
    trace.call(1, "MPI_Barrier", 20, 30)
    trace.call(2, "MPI_Barrier", 35, 60)
    assert total(analyse(trace.write(tmp_path)), "wait_for_progress") == 0


def test_asynchronous_progress_switches_the_metric_off(tmp_path: Path) -> None:
    trace = TraceBuilder(2, asynchronous_progress=True)
    trace.call(0, "MPI_Barrier", 0, 20, scope=0)
    trace.call(1, "MPI_Barrier", 10, 20, scope=0)
    ds = analyse(trace.write(tmp_path))
    assert "wait_for_progress" not in ds["metric"]
    assert total(ds, "wait_at_barrier") == 10


def test_who_caused_it(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    trace.enter(0, "solve", 0)
    trace.transfer(0, "put", trace.call(0, "MPI_Put", 1, 2, scope=1), 1)
    trace.call(0, "MPI_Win_flush", 10, 50, scope=1, peer=1)
    trace.leave(0, "solve", 60)
    trace.enter(1, "compute", 0)
    trace.leave(1, "compute", 28)
    trace.call(1, "MPI_Barrier", 30, 60)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "wait_for_progress") == 20
    path = int(ds["severity"].sel(metric="wait_for_progress", location=0).values.argmax())
    assert str(ds["path_name"].values[path]) == "program/solve/MPI_Win_flush"
    assert [ds[name].values.tolist() for name in ("cause_location", "cause_by", "cause_severity")] == [[0], [1], [20]]
    assert str(ds["path_name"].values[int(ds["cause_path"].values[0])]) == "program/compute"
    assert str(ds["metric"].values[int(ds["cause_metric"].values[0])]) == "wait_for_progress"


def test_time_is_that_of_the_innermost(tmp_path: Path) -> None:
    trace = TraceBuilder(1)
    trace.call(0, "MPI_Init", 0, 5)
    trace.enter(0, "solve", 10)
    outer = trace.call(0, "ARMCI_Get", 20, 40)
    trace.call(0, "MPI_Win_flush", 25, 30, under=outer)
    trace.leave(0, "solve", 60)
    trace.call(0, "MPI_Finalize", 70, 100)
    ds = analyse(trace.write(tmp_path))
    time = dict(zip(ds["path_name"].values.tolist(), ds["severity"].sel(metric="time").values[:, 0].tolist(), strict=True))
    assert time == {
        "program": 15,
        "program/MPI_Finalize": 30,
        "program/MPI_Init": 5,
        "program/solve": 30,
        "program/solve/ARMCI_Get": 15,
        "program/solve/ARMCI_Get/MPI_Win_flush": 5,
    }


def test_messages(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    receive = trace.call(0, "MPI_Recv", 10, 50, scope=0)
    trace.transfer(0, "receive", receive, 1, blocking=True)
    first, second = (trace.call(0, "MPI_Irecv", t, t + 1, scope=0) for t in (60, 62))
    trace.transfer(0, "receive", first, 1, tag=3)
    trace.transfer(0, "receive", second, 1, tag=4)
    done = trace.call(0, "MPI_Waitall", 70, 100)
    trace.complete(0, done, first)
    trace.complete(0, done, second)
    for (begin, end), tag in (((35, 40), 0), ((50, 65), 4), ((90, 95), 3)):
        trace.transfer(1, "send", trace.call(1, "MPI_Send", begin, end, scope=0), 0, tag=tag, blocking=True)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "late_sender", 0) == 25 + 20
    assert total(ds, "late_receiver", 1) == 12
    assert total(ds, "late_sender", 1) == total(ds, "late_receiver", 0) == 0


def test_collectives(tmp_path: Path) -> None:
    trace = TraceBuilder(3)
    calls = [("MPI_Barrier", -1), ("MPI_Allreduce", -1), ("MPI_Bcast", 1), ("MPI_Reduce", 2)]
    for location, offset in enumerate((0, 10, 25)):
        for number, (name, root) in enumerate(calls):
            trace.call(location, name, 100 * number + offset, 100 * number + 60, scope=0, peer=root)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "wait_at_barrier") == 25 + 15
    assert total(ds, "wait_at_nxn") == 25 + 15
    assert total(ds, "late_broadcast") == 10
    assert total(ds, "early_reduce") == 0
    late_first = TraceBuilder(3)
    for location, enter in enumerate((20, 5, 30)):
        late_first.call(location, "MPI_Gather", enter, 60, scope=0, peer=1)
    ds = analyse(late_first.write(tmp_path))
    assert total(ds, "early_reduce", 1) == total(ds, "early_reduce") == 15


def test_waits_are_told_as_text_and_as_a_page(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    for location in range(2):
        trace.call(location, "MPI_Init", 0, 100)
        trace.call(location, "MPI_Barrier", 400 + 200 * location, 700, scope=0)
        trace.call(location, "MPI_Win_fence", 750 + 50 * location, 850, scope=1)
        trace.call(location, "MPI_Finalize", 900, 1000)
    folder = trace.write(tmp_path / "t")
    text = text_of(analyse(folder))
    waits = re.findall(r"^([a-z ]+\w) +([\d.]+ ns) +([\d.]+ %)$", text, re.MULTILINE)
    assert waits == [("wait at barrier", "200 ns", "10.0 %"), ("wait at fence", "50.0 ns", "2.5 %")]
    write_report("waiting", tmp_path / "w.html", runs=[folder])
    answer = json.loads((tmp_path / "w.verdict.json").read_text())["answer"]
    assert answer == (
        "On 2 processes 0.0 % of the time is waiting for progress. "
        "Other waits take 12.5 %, most of it wait at barrier. Exit status 0."
    )


def test_locks(tmp_path: Path) -> None:
    exclusive = 1 << 30
    trace = TraceBuilder(3)
    for location, (lock, unlock) in enumerate([((0, 5), (30, 36)), ((10, 40), (41, 45)), ((50, 51), (52, 60))]):
        trace.call(location, "MPI_Win_lock", *lock, scope=1, peer=2 + exclusive)
        trace.call(location, "MPI_Win_unlock", *unlock, scope=1, peer=2)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "lock_contention", 1) == total(ds, "lock_contention") == 20
    shared = TraceBuilder(2)
    for location, (lock, unlock) in enumerate([((0, 5), (30, 36)), ((10, 40), (41, 45))]):
        shared.call(location, "MPI_Win_lock", *lock, scope=1, peer=1)
        shared.call(location, "MPI_Win_unlock", *unlock, scope=1, peer=1)
    assert total(analyse(shared.write(tmp_path)), "lock_contention") == 0
    everything = TraceBuilder(2)
    everything.call(0, "MPI_Win_lock_all", 0, 5, scope=1)
    everything.call(0, "MPI_Win_unlock_all", 30, 36, scope=1)
    everything.call(1, "MPI_Win_lock", 10, 40, scope=1, peer=1 + exclusive)
    everything.call(1, "MPI_Win_unlock", 41, 45, scope=1, peer=1)
    assert total(analyse(everything.write(tmp_path)), "lock_contention", 1) == 20


@pytest.mark.parametrize(
    ("lock", "calls", "wait", "bound"),
    [
        ((10, 50), [(0, 5), (30, 60)], 20, 20),
        ((10, 50), [(5, 12), (30, 60)], 0, 18),  # it was in a call when it was asked
        ((10, 50), [(60, 70)], 0, 40),
        ((10, 11), [(30, 60)], 0, 1),  # granted later, or without the target: the lock does not wait
    ],
)
def test_a_target_must_grant(tmp_path: Path, lock: tuple[int, int], calls: list[tuple[int, int]], wait: int, bound: int) -> None:
    trace = TraceBuilder(2)
    trace.call(0, "MPI_Win_lock", *lock, scope=1, peer=1)
    for begin, end in calls:
        trace.call(1, "MPI_Barrier", begin, end)
    ds = analyse(trace.write(tmp_path))
    found = [total(ds, name) for name in ("wait_for_grant", "wait_for_grant_bound", "wait_for_progress")]
    assert found == [wait, bound, 0]


def test_grants_of_all_of_held_locks_and_of_unlocks(tmp_path: Path) -> None:
    exclusive = 1 << 30
    every = TraceBuilder(3)
    every.call(0, "MPI_Win_lock_all", 10, 100, scope=1)
    for target, begin in ((1, 20), (2, 50)):
        every.call(target, "MPI_Barrier", begin, begin + 10)
    ds = analyse(every.write(tmp_path / "all"))
    assert [total(ds, f"wait_for_grant{more}", 0) for more in ("", "_bound")] == [30, 70]
    held = TraceBuilder(3)
    for location, (lock, unlock) in enumerate([((0, 5), (30, 70)), ((10, 60), (71, 75))]):
        held.call(location, "MPI_Win_lock", *lock, scope=1, peer=2 + exclusive)
        if location == 0:  # what the unlock completes is waited for, not the unlock
            held.transfer(0, "put", held.call(0, "MPI_Put", 6, 7, scope=1, peer=2), 2)
        held.call(location, "MPI_Win_unlock", *unlock, scope=1, peer=2)
    for span in ((1, 4), (50, 55), (73, 80)):
        held.call(2, "MPI_Barrier", *span)
    ds = analyse(held.write(tmp_path / "held"))
    assert [total(ds, "lock_contention", location) for location in (0, 1)] == [0, 20]
    assert [total(ds, "wait_for_grant", location) for location in (0, 1)] == [1, 20 + 2]  # of the lock, since 30
    assert [total(ds, "wait_for_progress", location) for location in (0, 1)] == [20, 0]


def test_post_start_complete_wait(tmp_path: Path) -> None:
    trace = TraceBuilder(3)
    trace.call(0, "MPI_Win_start", 10, 60, scope=1, peer=trace.group(0, [1, 2]))
    trace.call(0, "MPI_Win_complete", 70, 95, scope=1)
    for target, (post, wait) in {1: ((20, 22), (30, 100)), 2: ((50, 52), (80, 100))}.items():
        trace.call(target, "MPI_Win_post", *post, scope=1, peer=trace.group(target, [0]))
        trace.call(target, "MPI_Win_wait", *wait, scope=1)
    ds = analyse(trace.write(tmp_path))
    assert total(ds, "late_post", 0) == total(ds, "late_post") == 40
    assert total(ds, "early_wait", 1) == total(ds, "early_wait") == 40


def test_a_fence_waits_for_the_last_put(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    puts = [trace.call(0, "ARMCI_Put", begin, begin + 2, scope=0, peer=1) for begin in (10, 20)]
    for put in puts:
        trace.transfer(0, "put", put, 1, blocking=True)
    trace.complete(0, trace.call(0, "ARMCI_AllFence", 30, 80, scope=0), puts[-1])
    for begin, end in ((0, 5), (11, 15), (60, 70)):
        trace.call(1, "ARMCI_Get", begin, end)
    ds = analyse(trace.write(tmp_path))
    waits = dict(zip(ds["path_name"].values, ds["severity"].sel(metric="wait_for_progress", location=0).values, strict=True))
    assert waits == {"program": 0, "program/ARMCI_AllFence": 30, "program/ARMCI_Get": 0, "program/ARMCI_Put": 1}
    assert total(ds, "rma_operations") == 2


def test_functions_of_a_library_of_the_user_progress(tmp_path: Path) -> None:
    for functions, wait in (((), 0), (("my_poll",), 20)):
        trace = TraceBuilder(2, functions=functions)
        trace.transfer(0, "get", trace.call(0, "MPI_Rget", 10, 50), 1, blocking=True)
        trace.call(1, "my_poll", 30, 60)
        ds = analyse(trace.write(tmp_path))
        assert total(ds, "wait_for_progress") == wait
        write_result(ds, tmp_path / "waits.nc")
        kinds = breakdown(read_result(tmp_path / "waits.nc")).kinds
        assert kinds["one-sided"].tolist() == pytest.approx([40e-9, 30e-9 if functions else 0])


def test_collective_operations_that_do_not_block(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    for location, begin, end in ((0, 10, 60), (1, 40, 90)):
        begun = [trace.call(location, "MPI_Ibarrier", begin, begin + 1, scope=0)]
        begun += [trace.call(location, "MPI_Ibcast_c", begin + 5, begin + 6, scope=0, peer=1)]
        begun += [trace.call(location, "MPI_Ibarrier", begin + 10, begin + 11, scope=0)]
        waits = trace.call(location, "MPI_Waitall", begin + 20, end)
        for one in begun:
            trace.complete(location, waits, one)
    ds = analyse(trace.write(tmp_path))
    waited = {metric: total(ds, metric, 0) for metric in ("wait_at_barrier", "late_broadcast")}
    assert waited == {"wait_at_barrier": 20, "late_broadcast": 15}  # from 30 to 50, the second barrier, and to 45
    assert {metric: total(ds, metric) for metric in waited} == waited
    assert int(ds["severity"].sel(metric="wait_at_barrier").sum("location")[ds["region"].values == "MPI_Waitall"].sum()) == 20
