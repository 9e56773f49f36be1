"""The MPI library, looked for once, and the comparison with the truth that the benchmark uses."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from onesided import Simulator
from scalkit.bench import Mpi, find_mpi
from scalkit.errors import BuildError, LaunchError

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))


@pytest.fixture(scope="session")
def mpi() -> Mpi:
    try:
        found = find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")
    if found.kind != "MPICH":
        pytest.skip("the variables that choose the transport are those of MPICH")
    return found


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    if shutil.which("smpicc") is None:
        pytest.skip("needs SimGrid's smpicc (make system-deps)")
    return Simulator()
