"""What tests of guidelines share: the MPI library of this machine."""

from __future__ import annotations

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.errors import BuildError, LaunchError


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    try:
        return find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(str(error))
