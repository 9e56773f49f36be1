"""A working MPI library, a cache of their own, and launchers with faults."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from scalkit.bench import Mpi, find_mpi, process
from scalkit.errors import BuildError, LaunchError
from scalkit.support.native import cache_folder


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a cache with libraries and machines of its own; what is compiled is that of all tests."""
    cache = tmp_path_factory.mktemp("cache")
    compiled = cache_folder("native")
    compiled.mkdir(parents=True, exist_ok=True)
    (cache / "scalkit").mkdir()
    (cache / "scalkit" / compiled.name).symlink_to(compiled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield cache


@pytest.fixture(scope="session")
def mpi(own_cache: Path) -> Mpi:
    try:
        return find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")


@pytest.fixture
def launcher(tmp_path: Path, mpi: Mpi) -> Callable[[str], str]:
    """Return a launcher like the real one ("$real"), which first runs some lines of shell."""

    def make(lines: str) -> str:
        path = tmp_path / "mpiexec"
        path.write_text(f'#!/bin/sh\nreal=\'{mpi.mpiexec}\'\n{lines}\nexec "$real" "$@"\n')
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture
def time_limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Return a function that lets the time limit of a program be over once a file is there, and not before.

    The file is deleted then: programs that follow have their own.
    """
    real = process._waited

    def ends_with(file: Path) -> None:
        def waited(started: subprocess.Popen[bytes], timeout_s: float) -> int:
            wait_until(lambda: file.exists() or started.poll() is not None, str(file))
            if file.exists():
                file.unlink()
                timeout_s = 0.01
            return real(started, timeout_s)

        monkeypatch.setattr(process, "_waited", waited)

    return ends_with
