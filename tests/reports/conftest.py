"""Data for reports: a function with a hostile name, variants, caveats, one function without an expectation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.measure import combine, write_netcdf
from scalkit.reports.inputs import plain_expectations
from scalkit.reports.pages.verdicts import Page, open_verdicts

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def data() -> xr.Dataset:
    p = np.array([2, 4, 8, 16, 32])
    noise = 1 + 0.02 * np.abs(np.random.default_rng(5).normal(size=(5, 4)))
    log, linear = np.log2(p)[:, None], p[:, None].astype(float)
    sets = [sk.measurements(p, y, metric="object_memory", unit="B", name=name) for name, y in _bytes(p).items()]
    sets += [
        sk.measurements(p, 3e-6 * log * noise, name="MPI_Bcast"),
        sk.measurements(p, 2e-6 * linear * noise, name="MPI_Reduce"),
        sk.measurements(p, 9e-6 * linear * noise, name="MPI_Allreduce"),
        sk.measurements(p, 1e-6 * linear * noise, name="MPI_Scan"),
    ]
    crowded = ("p", p > 4)
    attrs = {"measured_on": "node<1>", "mpi_library": "MPICH Version:      4.3.1\nrest", "message_size_B": 8}
    joined = combine(sets).assign_coords(oversubscribed=crowded)
    return joined.assign_attrs(attrs)


def _bytes(p: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "MPI_Comm_create": 500 + 8.0 * p,
        "MPI_Comm_create[random]": 500 + 16.0 * p,
        "MPI_Comm_dup": 256 + 8.0 * p,
        HOSTILE: 512 + 0.0 * p,
    }


@pytest.fixture(scope="session")
def expectations() -> dict[str, object]:
    times = {name: {"expectation": "log(p)", "deviation": "p^(1/2)"} for name in ("MPI_Bcast", "MPI_Reduce")}
    return {**times, "MPI_Allreduce": "p", "MPI_Comm_create": "p", "MPI_Comm_dup": "1", HOSTILE: "1", "MPI_Win": "p"}


@pytest.fixture(scope="session")
def rules() -> list[str]:
    return ["MPI_Allreduce <= MPI_Reduce + MPI_Bcast", "MPI_Reduce <= MPI_Win"]


@pytest.fixture(scope="session")
def page(data: xr.Dataset, expectations: dict[str, object], rules: list[str], tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("data") / "measured <b>.nc"
    write_netcdf(data, path)
    return open_verdicts([str(path)], plain_expectations(expectations), rules=rules)


@pytest.fixture(scope="session")
def measured(data: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "measured.nc"
    write_netcdf(data, path)
    return path
