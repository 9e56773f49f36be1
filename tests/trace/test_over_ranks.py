"""The analysis on several MPI ranks: the same file to the last byte, and one voice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import launch, scalkit
from random_traces import build, random_calls

from scalkit.bench import Mpi
from scalkit.trace import analyse, write_result

LOCATIONS = 5

SPLIT = """
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

from scalkit.trace import Options, analyse, write_result

sys.path.insert(0, sys.argv[3])
from per_event import waits_for_progress_per_event

for n, chunk in ((1, 5), (2, 50), (3, 16), (4, 1 << 18), (5, 9)):
    takes_part = MPI.COMM_WORLD.Get_rank() < n
    comm = MPI.COMM_WORLD.Split(0 if takes_part else 1)
    if takes_part:
        found = analyse(sys.argv[1], Options(chunk=chunk), comm=comm)
        if comm.Get_rank() == 0:
            write_result(found, Path(sys.argv[2]) / f"{n}.nc")
        if n in (1, 3):
            other = waits_for_progress_per_event(sys.argv[1], comm)
            metric, path, location, value = other.severity
            severity = np.zeros_like(found["severity"].values)
            severity[metric, path, location] = value
            names = ["wait_for_progress", "without_progress"]
            assert severity.sum() == found["severity"].sel(metric=names).sum() > 0
            assert (severity[np.isin(found["metric"].values, names)] == found["severity"].sel(metric=names).values).all()
            mine = found["cause_metric"].values == found["metric"].values.tolist().index("wait_for_progress")
            names = ("cause_metric", "cause_location", "cause_by", "cause_path", "cause_severity")
            for name, column in zip(names, other.causes, strict=True):
                assert (column == found[name].values[mine]).all()
    comm.Free()
    done = MPI.COMM_WORLD.Ibarrier()
    while not done.Test():  # those that take no part leave the cores to the others
        time.sleep(0.005)
"""


@pytest.mark.slow
@pytest.mark.mpi
def test_the_number_of_ranks_does_not_matter(mpi: Mpi, tmp_path: Path) -> None:
    calls = random_calls(17, LOCATIONS, steps=80)
    plain = build(calls).write(tmp_path / "plain")
    write_result(analyse(plain), tmp_path / "0.nc")
    expected = (tmp_path / "0.nc").read_bytes()
    shuffled = build(calls).write(tmp_path / "shuffled", block=11, rng=np.random.default_rng(5))
    found = launch(
        mpi, LOCATIONS, sys.executable, "-m", "mpi4py", "-c", SPLIT, str(shuffled), str(tmp_path), str(Path(__file__).parent)
    )
    assert (found.returncode, found.stderr) == (0, "")
    for n in (1, 2, 3, 4, 5):
        assert (tmp_path / f"{n}.nc").read_bytes() == expected
    out = tmp_path / "command.nc"
    found = scalkit(mpi, 2, "analyse", str(shuffled), "--out", str(out), "--json")
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["locations"] == LOCATIONS
    assert out.read_bytes() == expected


@pytest.mark.slow
@pytest.mark.mpi
def test_what_is_wrong_is_said_once(mpi: Mpi, tmp_path: Path) -> None:
    plain = build(random_calls(18, 2, steps=20)).write(tmp_path)
    (plain / "000001.sktrace").unlink()
    found = scalkit(mpi, 2, "analyse", str(plain))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == (
        f"scalkit trace: {plain}: location 1: 000001.sktrace cannot be read (No such file or directory); record it again, or "
        "analyse the rest with --keep-going.\n"
    )


@pytest.mark.mpi
def test_a_rank_that_fails_alone_ends_all(mpi: Mpi, tmp_path: Path) -> None:
    plain = build(random_calls(19, 2, steps=20)).write(tmp_path / "trace")
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif os.environ.get('PMI_RANK', os.environ.get('OMPI_COMM_WORLD_RANK')) == '1':\n"
        "    import scalkit.trace.waits.patterns as one\n"
        "    def fail(*words): raise ZeroDivisionError('on purpose')\n"
        "    one.waits_in_messages = fail\n"
    )
    found = scalkit(mpi, 2, "analyse", str(plain), PYTHONPATH=str(tmp_path))
    assert found.returncode != 0
    assert "scalkit trace: rank 1 failed: on purpose\n" in found.stderr
