"""Tidy pandas DataFrames, and units of metrics that are named as quantities."""

from __future__ import annotations

import pandas as pd
import pytest

import scalkit as sk
from scalkit.judge.expectation import sure_match

P = [2, 4, 8, 16, 32]


def tidy() -> pd.DataFrame:
    rows = [
        {"function": name, "p": p, "run": run, "time [us]": (2.0 + p * (name == "solve")) * (1 + 0.01 * run)}
        for name in ("bcast", "solve")
        for p in P
        for run in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_a_tidy_frame() -> None:
    ds = sk.read(tidy())
    assert ds["function"].values.tolist() == ["bcast", "solve"]
    assert (ds.attrs["parameter"], ds.sizes["run"]) == ("p", 2)
    assert float(ds["time"].sel(function="solve", p=32, run=0).squeeze()) == pytest.approx(34e-6)


def test_the_parameter_can_be_named() -> None:
    frame = tidy().rename(columns={"p": "memory_GB"})
    assert sk.read(frame, parameter="memory_GB").attrs["parameter"] == "memory_GB"


@pytest.mark.parametrize(("metric", "unit"), [("bytes", "B"), ("memory", "B"), ("sent_bytes", "B"), ("latency", "s")])
def test_bytes_are_bytes_without_being_told(metric: str, unit: str) -> None:
    ds = sk.measurements(P, [8 * p for p in P], metric=metric)
    assert ds[metric].attrs["units"] == unit
    verdict = sk.validate(ds, {"f": "p"})["f"]
    assert (verdict.metric, sure_match(verdict.probability)) == (metric, "total")
    assert unit in str(verdict.model)


def test_bytes_of_a_frame() -> None:
    frame = pd.DataFrame({"p": P, "bytes": [8 * p for p in P]})
    ds = sk.read(frame)
    assert ds["bytes"].attrs["units"] == "B"
    assert ds.attrs["parameter"] == "p"
