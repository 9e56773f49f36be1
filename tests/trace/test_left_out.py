"""What the recorder is asked to leave out: real runs; what is left is matched as before, and the rest is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from launching import environment, launch
from recorded import FOR_OTHERS, analysed, waits_for_others

from scalkit.bench import Mpi
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.support import native
from scalkit.trace import analyse
from scalkit.trace.calls.profile import read_profile
from scalkit.trace.files.definitions import LocalDefinitions
from scalkit.trace.files.otf2 import write_otf2
from scalkit.trace.local.part import load
from scalkit.trace.waits.each_wait import each_wait
from scalkit.why import predict

KERNEL = Path(__file__).resolve().parents[2] / "microbench"
LONGER_THAN_ANY_CALL = str(10**15)  # ns

PROGRAM = """
#include "trace/scalkit_trace.h"
#include <mpi.h>
#include <string.h>
#include <time.h>
static void nap(int ms) { struct timespec t = { 0, ms * 1000000 }; nanosleep(&t, 0); }
static void pause_at(int given, int k, int begin, int end)
{
    if (given && k == begin)
        MPI_Pcontrol(0);
    if (given && k == end)
        MPI_Pcontrol(1);
}
/* Each process pauses at another message and another barrier; a request of a pause is completed after it. */
int main(int argc, char **argv)
{
    int rank, flag, value[64] = { 0 };
    int paused = argc > 1 && strcmp(argv[1], "pause") == 0, ends = argc > 1 && strcmp(argv[1], "end") == 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    SK_TRACE_ENTER("begin");
    for (int k = 0; k < 6; k++)
        if (rank == 0) {
            pause_at(paused, k, 1, 4);
            if (k == 5)
                nap(50);
            MPI_Send(value, k == 5 ? 64 : 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            pause_at(paused, k, 2, 3);
            MPI_Recv(value, 64, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    if (rank == 1) {
        pause_at(paused, 0, 0, 1);
        MPI_Irecv(value, 64, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        pause_at(paused, 1, 0, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(value, 64, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(value, 64, MPI_INT, 1, 1, MPI_COMM_WORLD);
        nap(30);
        MPI_Send(value, 64, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    SK_TRACE_LEAVE();
    for (int k = 0; k < 4; k++) {
        pause_at(paused, k, 1 + rank, 2 + rank);
        if (k == 3 && rank == 1)
            nap(40);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int k = 0; k < 100; k++)
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    pause_at(ends, 0, 0, 1);
    if (ends)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def built(mpi: Mpi) -> native.Build:
    return native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile")


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pauses")
    (folder / "prog.c").write_text(PROGRAM)
    command = [mpi.mpicc, "-std=gnu11", f"-I{KERNEL}", str(folder / "prog.c"), "-o", str(folder / "prog")]
    subprocess.run(command, check=True, env=environment(mpi))
    return folder / "prog"


def recorded(mpi: Mpi, built: native.Build, folder: Path, *words: str, library: str = "libsktrace.so", **more: str) -> Path:
    preloaded = {"LD_PRELOAD": str(built.program(library)), "SCALKIT_TRACE": str(folder)}
    found = launch(mpi, 2, *words, **preloaded, **{f"SCALKIT_TRACE_{name}": value for name, value in more.items()})
    assert (found.returncode, found.stderr) == (0, "")
    return folder


def waits(ds: xr.Dataset, metric: str) -> list[int]:
    return [int(ns) for ns in ds["severity"].sel(metric=metric).sum("path")]


def waits_of_partners(folder: Path, name: str) -> int:
    """Return how many ns calls waited for the messages, or the barrier, before which others nap.

    Each is as long as the times of these calls make it, which depend on how busy the machine is.
    """
    trace = load(folder)
    calls, found = trace.calls, each_wait(trace)

    def rows(location: int, name: str) -> list[int]:
        return np.flatnonzero((calls["location"] == location) & trace.is_call(name)).tolist()

    if name == "MPI_Barrier":
        pairs = [(rows(0, name)[-1], rows(1, name)[-1])]
    else:
        received, sent = rows(1, "MPI_Recv"), rows(0, "MPI_Send")
        pairs = [(received[-2], sent[-3]), (received[-1], sent[-1])]
    expected = [max(0, int(min(calls["enter"][late], calls["leave"][one]) - calls["enter"][one])) for one, late in pairs]
    assert found.wait[[one for one, _ in pairs]].tolist() == expected
    return sum(expected)


def said(ds: xr.Dataset) -> list[str]:
    return [one.partition(", ")[0].removeprefix("as asked: ") for one in json.loads(ds.attrs["problems"])]


@pytest.mark.mpi
@pytest.mark.parametrize("how", ["", "pause"])
def test_what_is_left_of_a_pause_finds_its_partners(
    mpi: Mpi, built: native.Build, program: Path, tmp_path: Path, how: str
) -> None:
    folder = recorded(mpi, built, tmp_path, str(program), *([how] if how else []))
    ds = analyse(folder)
    late, barrier = waits(ds, "late_sender"), waits(ds, "wait_at_barrier")
    assert late[1] >= waits_of_partners(folder, "MPI_Recv")
    assert late[0] == 0
    assert barrier[0] >= waits_of_partners(folder, "MPI_Barrier")
    assert int(each_wait(load(folder)).wait.sum()) >= late[1] + barrier[0]
    if how:
        left = ["2 calls of MPI_Barrier", "1 call of MPI_Irecv", "1 call of MPI_Recv", "3 calls of MPI_Send"]
        assert said(ds)[:5] == [*left, "so waits in one-sided communication and causes are not looked for"]
        assert "wait_for_progress" not in ds["metric"].values
        assert len(ds["gain_ns"]) == 0
        with pytest.raises(DataError, match="the recorder left calls out, as asked, and a prediction needs all"):
            predict(folder, "cluster")
        with pytest.raises(DataError, match="an archive needs all"):
            write_otf2(folder, tmp_path / "archive")
    else:
        assert analysed(ds, FOR_OTHERS) == waits_for_others(load(folder))
        assert "wait_for_progress" in ds["metric"].values
        assert said(ds) == []


@pytest.mark.mpi
def test_a_function_that_is_left_out_makes_nothing_false(mpi: Mpi, built: native.Build, program: Path, tmp_path: Path) -> None:
    folder = recorded(mpi, built, tmp_path / "probes", str(program), LEAVE_OUT="MPI_Iprobe")
    ds = analyse(folder)
    assert said(ds)[0] == "200 calls of MPI_Iprobe"
    assert analysed(ds, FOR_OTHERS) == waits_for_others(load(folder))
    assert waits(ds, "late_sender")[1] >= waits_of_partners(folder, "MPI_Recv")
    ds = analyse(recorded(mpi, built, tmp_path / "sends", str(program), LEAVE_OUT="MPI_Send,MPI_Barrier"))
    assert said(ds)[:2] == ["8 calls of MPI_Barrier", "8 calls of MPI_Send"]
    assert said(ds)[-1] == "so waits for senders and receivers are not looked for"
    assert not {"late_sender", "late_receiver"} & set(ds["metric"].values)
    assert sum(waits(ds, "wait_at_barrier")) == 0
    folder = recorded(mpi, built, tmp_path / "polls", str(program), SHORTEST_POLL=LONGER_THAN_ANY_CALL)
    ds = analyse(folder)
    assert said(ds)[0] == "200 calls of MPI_Iprobe"
    assert waits(ds, "late_sender")[1] >= waits_of_partners(folder, "MPI_Recv")


@pytest.mark.mpi
def test_a_name_that_is_misspelt_is_said(mpi: Mpi, built: native.Build, program: Path, tmp_path: Path) -> None:
    preloaded = {"LD_PRELOAD": str(built.program("libsktrace.so")), "SCALKIT_TRACE": str(tmp_path)}
    found = launch(mpi, 2, str(program), **preloaded, SCALKIT_TRACE_LEAVE_OUT="MPI_Barier,MPI_Init,MPI_Barrier,begin")
    assert found.stderr == (
        "scalkit trace: MPI_Barier cannot be left out: no function that is recorded has this name.\n"
        "scalkit trace: MPI_Init cannot be left out: the recording begins or ends with it.\n"
    )


@pytest.mark.mpi
def test_small_messages_and_regions_are_left_out(mpi: Mpi, built: native.Build, program: Path, tmp_path: Path) -> None:
    folder = recorded(mpi, built, tmp_path / "small", str(program), SMALLEST="100")
    ds = analyse(folder)
    assert said(ds)[0] == "10 transfers of fewer bytes than asked for"
    # The large ones still find each other.
    assert waits(ds, "late_sender")[1] >= waits_of_partners(folder, "MPI_Recv")
    folder = recorded(mpi, built, tmp_path / "region", str(program), LEAVE_OUT="begin")
    ds = analyse(folder)
    assert waits(ds, "late_sender") == [0, 0]
    assert waits(ds, "wait_at_barrier")[0] >= waits_of_partners(folder, "MPI_Barrier")
    assert [str(name) for name in ds["path_name"].values if "begin" in str(name)] == ["program/begin"]


@pytest.mark.mpi
def test_a_program_may_begin_and_end_in_a_pause(mpi: Mpi, built: native.Build, program: Path, tmp_path: Path) -> None:
    trace = load(recorded(mpi, built, tmp_path / "t", str(program), PAUSED="1"))
    assert [trace.definitions.region(int(path)) for path in trace.calls["path"]] == 2 * ["MPI_Init", "MPI_Finalize"]
    trace = load(recorded(mpi, built, tmp_path / "e", str(program), "end"))
    assert trace.definitions.region(int(trace.calls["path"][-1])) == "MPI_Finalize"
    profile = read_profile(recorded(mpi, built, tmp_path / "p", str(program), "pause", library="libskprofile.so"))
    assert {one.function: one.calls for one in profile.calls}["MPI_Barrier"] == 6
    texts = [f"location {k}: {n} calls between MPI_Pcontrol(0) and (1) are not counted" for k, n in ((0, 4), (1, 3))]
    assert profile.problems == texts


@pytest.mark.slow
@pytest.mark.mpi
def test_the_command_says_what_is_left_out(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "scalkit", "trace", "run", "--no-open", "--dir", str(tmp_path / "t")]
    options = ["--leave-out", "MPI_Send", "--mpicc", mpi.mpicc]
    command = mpi.command(2, str(program), forward={"LD_PRELOAD": "", "SCALKIT_TRACE": "", "SCALKIT_TRACE_LEAVE_OUT": ""})
    found = subprocess.run([*words, *options, "--", *command], env=environment(mpi), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "  as asked: 8 calls of MPI_Send, " in found.stdout
    assert "Waiting for progress is" not in found.stdout
    assert "late sender" not in found.stdout
    answer = json.loads((tmp_path / "t/waits.verdict.json").read_text())["answer"]
    assert answer.startswith("Calls were left out of the recording, so how long the program waits for progress is not known.")
    assert "<b>unknown</b>" in (tmp_path / "t/waits.html").read_text()
    for word in ("analyse", "report"):
        more = [str(tmp_path / "t"), "--fail-above", "5", "--out", str(tmp_path / word)]
        found = subprocess.run([*words[:4], word, *more], env=environment(mpi), capture_output=True, text=True, check=False)
        assert found.returncode == 2
        assert "waiting for progress is not known where calls were left out" in found.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--leave-out", "a,b"], "--leave-out 'a,b' is no name of a function or region"),
        (["--profile-only", "--stacks", "unwind"], "--profile-only counts all calls by place"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "run", "--dir", str(tmp_path / "t"), *options, "--", "true"]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("entry", [[1, 5], [1, 5, 0, 0, 0, 1, "x"], "text", [None] * 7])
def test_damaged_counts_are_refused(entry: object) -> None:
    with pytest.raises(DataError, match="a definition is damaged"):
        LocalDefinitions().add({"left_out": [entry]})
