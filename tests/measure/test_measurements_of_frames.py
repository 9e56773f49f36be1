"""Tidy pandas DataFrames, and units of metrics that are named as quantities."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.judge.expectation import sure_match
from scalkit.judge.validating import parameters_named

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


def over_two(value: str = "f") -> dict[str, list[float]]:
    points = [(float(n), float(m)) for n in (100, 200, 400, 800, 1600) for m in (10, 20, 40, 80, 160)]
    n, m = zip(*points, strict=True)
    return {"n": list(n), "m": list(m), value: [1e-6 + 1e-8 * a * b for a, b in points]}


@pytest.mark.parametrize("value", ["f", "time"])
@pytest.mark.parametrize("kind", ["dict", "DataFrame", "Dataset", "CSV"])
def test_the_expectation_names_the_parameters(kind: str, value: str, tmp_path: Path) -> None:
    columns = over_two(value)
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "f.csv", index=False)
    plain = frame.set_index(["n", "m"]).to_xarray()
    data = {"dict": columns, "DataFrame": frame, "Dataset": plain, "CSV": tmp_path / "f.csv"}[kind]
    verdict = sk.validate(data, {"f": "n*m"})["f"]
    assert (verdict.answer, verdict.interval(n=100, m=10).shape) == ("fine", (2,))
    assert set(verdict.model.parameters) == {"n", "m"}
    along_m = sk.validate(data, {"f": "m"})
    assert [v.function for v in along_m] == ["f[n=100]", "f[n=200]", "f[n=400]", "f[n=800]", "f[n=1600]"]
    assert {v.answer for v in along_m} == {"fine"}


def test_what_an_expectation_names_and_no_column_has() -> None:
    with pytest.raises(ExpectationError, match="the expectation 'n\\*q' is in terms of n and q, the data in terms of 'n' alone"):
        sk.validate(over_two(), {"f": "n*q"})
    # A parameter with a single value stays a setting.
    columns = {"n": [1, 2, 4, 8, 16], "p": [4] * 5, "f": [1.5, 2.5, 4.5, 8.5, 16.5]}
    assert sk.read(columns).attrs["parameter"] == "n"
    (verdict,) = sk.validate(columns, "n")
    assert verdict.answer == "fine"


def test_parameters_named_by_expectations() -> None:
    assert parameters_named("n*m") == {"n", "m"}
    assert parameters_named({"f": "log(p) + S", "g": {"time": "1"}}) == {"p", "S"}
    assert parameters_named("mpi") == {"p"}
    assert parameters_named("linear") == parameters_named("no file") - {"no", "file"} == frozenset()
    assert parameters_named({"f": "fac(p)"}) == frozenset()


def test_expectations_of_functions_that_were_not_measured_choose_no_parameter() -> None:
    result = sk.validate(over_two(), {"f": "n*m", "h": "p", "g": "k"})
    assert (result["f"].answer, result.missing) == ("fine", ("h", "g"))
    # A constant names no parameter, and h is not there to choose one.
    constant = sk.validate({**over_two("time")}, {"f": "1", "h": "m"})
    assert {v.parameters for v in constant} == {("n",)}
    both = {**over_two(), "g": [x + 0.5 for x in over_two()["f"]]}
    with pytest.raises(ExpectationError, match="the expectation 'k\\*n' is in terms of k and n"):
        sk.validate(both, {"f": "n", "g": "n*k"})


def test_a_parameter_that_was_not_read_is_named() -> None:
    session = sk.Session(over_two(), "n")
    with pytest.raises(ExpectationError, match=r"read the data over n and m: parameter=\['n', 'm'\] \(--parameter n,m\)\.$"):
        session.expect("n*m")
