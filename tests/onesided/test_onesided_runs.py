"""What cannot be run says why, and a progress thread is weighed."""

from __future__ import annotations

from pathlib import Path

import pytest

from onesided import Simulator, delays, multiply, weigh_progress_thread
from scalkit.bench import Mpi
from scalkit.errors import BuildError, DataError, LaunchError, UsageError
from scalkit.trace import TraceBuilder, analyse


def test_refuses(simulator: Simulator) -> None:
    with pytest.raises(UsageError, match=r"^cannot run over 'shmem'; choose 'rma', 'locks' or 'layer'\.$"):
        multiply(simulator, 2, "shmem")
    with pytest.raises(LaunchError, match=r"(?s)ended with status .*--n=51 cannot be shared by 2 by 2 processes; use a mul"):
        multiply(simulator, 4, "layer", n=51, ahead=1)
    with pytest.raises(
        LaunchError, match=r"(?s)sk_delays with 2 processes ended .*--turns: '0' is not a whole number of at least 1"
    ):
        delays(simulator, "layer", turns=0)


def test_without_a_simulator() -> None:
    message = r"^the simulator SimGrid SMPI is not here: no 'no-such-smpicc' on PATH\. Install it"
    with pytest.raises(BuildError, match=message):
        multiply(Simulator(smpicc="no-such-smpicc"), 2)


@pytest.mark.mpi
def test_one_process_has_nobody_to_wait_for(mpi: Mpi) -> None:
    assert multiply(mpi, 1, "layer", n=16).error == 0


def made(folder: Path, work: int, flush: int, *, thread: bool, locations: int = 2) -> Path:
    """A run in which location 0 works and then waits for 1, which is in no call until it ends its work."""
    trace = TraceBuilder(locations, simulated=True, asynchronous_progress=thread)
    for location in range(locations):
        trace.call(location, "MPI_Init", 0, 10)
    posted = trace.call(0, "MPI_Get", 10 + work, 12 + work, scope=1, peer=1)
    trace.transfer(0, "get", posted, 1)
    done = trace.call(0, "MPI_Win_flush", 12 + work, 12 + work + flush, scope=1, peer=1)
    trace.complete(0, done, posted)
    trace.call(1, "MPI_Finalize", 112 + work, 120 + work)
    return trace.write(folder)


def test_a_progress_thread_is_weighed(tmp_path: Path) -> None:
    without = analyse(made(tmp_path / "0", 1000, 110, thread=False))
    with_thread = analyse(made(tmp_path / "1", 1020, 10, thread=True))
    found = weigh_progress_thread(without, with_thread)
    ns = {name: round(1e9 * getattr(found, name)) for name in ("computing_s", "computing_with_s", "calling_s", "waiting_s")}
    assert ns == {"computing_s": 1000 + 1102, "computing_with_s": 1020 + 1122, "calling_s": 140, "waiting_s": 100}
    assert round(1e9 * found.saved_s) == 100
    assert round(1e9 * found.lost_s) == 40
    assert round(1e9 * found.gain_s) == 60
    assert found.waiting_share == pytest.approx(100 / 2242)
    assert found.pays_above == pytest.approx(40 / 2242)
    assert found.could_pay
    dear = weigh_progress_thread(without, analyse(made(tmp_path / "2", 1100, 10, thread=True)))
    assert not dear.could_pay
    assert dear.gain_s < 0


def test_runs_that_cannot_be_compared(tmp_path: Path) -> None:
    plain = analyse(made(tmp_path / "0", 1000, 110, thread=False))
    thread = analyse(made(tmp_path / "1", 1000, 10, thread=True))
    larger = analyse(made(tmp_path / "2", 1000, 10, thread=True, locations=3))
    with pytest.raises(DataError, match=r"^the runs have 2 and 3 locations; compare runs of the same size\.$"):
        weigh_progress_thread(plain, larger)
    with pytest.raises(DataError, match=r"^the first run had a progress thread, so nobody waited in it; record one without"):
        weigh_progress_thread(thread, thread)
    nothing = [analyse(TraceBuilder(2, asynchronous_progress=on).write(tmp_path / f"empty-{on}")) for on in (False, True)]
    with pytest.raises(DataError, match=r"^no time was recorded of the first run; record it again\.$"):
        weigh_progress_thread(*nothing)
    with pytest.raises(DataError, match=r"^the second run had no progress thread; record one with MPIR_CVAR_ASYNC_PROGRES"):
        weigh_progress_thread(plain, plain)
