"""Benchmarks that make what they need run, each once, as small as it gets; tests elsewhere run others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from launching import find

ROOT = Path(__file__).resolve().parents[1]

SMALL = {
    "accuracy": "--cases 1 --ranks --no-extrap",
    "algorithm_identification": "",
    "collective_predictions": "",
    "exponentials": "--cases 2",
    "protocol_switches": "--cases 1",
    "several_parameters": "--cases 1 --no-extrap",
    "simulated_sweep": "--largest 4",
    "startup": "--repetitions 1",
    "trace_analysis": "--locations 4 --requests 400 --causes --json",
    "trace_causes": "--traces 2",
}


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs(name: str) -> None:
    words = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *SMALL[name].split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.mpi
def test_masters_and_messages_are_measured(tmp_path: Path) -> None:
    find()
    few = (
        "--processes 2 --variants Waitany --unit-sizes 64 --work-us 0 --units 2 --runs 1 --reps 5 --what latency --message-reps 5"
    )
    words = [sys.executable, "benchmarks/measure_patterns.py", "--out", str(tmp_path), *few.split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "-messages: 1 of 1" in done.stdout


@pytest.mark.mpi
def test_substitutes_are_measured_and_filed(tmp_path: Path) -> None:
    find()
    few = "--sizes 8 --processes 2 --ops MPI_Gather,Gather_send_recv --runs 1 --reps 5 --min-reps 5 --clock virtual"
    places = ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
    words = [sys.executable, "benchmarks/measure_substitutes.py", *places, *few.split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "MPI_Gather" in done.stdout


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("chromium")
def test_the_app_is_timed_in_a_browser() -> None:
    few = "--starts 1 --edits 3 --functions 1 --kernels 1 --no-peer"
    words = [sys.executable, "benchmarks/ui.py", *few.split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "1 functions, scalkit " in done.stdout
    assert "1 kernels: " in done.stdout
