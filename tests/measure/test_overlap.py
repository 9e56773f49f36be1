"""The share of a non-blocking operation that work beside it hides, from the raw repetitions of a run file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from run_records import cell, env

from scalkit.formats.read import read

NAME = "MPI_Ibcast[overlap]"


def dataset(write, both: tuple[int, ...], pure: list[int], work: list[int]):  # type: ignore[no-untyped-def]
    path: Path = write(env(), cell(NAME, t_ns=both, pure_ns=pure, work_ns=work), cell(t_ns=both))
    return read(path)


@pytest.mark.parametrize(("both", "share"), [(100, 1.0), (150, 0.5), (200, 0.0), (260, 0.0), (80, 1.0)])
def test_share(write, both: int, share: float) -> None:  # type: ignore[no-untyped-def]
    ds = dataset(write, (both,) * 5, [100] * 10, [100] * 10)
    at = {"function": NAME, "p": 4}
    assert ds["overlap"].sel(at).item() == pytest.approx(share)
    assert ds["time_pure"].sel(at).item() == pytest.approx(1e-7)
    assert ds["time_work"].sel(at).item() == pytest.approx(1e-7)
    assert ds["overlap"].attrs == {"role": "detail", "units": "1"}
    assert np.isnan(ds["overlap"].sel(function="MPI_Bcast").item())


def test_without_its_parts_there_is_no_share(write) -> None:  # type: ignore[no-untyped-def]
    assert "overlap" not in dataset(write, (100,) * 5, [], [])
