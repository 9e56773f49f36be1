"""The recorder linked into a program under SimGrid SMPI: times are simulated, so the waits are known."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from needs import needs_simgrid

from scalkit.support import native
from scalkit.trace import analyse

KERNEL = Path(__file__).resolve().parents[2] / "microbench"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""


@needs_simgrid
def test_known_waits(tmp_path: Path) -> None:
    library = native.build(KERNEL, "smpicc", makefile="trace/Makefile").program("libsktrace.a")
    program, platform, trace = tmp_path / "simulated", tmp_path / "platform.xml", tmp_path / "trace"
    platform.write_text(PLATFORM)
    source = KERNEL / "trace/tests/simulated.c"
    whole = ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", "-ldl"]
    command = ["smpicc", "-std=gnu11", "-O1", f"-I{KERNEL}", str(source), *whole, "-o", str(program)]
    subprocess.run(command, check=True, cwd=tmp_path)
    words = ["smpirun", "-np", "4", "-platform", str(platform), "--cfg=smpi/simulate-computation:no"]
    given = {**os.environ, "SCALKIT_TRACE": str(trace)}
    subprocess.run([*words, "--log=root.thres:critical", str(program)], check=True, cwd=tmp_path, env=given)
    ds = analyse(trace)
    assert ds.attrs["simulated"] == 1
    waited = ds["severity"].sum("path")
    expected = [3_000_000, 2_000_000, 1_000_000, 0]  # but processes do not leave MPI_Init at the same instant
    at_barrier = waited.sel(metric="wait_at_barrier").values
    assert at_barrier.tolist() == pytest.approx(expected, abs=20_000)
    assert int(waited.sel(metric="late_sender", location=0)) == pytest.approx(5_000_000, abs=20_000)
    blamed = ds["metric"].values[ds["cause_metric"].values] == "wait_at_barrier"
    assert set(ds["cause_by"].values[blamed].tolist()) == {3}
    assert set(ds["path_name"].values[ds["cause_path"].values[blamed]].tolist()) == {"program/work"}
    blamed = ds["metric"].values[ds["cause_metric"].values] == "late_sender"
    assert set(ds["cause_by"].values[blamed].tolist()) == {1}
    assert set(ds["cause_location"].values[blamed].tolist()) == {0}
    names = [str(name) for name in ds["path_name"].values]
    assert any(re.fullmatch(r"program/MPI_Barrier@meet\+0x[0-9a-f]+", name) for name in names), names
