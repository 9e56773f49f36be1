"""ARMCI by way of its profiling layer: a small ARMCI over windows of MPI is recorded, analysed, and written as OTF2."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from launching import environment, launch
from needs import needs_otf2
from recorded import FOR_TARGETS, analysed, waits_for_targets

from onesided import TCP
from scalkit.bench import Mpi
from scalkit.support import native
from scalkit.trace import analyse
from scalkit.trace.files.otf2 import read_otf2, write_otf2
from scalkit.trace.files.tables import ACCUMULATE, GET, PUT, RECEIVE, RMW, SEND
from scalkit.trace.local.part import load

KERNEL = Path(__file__).resolve().parents[2] / "microbench"
ARMCI = KERNEL / "trace/tests/armci"
STRIDED, VECTOR = 1 << 8, 2 << 8


@pytest.fixture(scope="module")
def built(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `linked`, which has the recorder's part for ARMCI in it, and `shared`, whose ARMCI is a library."""
    folder = tmp_path_factory.mktemp("armci")
    words = [f"MPICC={mpi.mpicc}", f"BUILD={folder}", f"ARMCI={ARMCI}", f"CFLAGS={os.environ.get('CFLAGS', '-O2')} -Werror"]
    subprocess.run(["make", "-s", "-C", str(KERNEL / "trace"), "armci", *words], check=True, env=environment(mpi))
    program, library = str(ARMCI / "everything.c"), str(ARMCI / "parmci.c")
    for name, files in (
        ("linked", [program, str(folder / "libskarmci.a"), library]),
        ("libparmci.so", ["-fPIC", "-shared", library]),
        ("shared", [program, str(folder / "libparmci.so"), f"-Wl,-rpath,{folder}"]),
    ):
        command = [mpi.mpicc, "-std=gnu11", "-O1", f"-I{KERNEL}", f"-I{ARMCI}", *files, "-o", str(folder / name)]
        subprocess.run(command, check=True, env=environment(mpi))
    return folder


def record(mpi: Mpi, program: Path, folder: Path, *words: str, **more: str) -> str:
    recorder = native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")
    preload = str(recorder) if program.name == "linked" else f"{recorder} {program.with_name('libskarmci.so')}"
    found = launch(mpi, 2, str(program), *words, LD_PRELOAD=preload, SCALKIT_TRACE=str(folder), **more)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["linked", "shared"])
def test_every_call_and_transfer_is_recorded(mpi: Mpi, built: Path, tmp_path: Path, name: str) -> None:
    told = record(mpi, built / name, tmp_path / "plain", SCALKIT_TRACE_BUFFER="16")
    made = {int(rank): int(calls) + 2 for rank, calls in re.findall(r"rank (\d+) made (\d+) calls", told)}
    trace = load(tmp_path / "plain")
    assert Counter(trace.calls["location"].tolist()) == made  # with those of MPI_Init and MPI_Finalize
    names = Counter(trace.definitions.region(int(path)) for path in trace.calls["path"])
    assert {one for one in names if one.startswith("MPI_")} == {"MPI_Init", "MPI_Finalize"}  # others are within ARMCI's
    kinds = Counter((trace.transfers["kind"] & 0xFFFF).tolist())
    assert kinds == {
        PUT: 2 * (2 + 1 + 1 + 1 + 2 * 4),
        PUT | STRIDED: 2 * 3,
        PUT | VECTOR: 2 * 2,
        GET: 2 * (2 + 4 + 1),
        GET | STRIDED: 2 * 2,
        GET | VECTOR: 2 * 2,
        ACCUMULATE: 2 * 2,
        ACCUMULATE | STRIDED: 2 * 2,
        ACCUMULATE | VECTOR: 2 * 2,
        RMW: 2 * 2,
        SEND: 2,
        RECEIVE: 2,
    }
    strided = trace.transfers["kind"] & 0xFF00 == STRIDED
    assert set(trace.transfers["bytes"][strided].tolist()) == {6 * 8}
    assert ((trace.transfers["done"] >= 0) == (trace.transfers["kind"] & 0xFF != SEND)).all()
    fences = {trace.definitions.region(int(path)) for path in trace.calls["path"][trace.landings["done"]]}
    assert fences == {"ARMCI_Fence", "ARMCI_AllFence", "ARMCI_Wait"}
    assert set((trace.transfers["kind"][trace.landings["transfer"]] & 0xFF).tolist()) == {PUT, ACCUMULATE}


@pytest.mark.mpi
@needs_otf2
def test_it_comes_back_from_otf2(mpi: Mpi, built: Path, tmp_path: Path) -> None:
    record(mpi, built / "linked", tmp_path / "plain")
    write_otf2(tmp_path / "plain", tmp_path / "archive")
    read_otf2(tmp_path / "archive/traces.otf2", tmp_path / "back")
    plain, back = analyse(tmp_path / "plain"), analyse(tmp_path / "back")
    for name in ("severity", "path_name", "cause_location", "cause_by", "cause_path", "cause_severity"):
        assert back[name].values.tolist() == plain[name].values.tolist(), name
    printed = subprocess.run(
        ["otf2-print", str(tmp_path / "archive/traces.otf2")], capture_output=True, text=True, check=True
    ).stdout
    events = Counter(re.findall(r"^(RMA_\w+|MPI_SEND|MPI_ISEND|MPI_RECV) ", printed, re.MULTILINE))
    trace = load(tmp_path / "plain")
    kinds = Counter((trace.transfers["kind"] & 0xFF).tolist())
    assert events["RMA_PUT"] == kinds[PUT]
    assert events["RMA_GET"] == kinds[GET]
    assert events["RMA_ATOMIC"] == kinds[ACCUMULATE] + kinds[RMW]
    assert events["RMA_OP_COMPLETE_REMOTE"] == len(trace.landings["done"])
    assert (events["MPI_ISEND"], events["MPI_RECV"]) == (kinds[SEND], kinds[RECEIVE])


@pytest.mark.mpi
def test_gets_and_fences_wait_for_progress(mpi: Mpi, built: Path, tmp_path: Path) -> None:
    if mpi.kind != "MPICH":
        pytest.skip("the variables that choose the transport are those of MPICH")
    record(mpi, built / "linked", tmp_path, "progress", **TCP)
    ds, waits = analyse(tmp_path), waits_for_targets(load(tmp_path))
    assert analysed(ds, FOR_TARGETS) == waits
    # Over TCP none of these ends before the other process calls MPI.
    assert ("without_progress", 0) not in waits
    is_waiting = ds["severity"].sel(metric="wait_for_progress", location=0).values > 0
    assert set(ds["region"].values[is_waiting]) <= {"ARMCI_Get", "ARMCI_Acc", "ARMCI_AllFence"}
