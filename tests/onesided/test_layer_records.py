"""The layer in C is right, and every call and transfer of it stands in the trace."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from needs import needs_otf2

from scalkit.bench import Mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.support import native
from scalkit.trace import analyse
from scalkit.trace.files.otf2 import read_otf2, write_otf2
from scalkit.trace.files.tables import ACCUMULATE, GET, PUT, RECEIVE, RMW, SEND
from scalkit.trace.local.part import load

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "microbench"
TIMES, TURNS, LAYOUTS = 2, 60, 3  # as in tests/layer.c
BLOCKING = TURNS // 3


@pytest.fixture(scope="module")
def programs(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the test of the layer, with the recorder linked into it and without."""
    folder = tmp_path_factory.mktemp("layer")
    built = {"linked": folder / "layer_recorded", "preloaded": folder / "layer"}
    make = ["make", "-s", "-j2", "-f", str(ROOT / "notebooks/onesided/Makefile"), *map(str, built.values()), f"BUILD={folder}"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run([*make, f"MPICC={mpi.mpicc}"], check=True, env=inherited)
    return built


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("recorder", ["linked", "preloaded"])
@needs_otf2
def test_calls_and_transfers_are_recorded(mpi: Mpi, programs: dict[str, Path], tmp_path: Path, recorder: str) -> None:
    program, trace = programs[recorder], tmp_path / "trace"
    environment = {**os.environ, **settings(mpi.kind, oversubscribed=True), "SCALKIT_TRACE": str(trace)}
    environment["SCALKIT_TRACE_BUFFER"] = "64"
    trace.mkdir()
    if recorder == "preloaded":
        library = native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")
        environment["LD_PRELOAD"] = str(library)
    command = mpi.command(2, str(program), str(trace), forward=environment)
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    assert done.stdout == "the layer: all as it must be with 2 processes\n"
    found = load(trace)
    kinds = Counter((found.transfers["kind"] & 0xFF).tolist())
    each = 2 * TIMES
    assert kinds == {
        PUT: each * (TURNS * LAYOUTS + TURNS + 1),
        GET: each * LAYOUTS * (BLOCKING + 2 * (TURNS - BLOCKING)),
        ACCUMULATE: each * TURNS * LAYOUTS,
        RMW: each * 2 * TURNS,
        SEND: each * TURNS,
        RECEIVE: each * TURNS,
    }
    layouts = Counter((found.transfers["kind"][found.transfers["kind"] & 0xFF == ACCUMULATE] >> 8 & 0xFF).tolist())
    assert layouts == dict.fromkeys(range(3), each * TURNS)
    assert ((found.transfers["done"] >= 0) == (found.transfers["kind"] & 0xFF != SEND)).all()
    names = Counter(found.definitions.region(int(path)) for path in found.calls["path"])
    assert names["sk1s_nbput"] == each * ((TURNS - BLOCKING) * LAYOUTS + TURNS + 1)
    assert names["sk1s_wait"] == each * ((TURNS - BLOCKING) * LAYOUTS * 3 + TURNS)
    assert names["sk1s_notify_wait"] == each * TURNS
    assert "sk1s_notify_wait" in found.definitions.functions
    waits = analyse(trace)
    severity = waits["severity"]
    assert int(severity.sel(metric="rma_operations").sum()) == sum(kinds[kind] for kind in (PUT, GET, ACCUMULATE, RMW))
    late = severity.sel(metric="late_sender").sum("location").values
    assert {str(name) for name in waits["region"].values[np.flatnonzero(late)]} <= {"sk1s_notify_wait"}
    at_barrier = severity.sel(metric="wait_at_barrier").sum("location").values
    assert {str(name) for name in waits["region"].values[np.flatnonzero(at_barrier)]} == {"sk1s_barrier"}
    write_otf2(trace, tmp_path / "archive")
    read_otf2(tmp_path / "archive/traces.otf2", tmp_path / "back")
    back = analyse(tmp_path / "back")
    for name in ("severity", "path_name", "cause_location", "cause_by", "cause_path", "cause_severity"):
        assert back[name].values.tolist() == waits[name].values.tolist(), name
