"""A working MPI library, a cache of their own, and launchers with faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.errors import BuildError, LaunchError
from scalkit.native import cache_folder


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a cache with libraries and machines of its own; what is compiled is that of all tests."""
    cache = tmp_path_factory.mktemp("cache")
    compiled = cache_folder()
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
