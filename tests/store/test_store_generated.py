"""Two machines of the store that the bars are about: 40 runs of 40 suites, 20 points, 400 repetitions, made by the generator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk

GENERATOR = Path(__file__).resolve().parents[2] / "benchmarks" / "store.py"


@pytest.mark.slow
def test_two_machines(tmp_path: Path) -> None:
    path = tmp_path / "s"
    command = [sys.executable, str(GENERATOR), "--runs", "40", "--only", "size", "--store", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["size_and_speed"]
    assert found["runs"] == 40
    assert found["share"] <= json.loads(done.stdout)["bars"]["share"]
    for one in (path / "runs").iterdir():
        status = one.stat()
        one.write_bytes(bytes(status.st_size))  # what follows is in the index
        os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns))
    store = sk.store.open(path)
    joint = store.arrays(("run_id", "x", "q1", "med", "q3"), {"op": "MPI_Gather", "metric": "time"})
    assert len(joint["x"]) == 40 * 20
    assert len(np.unique(joint["run_id"].astype(str))) == 40
    advice = store.advise("MPI_Gather")
    assert len(advice.settings) == 2
    assert advice.candidates == ("MPI_Gather", "Gather_send_recv", "Gather_isend_irecv_waitall")
    assert all((one.probability >= 1 / 3).all() for one in advice.settings)
    assert store.problems == ()
