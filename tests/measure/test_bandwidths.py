"""Bandwidth and rate of messages of windows, from the records of a run file."""

from __future__ import annotations

import pytest
from run_records import cell, env

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.measure.processes import bandwidths

NAME = "Mbw_mr[x64]"


def test_all_messages_over_the_first_quartile(write) -> None:  # type: ignore[no-untyped-def]
    ds = read(write(env(), cell(NAME, t_ns=(1000, 2000, 2000, 2000, 9000), messages=128, size_B=8), cell()))
    at = {"function": NAME, "p": 4}
    assert ds["bandwidth"].sel(at).item() == pytest.approx(128 * 8 / 2e-6)
    assert ds["message_rate"].sel(at).item() == pytest.approx(128 / 2e-6)
    assert [ds[name].attrs["units"] for name in ("bandwidth", "message_rate")] == ["B/s", "1/s"]
    assert bandwidths(ds) == [(NAME, "p = 4", "512 MB/s", "64.0 M/s")]


def test_none_without_windows(write) -> None:  # type: ignore[no-untyped-def]
    ds = read(write(env(), cell()))
    assert "bandwidth" not in ds
    assert bandwidths(ds) == []


def test_a_number_of_messages_that_is_none(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=r"messages"):
        read(write(env(), cell(NAME, messages="many")))
