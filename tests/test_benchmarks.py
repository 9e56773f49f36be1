"""Benchmarks that make what they need run, each once, as small as it gets; tests elsewhere run others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from launching import environment, find
from needs import needs_simgrid

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

SMALL = {
    "advise": "--cases 1 --strategy advise --start 5",
    "algorithm_identification": "",
    "changes": "--over-two --series 1",
    "changes_beside": "--series 1",
    "collective_predictions": "",
    "exponentials": "--cases 2",
    "growth_beside": "--only duplicates --budget 0.3",
    "guidelines": "--runs 3 --repetitions 5",
    "installation": "",
    "judging": "--cases 1 --limit",
    "judging_limit": "--cases 1",
    "posterior": "--batches 1 --no-extrap",
    "protocol_switches": "--cases 1",
    "several_parameters": "--cases 1 --no-extrap",
    "simulated_sweep": "--largest 4",
    "startup": "--repetitions 1",
    "timeline": "--locations 4 --records 2000 --windows 3 --no-browser --no-peers",
    "trace_analysis": "--locations 4 --requests 400 --causes --json",
    "trace_causes": "--traces 2",
    "trace_explorer": "--locations 8 --paths 8 --partners 2 --repeat 1",
}


SIMULATED = {
    "known_algorithms": "star --few --out OUT/known.csv",
    "simulated_truths": "OUT --largest 64 --truths 1",
    "srumma": "scaling --least 4 --most 4 --n 64",
}
MEASURED = {
    "library_switches": "--mpi MPICC --budget 0.3 --runs 1 --limits 1",
    "named_messages": "MPICC -n 4 --sizes 8",
    "peers": "--intel /nowhere/mpicc --mpich MPICC --launches 2 --tries 1 --reps 50",
}


def run(name: str, words: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"benchmarks/{name}.py", *words]
    env = {**os.environ, **more}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs(name: str) -> None:
    assert run(name, SMALL[name].split()).stdout.strip()


def test_messages_alone_predict_collectives_in_virtual_time() -> None:
    assert "MPICH: median 0.0" in run("collective_predictions", ["--virtual"]).stdout


@needs_simgrid
@pytest.mark.parametrize("name", SIMULATED)
def test_a_benchmark_simulates(name: str, tmp_path: Path) -> None:
    assert run(name, SIMULATED[name].replace("OUT", str(tmp_path)).split()).stdout.strip()
    if ".csv" in SIMULATED[name]:
        assert len(next(tmp_path.glob("*.csv")).read_text().splitlines()) > 1


@pytest.mark.mpi
@pytest.mark.parametrize("name", MEASURED)
def test_a_benchmark_measures(name: str) -> None:
    mpi = find()
    done = run(name, MEASURED[name].replace("MPICC", mpi.mpicc).split(), **environment(mpi))
    assert done.stdout.strip()
    if name == "peers":
        assert done.stderr.startswith("left out: ")


@pytest.mark.mpi
def test_masters_and_messages_are_measured(tmp_path: Path) -> None:
    find()
    few = (
        "--processes 2 --variants Waitany --unit-sizes 64 --work-us 0 --units 2 --runs 1 --reps 5 --what latency --message-reps 5"
    )
    done = run("measure_patterns", ["--out", str(tmp_path), *few.split()])
    assert "-messages: 1 of 1" in done.stdout


@pytest.mark.mpi
def test_substitutes_are_measured_and_filed(tmp_path: Path) -> None:
    find()
    few = "--sizes 8 --processes 2 --ops MPI_Gather,Gather_send_recv --runs 1 --reps 5 --min-reps 5 --clock virtual"
    places = ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
    assert "MPI_Gather" in run("measure_substitutes", [*places, *few.split()]).stdout


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
def test_the_app_is_timed_in_a_browser() -> None:
    few = "--starts 1 --edits 3 --functions 1 --kernels 1 --no-peer"
    done = run("ui", few.split())
    assert "1 functions, scalkit " in done.stdout
    assert "1 kernels: " in done.stdout
