"""Starts scalkit, and programs, as ranks of an MPI program."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import PROBE, settings
from scalkit.errors import BuildError, LaunchError
from scalkit.support.native import build


def find() -> Mpi:
    """Return the MPI library of this machine."""
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    try:
        return find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")


@functools.cache
def shared_library(mpicc: str) -> str:
    """Return the path of the library that programs of a compiler load, as /usr/lib/x86_64-linux-gnu/libmpich.so.12."""
    program = build(PROBE, mpicc).program("probe")
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*libmpi(?:ch)?\.so\S* => (/\S+)", said, re.MULTILINE)[0]


def environment(mpi: Mpi, **more: str) -> dict[str, str]:
    """Return the variables of a launch; mpi4py takes the library of the launcher, not the first that it finds."""
    found = {"MPI4PY_LIBMPI": shared_library(mpi.mpicc)}
    return {**os.environ, **found, **settings(mpi.kind, library=mpi.library, oversubscribed=True), **more}


LINE = r"^-{70,}\n"
BEGINNINGS = r"Primary job  terminated normally, but|\S+ detected that one or more processes exited with non-zero status"
OF_THE_LAUNCHER = re.compile(rf"{LINE}(?:{BEGINNINGS}).*?{LINE}", re.DOTALL | re.MULTILINE)
"""What the launcher of Open MPI says itself of a program whose status is not 0."""


def launch(mpi: Mpi, n: int, program: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program on `n` ranks, and leave out what Open MPI's launcher says of its status."""
    command = mpi.command(n, program, *words, forward=more)
    given = environment(mpi, **more)
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    if mpi.launcher == "Open MPI":
        done.stderr = OF_THE_LAUNCHER.sub("", done.stderr)
    return done


def scalkit(mpi: Mpi, n: int, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``scalkit trace`` on `n` ranks."""
    return launch(mpi, n, sys.executable, "-m", "scalkit", "trace", *words, **more)
