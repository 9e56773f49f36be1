"""Every planted bug shows in what the measuring programs write, on real ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.mpi

BLOCK = 16  # malloc rounds requests up to this many bytes, and adds 8


def memory_of_dup(launch: Callable[..., object], p: int, **how: object) -> dict[str, object]:
    done = launch(p, "sk_memory", "--ops=MPI_Comm_dup", "--slope-objects=64", **how)
    assert done.status == 0, done.messages
    return done.memory("MPI_Comm_dup")


@pytest.mark.parametrize("p", [2, 5])
def test_leak_in_comm_dup_is_counted_to_the_byte(launch, p):
    clean = memory_of_dup(launch, p, preload=False)
    leaky = memory_of_dup(launch, p, fault="dup_leak")
    grown = leaky["steady_B"] - clean["steady_B"]
    assert 64 * p <= grown <= 64 * p + BLOCK + 8
    assert leaky["leaked_B"] - clean["leaked_B"] == leaky["creations"] * grown
    assert not leaky["bypassed"]


def test_preloaded_library_without_a_fault_changes_nothing(launch):
    plain, preloaded = memory_of_dup(launch, 2, preload=False), memory_of_dup(launch, 2)
    assert preloaded["steady_B"] == plain["steady_B"]
    assert preloaded["leaked_B"] == plain["leaked_B"]


def test_memory_that_passes_malloc_by_is_reported(launch):
    if "Pss_Dirty:" not in Path("/proc/self/smaps_rollup").read_text():
        pytest.skip("needs a kernel that counts written pages: others depend on other processes")
    clean = memory_of_dup(launch, 2)
    bypassing = memory_of_dup(launch, 2, fault="dup_bypass")
    assert bypassing["steady_B"] == clean["steady_B"]
    assert not clean["bypassed"]
    assert bypassing["bypassed"]
    assert bypassing["pss_slope_B"] > 60000


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 4])
@pytest.mark.parametrize("sync", ["round", "window"])
def test_linear_broadcast_pays_for_every_receiver(launch, p, sync):
    options = ("--ops=MPI_Bcast,Bcast_binary_tree", f"--sync={sync}", "--max-reps=30", "--passes=2")
    done = launch(p, "sk_time", *options, fault="bcast_linear")
    assert done.status == 0, done.messages
    cells = done.cells("MPI_Bcast")
    assert all(cell["verified"] for cell in cells)
    assert min(t for cell in cells for t in cell["t_ns"]) >= 300_000 * (p - 1)


@pytest.mark.slow
def test_slow_allreduce_takes_at_least_what_was_planted(launch):
    done = launch(4, "sk_time", "--ops=MPI_Allreduce,MPI_Reduce,MPI_Bcast", "--max-reps=30", fault="allreduce_slow")
    assert done.status == 0, done.messages
    assert min(t for cell in done.cells("MPI_Allreduce") for t in cell["t_ns"]) >= 1_400_000


@pytest.mark.parametrize(
    ("fault", "op"), [("bcast_wrong", "MPI_Bcast"), ("allreduce_wrong", "MPI_Allreduce"), ("barrier_empty", "MPI_Barrier")]
)
def test_wrong_results_are_said_once_and_marked(launch, fault, op):
    for _ in range(20):
        done = launch(3, "sk_time", "--max-reps=20", "--passes=1", fault=fault)
        # A barrier that does nothing shows if a process has left it before another one enters, 2 ms
        # late. On a busy machine all may come later than that.
        if done.status != 0 or fault != "barrier_empty":
            break
    assert done.status == 4
    assert done.messages.count(f"sk_time: {op} ") == 1
    assert done.records[-1]["rec"] == "end"
    wrong = {r["op"] for r in done.records if r["rec"] == "cell" and not r["verified"]}
    assert wrong == {op}


@pytest.mark.parametrize(
    ("fault", "begins"),
    [("put_lost", "MPI_Put["), ("get_wrong", "MPI_Get["), ("atomics_wrong", ("MPI_Fetch_and_op[", "MPI_Compare_and_swap["))],
)
def test_what_one_sided_operations_leave_is_looked_at(launch, fault, begins):
    done = launch(2, "sk_time", "--ops=rma", "--max-reps=20", "--passes=1", fault=fault)
    cells = [r for r in done.records if r["rec"] == "cell"]
    assert (done.status, len(cells)) == (4, 16)
    assert {r["op"] for r in cells if not r["verified"]} == {r["op"] for r in cells if r["op"].startswith(begins)}


def test_budget_holds_for_slow_operations(launch):
    options = ("--budget=0.3", "--ops=MPI_Bcast,MPI_Reduce,MPI_Allreduce", "--precision=0.00001")
    done = launch(4, "sk_time", *options, fault="allreduce_slow")
    end = done.records[-1]
    assert (done.status, end["status"]) == (0, "budget")
    per_op = {op: sum(cell["n"] for cell in done.cells(op)) for op in ("MPI_Bcast", "MPI_Reduce", "MPI_Allreduce")}
    assert min(per_op.values()) >= 3
