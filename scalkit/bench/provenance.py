"""What a run file should say about how it came to be, beyond what the program itself can see."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any

from scalkit import __version__
from scalkit.bench.mpi import Mpi, cores
from scalkit.native import Build

__all__ = ["machine", "provenance"]

_FLAGS = ("CFLAGS", "CPPFLAGS", "LDFLAGS", "LD_PRELOAD", "OMP_NUM_THREADS")


def provenance(mpi: Mpi, build: Build, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return compiler, flags, hash of the sources, versions, and the settings that scalkit applied."""
    return {
        "scalkit": __version__,
        "python": platform.python_version(),
        "mpicc": mpi.mpicc,
        "mpicc_show": mpi.show,
        "mpiexec": mpi.mpiexec,
        "launcher": mpi.launcher,
        "sources": build.sources,
        "settings": dict(settings),
        "environment": {name: os.environ[name] for name in _FLAGS if os.environ.get(name)},
    }


def machine() -> dict[str, Any]:
    """Return what is known of this machine: host, system, cores."""
    names = platform.uname()
    return {"host": names.node, "system": f"{names.system} {names.release} {names.machine}", "cores": cores()}
