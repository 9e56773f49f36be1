"""The MPI library, looked for once."""

from __future__ import annotations

import pytest
from launching import find

from scalkit.bench import Mpi


@pytest.fixture(scope="session")
def mpi() -> Mpi:
    return find()
