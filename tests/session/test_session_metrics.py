"""A session expects something of single metrics; its file, its code and its expectations come to the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from session_data import executed

import scalkit as sk
from scalkit.judge.expectation import sure_match
from scalkit.measure import combine

P = 2.0 ** np.arange(2, 9)


@pytest.fixture
def data() -> xr.Dataset:
    parts = {
        ("f", "time"): 1e-6 * (2 + 3 * np.log2(P)),
        ("f", "visits"): 2 * P,
        ("g", "time"): 1e-6 * P,
        ("g", "visits"): 7 + 0 * P,
    }
    return combine(
        [
            sk.measurements(P, y, metric=metric, unit="s" if metric == "time" else "1", name=function)
            for (function, metric), y in parts.items()
        ]
    )


def judged(session: sk.Session) -> dict[tuple[str, str], str]:
    return {(v.function, v.metric): str(v.expectation.growth) for v in session.result}


def test_what_is_expected_of_a_metric_leaves_the_others_alone(data: xr.Dataset) -> None:
    session = sk.Session(data, {"f": "log(p)", "g": "p"})
    assert judged(session) == {("f", "time"): "log(p)", ("g", "time"): "p"}
    session.select("f", "visits")
    assert session.problem == "visits of f has no expectation; write one, for example log(p)."
    session.expect("p").add_tick("p^(9/8)")
    assert judged(session) == {("f", "time"): "log(p)", ("f", "visits"): "p", ("g", "time"): "p"}
    assert session.history == ("expect p of f (visits)", "add tick p^(9/8)")
    assert "p^(9/8)" in map(str, session.spaces["p"].ticks)
    session.select("f", "time")
    assert "p^(9/8)" not in map(str, session.spaces["p"].ticks)
    assert session.undo().undo().result.unexpected == ("f (visits)", "g (visits)")


@pytest.mark.parametrize(
    "expectations", [{"f": "log(p)", "g": "p"}, {"f": {"time": "log(p)", "visits": "1"}, "g": {"visits": "1"}}]
)
def test_the_file_and_the_code_come_to_the_same(data: xr.Dataset, expectations: Any, tmp_path: Path) -> None:
    session = sk.Session(data, expectations)
    session.select("f", "visits").expect("p*log(p)").remove_tick("p^2").exclude(4)
    session.select("f", "time").expect("p", "p^(1/4)")
    session.select("g", "visits").expect("1").add_tick("p^(1/8)")

    path = tmp_path / "s.json"
    session.save(path, with_data=True)
    again = sk.Session.load(path)
    assert again.state == session.state
    assert again.result.to_json() == session.result.to_json()

    other, _ = executed(again.as_code(), data)
    assert other.state == session.state
    assert other.selected == session.selected


def test_what_it_expects_is_a_file_that_validate_takes(data: xr.Dataset, tmp_path: Path) -> None:
    session = sk.Session(data, {"f": {"time": "log(p)", "visits": "1"}, "g": "p"})
    session.select("f", "visits").expect("p").select("g", "visits").expect("1").add_tick("p^(1/8)")
    path = tmp_path / "e.toml"
    session.save_expectations(path)
    result = sk.validate(data, path)
    assert judged(session) == {(v.function, v.metric): str(v.expectation.growth) for v in result}
    assert [sure_match(v.probability) for v in result] == [sure_match(v.probability) for v in session.result]
