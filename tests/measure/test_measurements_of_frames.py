"""`measurements` of a tidy pandas DataFrame, and units of metrics that are named as quantities."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import scalkit as sk
from scalkit.errors import DataError
from scalkit.validation.expectation import sure_match

P = [2, 4, 8, 16, 32]


def tidy() -> pd.DataFrame:
    rows = [
        {"function": name, "p": p, "run": run, "time [us]": (2.0 + p * (name == "solve")) * (1 + 0.01 * run)}
        for name in ("bcast", "solve")
        for p in P
        for run in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_a_tidy_frame_is_what_read_makes_of_it() -> None:
    ds = sk.measurements(tidy())
    assert ds["function"].values.tolist() == ["bcast", "solve"]
    assert (ds.attrs["parameter"], ds.sizes["run"]) == ("p", 2)
    assert float(ds["time"].sel(function="solve", p=32, run=0).squeeze()) == pytest.approx(34e-6)
    assert ds.equals(sk.read(tidy()))


def test_columns_can_be_named() -> None:
    frame = tidy().rename(columns={"p": "nodes", "time [us]": "cost"}).assign(load=0.5)
    ds = sk.measurements(frame, parameter="nodes", metric="cost")
    assert ds.attrs["parameter"] == "nodes"
    assert "cost" in ds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"y": [1.0] * 20}, "of a DataFrame the columns say what is measured; leave y out, and name columns as in 'time [us]'."),
        (
            {"unit": "us", "name": "g"},
            "of a DataFrame the columns say what is measured; leave unit, name out, and name columns as in 'time [us]'.",
        ),
    ],
)
def test_what_columns_say_is_no_argument(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(said)}$"):
        sk.measurements(tidy(), **given)


def test_settings_alone_are_no_measurements() -> None:
    said = "measurements needs the values y beside the settings x; or a pandas DataFrame alone."
    with pytest.raises(DataError, match=f"^{re.escape(said)}$"):
        sk.measurements(P)


@pytest.mark.parametrize(("metric", "unit"), [("bytes", "B"), ("memory", "B"), ("sent_bytes", "B"), ("latency", "s")])
def test_bytes_are_bytes_without_being_told(metric: str, unit: str) -> None:
    ds = sk.measurements(P, [8 * p for p in P], metric=metric)
    assert ds[metric].attrs["units"] == unit
    verdict = sk.validate(ds, {"f": "p"})["f"]
    assert (verdict.metric, sure_match(verdict.probability)) == (metric, "total")
    assert unit in str(verdict.model)


def test_bytes_of_a_frame() -> None:
    frame = pd.DataFrame({"p": P, "bytes": [8 * p for p in P]})
    for ds in (sk.measurements(frame, metric="bytes"), sk.read(frame)):
        assert ds["bytes"].attrs["units"] == "B"
        assert ds.attrs["parameter"] == "p"
