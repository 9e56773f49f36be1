"""A validation with every kind of verdict, made from growth formulas: only the drawing is under test."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.judge import Validation
from scalkit.measure import combine

HOSTILE = "<b>bold</b><a href='x'>%{x}</a>&lt;"
P = np.array([2, 4, 8, 16, 32, 64])


@pytest.fixture(scope="session")
def data() -> xr.Dataset:
    noise = 1 + 0.02 * np.abs(np.random.default_rng(11).normal(size=(6, 5)))
    log, p = np.log2(P)[:, None], P[:, None].astype(float)
    times = {
        "MPI_Bcast": 3e-6 * log * noise,
        "MPI_Reduce": 4e-6 * p * log * noise,
        "MPI_Allreduce": 5e-6 * np.sqrt(p) * noise,
        "MPI_Alltoall": 1e-6 * p ** (1 / 3) * noise,
        HOSTILE: 2e-6 * log * noise,
    }
    sets = [sk.measurements(P, y, name=name) for name, y in times.items()]
    sets += [
        sk.measurements(P, 256 + 8.0 * P, metric="object_memory", unit="B", name="MPI_Comm_dup"),
        sk.measurements(P, 512 + 0.0 * P, metric="object_memory", unit="B", name="MPI_Comm_create"),
        sk.measurements(P, 512 + 0.0 * P, metric="object_memory", unit="B", name="MPI_Comm_create[random]"),
    ]
    return combine(sets)


@pytest.fixture(scope="session")
def result(data: xr.Dataset) -> Validation:
    wide = {"deviation": "p^(1/2)"}
    expectations = {
        "MPI_Bcast": {"expectation": "log(p)", **wide},
        "MPI_Reduce": {"expectation": "log(p)", **wide},
        "MPI_Allreduce": {"expectation": "log(p)", **wide},
        "MPI_Alltoall": {"expectation": "p*log(p)", **wide},
        HOSTILE: {"expectation": "log(p)", **wide},
        "MPI_Comm_dup": "1",
        "MPI_Comm_create": "1",
        "MPI_Comm_create[random]": "1",
    }
    return sk.validate(data, expectations, rules=["MPI_Allreduce <= MPI_Reduce + MPI_Bcast", "MPI_Reduce <= MPI_Bcast"])
