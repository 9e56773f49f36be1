"""Starts scalkit, and programs, as ranks of an MPI program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.errors import BuildError, LaunchError


def find() -> Mpi:
    """Return the MPI library of this machine."""
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    try:
        return find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")


def environment(mpi: Mpi, **more: str) -> dict[str, str]:
    """Return the variables of a launch; mpi4py takes the library of the launcher, not the first that it finds."""
    folder = Path(mpi.mpicc).parents[1] / "lib"
    libraries = [str(path) for number in (12, 40) if (path := folder / f"libmpi.so.{number}").exists()]
    found = {"MPI4PY_LIBMPI": libraries[0]} if libraries else {}
    return {**os.environ, **found, **settings(mpi.kind, library=mpi.library, oversubscribed=True), **more}


def launch(mpi: Mpi, n: int, program: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program on `n` ranks."""
    command = mpi.command(n, program, *words, forward=more)
    given = environment(mpi, **more)
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=100, check=False)


def scalkit(mpi: Mpi, n: int, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``scalkit trace`` on `n` ranks."""
    return launch(mpi, n, sys.executable, "-m", "scalkit.cli", "trace", *words, **more)
