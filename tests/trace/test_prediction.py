"""Traces played on another network: by hand, in virtual time, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from launching import environment
from needs import needs_simgrid

from scalkit.bench import Mpi
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.played import Machine, play
from scalkit.trace import TraceBuilder
from scalkit.why import SCHEDULES, WIRES, predict

ROOT = Path(__file__).resolve().parents[2]
NETWORK = "L=1us,o=300ns,g=100ns,G=0.1ns/B"


def begun(locations: int) -> TraceBuilder:
    """Return a trace in which MPI_Init ends at 1000 ns."""
    trace = TraceBuilder(locations)
    for location in range(locations):
        trace.call(location, "MPI_Init", 10 * location, 1000)
    return trace


def ended(trace: TraceBuilder, folder: Path, time: int = 90_000) -> Path:
    """Write a trace in which MPI_Finalize begins at `time`."""
    for one in trace.locations:
        trace.call(one.location, "MPI_Finalize", time, time + 5)
    return trace.write(folder)


def message(trace: TraceBuilder, operation: str, location: int, peer: int, times: tuple[int, int], **more: int) -> None:
    name = "MPI_Send" if operation == "send" else "MPI_Recv"
    trace.transfer(location, operation, trace.call(location, name, *times, scope=0), peer, blocking=True, **more)


def test_a_message_computed_by_hand(tmp_path: Path) -> None:
    trace = begun(2)
    message(trace, "send", 0, 1, (6000, 6010), size=968)  # after 5 us of computing
    message(trace, "receive", 1, 0, (1000, 89_000), size=968)
    trace.call(0, "MPI_Finalize", 6010, 6020)
    trace.call(1, "MPI_Finalize", 91_000, 91_005)  # 2 us after the receive
    trace.write(tmp_path)
    found = predict(tmp_path, NETWORK)
    # 5 us, o, 968 B and a header of 32 B, L, o, 2 us
    assert found.time_s == pytest.approx(1e-6 * (5 + 0.3 + 0.1 + 1 + 0.3 + 2), rel=1e-12)
    assert found.recorded_s == pytest.approx(90e-6)
    assert found.computing_s == pytest.approx(5e-6)
    assert (found.messages, found.left_out) == (1, {})
    assert predict(tmp_path, NETWORK, scale=0).time_s == pytest.approx(1.7e-6)
    assert predict(tmp_path, NETWORK, scale=2).time_s == pytest.approx((10 + 1.7 + 4) * 1e-6)


def test_messages_are_matched_by_their_tag(tmp_path: Path) -> None:
    for received, is_whole in (((2, 1), True), ((2, 3), False)):
        trace = begun(2)
        for tag in (1, 2):
            message(trace, "send", 0, 1, (1000, 1000), tag=tag)
        for tag in received:
            message(trace, "receive", 1, 0, (1000, 2000), tag=tag)
        folder = ended(trace, tmp_path / str(is_whole))
        if is_whole:
            assert predict(folder, NETWORK).messages == 2
        else:
            with pytest.raises(DataError, match=r"processes \[1\] wait for ever; .*has no partner in the trace"):
                predict(folder, NETWORK)


@pytest.mark.parametrize(
    ("function", "operation", "algorithm", "root"),
    [
        ("MPI_Allreduce", "allreduce", "rabenseifner", -1),
        ("MPI_Bcast", "broadcast", "binomial", 2),
        ("MPI_Alltoall", "alltoall", "linear", -1),
        ("MPI_Barrier", "barrier", "dissemination", -1),
    ],
)
@pytest.mark.parametrize("is_begun", [False, True])
def test_collective_operations_are_played(
    function: str, operation: str, algorithm: str, root: int, is_begun: bool, tmp_path: Path
) -> None:
    trace = begun(5)
    for location in range(5):
        name = f"MPI_I{function[4:].lower()}" if is_begun else function
        call = trace.call(location, name, 1000, 1000, scope=0, peer=root)
        if function != "MPI_Barrier":
            trace.transfer(location, "collective", call, 0, size=1024)
        if is_begun:
            trace.complete(location, trace.call(location, "MPI_Wait", 1000, 7000), call)
    found = predict(ended(trace, tmp_path), NETWORK, scale=0)
    machine = Machine.of(1e-6, 3e-7, 1e-7, 1e-10)
    played = play(SCHEDULES["MPICH", operation, algorithm], 5, 1024, WIRES["MPICH"], machine)
    assert found.time_s == pytest.approx(1e-9 * played.time)
    assert found.messages == sum(played.messages)
    if operation == "allreduce":
        ring = predict(tmp_path, NETWORK, scale=0, algorithms={"allreduce": "ring"})
        assert ring.messages > found.messages


def test_what_is_not_modelled_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = begun(2)
    for location in range(2):
        trace.call(location, "MPI_Comm_dup", 1000, 2000, scope=0)
        trace.call(location, "MPI_Allreduce", 2000, 2100, scope=0)  # of a trace without sizes
    ended(trace, tmp_path, 2200)
    assert main(["trace", "predict", str(tmp_path), "--network", "cluster"]) == 0
    assert capsys.readouterr().out == (
        "network  run       computing, at most  messages\n"
        "cluster  100.0 ns  100.0 ns            0\n"
        "Predicted from the end of MPI_Init to the begin of MPI_Finalize, computing as recorded; recorded: 1.200 us.\n"
        "These take no time here: MPI_Allreduce (2 calls), MPI_Comm_dup (2 calls).\n"
    )
    assert main(["trace", "predict", str(tmp_path), "--network", NETWORK, "--scale", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[NETWORK]["time_s"] == 0
    assert main(["trace", "predict", str(tmp_path), "--algorithm", "ring"]) == 2
    assert "write OPERATION=NAME" in capsys.readouterr().err


REFUSED: list[tuple[Callable[[Path], object], type[Exception], str]] = [
    (lambda t: predict(t, NETWORK, scale=-1), UsageError, "the scale is -1; a number from 0 on is needed."),
    (lambda t: predict(t, "nowhere"), UsageError, "the network 'nowhere' is unknown"),
    (lambda t: predict(t, f"{NETWORK},inside_L=1ns,inside_o=0ns,inside_g=0ns,inside_G=0ns/B,per_node=2"), UsageError, "per_node"),
    (
        lambda t: predict(t, NETWORK, library="Other MPI"),
        UsageError,
        "the library 'Other MPI' is unknown; choose MPICH or Open MPI.",
    ),
    (lambda t: predict(t, NETWORK, algorithms={"scan": "x"}), UsageError, "the operation 'scan' is unknown; choose barrier,"),
    (
        lambda t: predict(t, NETWORK, algorithms={"barrier": "x"}),
        UsageError,
        "MPICH has no algorithm 'x' of barrier; choose dissemination, recursive-doubling.",
    ),
    (
        lambda t: predict(t, NETWORK, library="Open MPI"),
        UsageError,
        "which algorithm of barrier Open MPI takes is not known; name one of linear,",
    ),
]


@pytest.mark.parametrize(("act", "error", "message"), REFUSED, ids=[one[2][:30] for one in REFUSED])
def test_what_makes_no_sense_is_refused(
    act: Callable[[Path], object], error: type[Exception], message: str, tmp_path: Path
) -> None:
    trace = begun(2)
    for location in range(2):
        trace.call(location, "MPI_Barrier", 1000, 1100, scope=0)
    with pytest.raises(error, match=re.escape(message)):
        act(ended(trace, tmp_path))


def test_one_sided_operations_and_nodes_are_refused(tmp_path: Path) -> None:
    trace = begun(2)
    trace.transfer(0, "put", trace.call(0, "MPI_Put", 1000, 1100, scope=1), 1)
    with pytest.raises(DataError, match="has one-sided operations; a prediction knows messages and collective operations"):
        predict(ended(trace, tmp_path / "put"), NETWORK)
    network = tmp_path / "nodes.toml"
    numbers = 'L = "1us"\no = "0.3us"\ng = "0.1us"\nG = "0.1ns/B"\n'
    network.write_text(f"per_node = 2\n{numbers}[inside]\n{numbers}")
    with pytest.raises(UsageError, match="has 2 processes on a node; a prediction knows one"):
        predict(tmp_path / "put", str(network))


@pytest.mark.slow
@pytest.mark.mpi
def test_virtual_time_is_predicted(mpi: Mpi) -> None:
    words = [sys.executable, str(ROOT / "benchmarks/trace_predictions.py"), "--processes", "4", "--sizes", "1000"]
    found = subprocess.run(words, env=environment(mpi), capture_output=True, text=True, check=False)
    if found.returncode and "cannot run in virtual time" in found.stderr:
        pytest.skip(found.stderr.strip())
    errors = [float(one) for one in re.findall(r"([+-][\d.]+) %", found.stdout)]
    assert len(errors) == 2, found.stderr
    assert max(map(abs, errors)) < 5


@pytest.mark.slow
@needs_simgrid
def test_simgrid_says_about_the_same() -> None:
    words = [sys.executable, str(ROOT / "benchmarks/trace_against_simgrid.py"), "--processes", "4", "--sizes", "1000"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    errors = [float(one) for one in re.findall(r"([+-][\d.]+) %", found.stdout)]
    assert len(errors) == 2, found.stderr
    assert found.returncode == 0
    assert max(map(abs, errors)) < 15


def ring(n: int, folder: Path, pause: Callable[[int], int] = lambda location: 500) -> Path:
    """Write a trace of messages to the next process, and an allreduce; the last one tells the first what it found."""
    trace = begun(n)
    for location in range(n):
        at = 1000 + pause(location)
        message(trace, "send", location, (location + 1) % n, (at, at), size=100, tag=1)
        message(trace, "receive", location, (location - 1) % n, (at, at + 9), size=100, tag=1)
        call = trace.call(location, "MPI_Allreduce", at + 9, at + 9, scope=0)
        trace.transfer(location, "collective", call, 0, size=64)
        if location in (0, n - 1):
            kind = "receive" if location == 0 else "send"
            message(trace, kind, location, n - 1 - location, (at + 9, at + 9), size=8, tag=2)
    return ended(trace, folder)


def test_more_processes_than_were_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few, many = ring(5, tmp_path / "5"), ring(24, tmp_path / "24")
    told, true = predict(few, NETWORK, processes=24), predict(many, NETWORK)
    assert (told.time_s, told.messages, told.processes) == (true.time_s, true.messages, 24)
    assert told.low_s == told.high_s == told.time_s
    uneven = predict(ring(5, tmp_path / "u", lambda k: 100 * k), NETWORK, processes=24)
    assert uneven.low_s <= uneven.time_s <= uneven.high_s
    assert main(["trace", "predict", str(few), "--processes", "24, 1000"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.partition(" processes")[0] for row in rows[1:3]] == ["cluster, 24", "cluster, 1000"]
    assert main(["trace", "predict", str(few), "--processes", "many"]) == 2
    assert "'many' is no number; write numbers, as in 64,1024." in capsys.readouterr().err


def test_what_more_processes_would_do_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="3 processes cannot be told of 5"):
        predict(ring(5, tmp_path / "5"), NETWORK, processes=3)
    trace = begun(5)
    for location in range(5):
        trace.call(location, "MPI_Comm_size" if location != 2 else "MPI_Comm_rank", 1000, 1100)
    with pytest.raises(DataError, match="call 1 of location 2 is not that of location 1, so nobody knows what more processes"):
        predict(ended(trace, tmp_path / "odd", 2000), NETWORK, processes=10)
    trace = begun(4)
    for location in range(4):
        message(trace, "send", location, (location + 2) % 4, (1000, 1000))
    half = ended(trace, tmp_path / "half")
    with pytest.raises(DataError, match="a partner 2 ranks ahead of 4 is as many behind; record an odd number"):
        predict(half, NETWORK, processes=10)
