"""The lines that a user writes first run as they stand, and a wrong call gets one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import ScalkitError
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.verdict import Verdict
from scalkit.measure import write_netcdf

P = [2, 4, 8, 16, 32, 64, 128]
TIMES = [1.0, 2.1, 3.0, 3.9, 5.1, 6.0, 7.0]


@pytest.fixture(scope="module")
def data() -> xr.Dataset:
    return sk.measurements(P, TIMES, name="MPI_Bcast", unit="us")


@pytest.fixture(scope="module")
def over_two() -> xr.Dataset:
    points = [(n, m) for n in (2, 4, 8, 16, 32) for m in (1, 2, 4, 8, 16)]
    return sk.measurements(points, [1e-6 * n * m for n, m in points], ("n", "m"), name="f")


def test_members_of_a_verdict_are_few() -> None:
    for kind in (Verdict, SeveralVerdict):
        fields = set(kind.__dataclass_fields__)
        members = {name for name in dir(kind) if not name.startswith("_")} | fields
        assert len(members) <= 30, sorted(members)


def test_measurements_come_in_any_form(data, tmp_path: Path) -> None:
    path = write_netcdf(data, tmp_path / "run.nc")
    columns = {"p": P, "time": 1e-6 * np.array(TIMES)}
    result = sk.validate(data, "log p")
    for form in (tmp_path / "run.nc", str(tmp_path / "run.nc"), [tmp_path / "run.nc"], result):
        again = sk.validate(form, "log p")
        assert again["MPI_Bcast"].sentence == result["MPI_Bcast"].sentence, path
    for table in (pd.DataFrame(columns), columns):
        (verdict,) = sk.validate(table, "log p")
        assert verdict.answer == "fine"
        assert str(verdict.model.growth) == "log(p)"


def test_a_result_and_a_verdict(data) -> None:
    r = sk.validate(data, "log p")
    assert repr(r) == "<Validation: no problem: 1 fine>"
    v = r["MPI_Bcast"]
    assert v.answer == "fine"
    assert v.sentence.startswith("MPI_Bcast grows as claimed, log(p); anything faster than ")
    assert str(v.model.growth) == "log(p)"
    assert float(v.model(4096)) == pytest.approx(12e-6, rel=0.05)
    assert str(v.divergence) == "1"
    assert v.interval(4096).shape == (2,)
    np.testing.assert_array_equal(v.interval(4096), v.interval(p=4096))
    assert float(v.model(p=4096)) == float(v.model(4096))


def test_what_is_given_is_plotted(data, over_two, tmp_path: Path) -> None:
    r = sk.validate(data, "log p")
    v = r["MPI_Bcast"]
    write_netcdf(data, tmp_path / "run.nc")
    table = {"function": ["MPI_Bcast"] * len(P), "p": P, "time": TIMES}
    subjects = (r, v, v.along(), sk.Session(r), data, tmp_path / "run.nc", table, pd.DataFrame(table))
    for figure in (r.plot(), v.plot(), *map(sk.plot, subjects)):
        assert isinstance(figure, go.Figure)
        assert "MPI_Bcast" in figure.layout.meta["alt"]
    r2 = sk.validate(over_two, {"f": "n*m"})
    assert r2["f"].interval(n=100, m=10).shape == (2,)
    assert isinstance(r2["f"].along("n").plot(), go.Figure)
    assert isinstance(sk.plot(over_two), go.Figure)


def test_the_app_takes_what_a_session_takes(data) -> None:
    r = sk.validate(data, "log p")
    for app in (sk.explore(data, "log p"), sk.explore(r), sk.explore(sk.Session(r))):
        assert isinstance(app, sk.widgets.Explorer)
        app.close()
    assert sk.Session(data, "log p").result["MPI_Bcast"].sentence == r["MPI_Bcast"].sentence


def test_a_result_and_data_are_reported(data, tmp_path: Path) -> None:
    r = sk.validate(data, "log p")
    for name, given in {"result.html": (r,), "data.html": (data, "log p")}.items():
        sk.report(*given, tmp_path / name)
        assert r["MPI_Bcast"].sentence in (tmp_path / name).read_text(encoding="utf-8")


def test_a_check_prints_only_when_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = sk.check(sorted, "n log n", setup=lambda n: list(range(n)), n=[100, 200, 400, 800, 1600], budget=2)
    assert capsys.readouterr().out == ""
    assert found.answer in ("fix", "cannot tell", "fine")
    assert "n*log(n)" in repr(found)


def test_growths_and_expectations() -> None:
    assert sk.Growth("n log n") * "n" == sk.Growth("n^2*log(n)")
    assert sk.Growth("n log n") / "n" == sk.Growth("log(n)")
    assert "n" * sk.Growth("log n") == sk.Growth("n log n")
    assert sk.Expectation("n log n") >= "n"
    assert not sk.Expectation("n") > sk.Expectation("n")
    assert sk.Growth("n") < "n log n"


def test_a_baseline(data) -> None:
    baseline = sk.Baseline(sk.validate(data, "log p"))
    slower = sk.measurements(P, [2 * t for t in TIMES], name="MPI_Bcast", unit="us")
    compared = sk.validate(slower, baseline)
    assert compared.comparison is not None
    assert [change.kind for change in compared.comparison] == ["factor"]


def test_packages_load_when_they_are_first_used() -> None:
    code = (
        "import sys, scalkit as sk\n"
        "names = ['trace', 'bench', 'store', 'perfmodels', 'guidelines', 'plots', 'widgets']\n"
        "assert not [n for n in names if f'scalkit.{n}' in sys.modules]\n"
        "print([getattr(sk, name).__name__ for name in names])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'scalkit.trace'" in done.stdout


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda v: v.interval(p=64), "there is no parameter 'p'; give a value of n."),
        (lambda v: v.model(p=64), "there is no parameter 'p'; give a value of n."),
        (lambda v: v.interval(), "a value of 'n' is missing; give values of n."),
        (lambda v: v.interval(-3), "the setting n = -3 is not positive and finite; ask for others."),
        (lambda v: v.model("x"), "'x' is no setting of n; give a number, or an array of them."),
        (lambda v: v.along("p"), "there is no verdict along 'p'; choose one of n."),
        (
            lambda _: sk.plot(3),
            "3 cannot be plotted; what can be: measurements (a path, a DataFrame, a dict of arrays or a Dataset), ",
        ),
        (lambda _: sk.Baseline(3), "a baseline is made of a result of scalkit.validate, got int; "),
        (lambda _: sk.validate({"p": [1, 2], "time": [1]}, "p"), "the columns p, time are no table: "),
        (lambda _: sk.validate("nowhere.json", "p"), "there are no measurements at 'nowhere.json'; "),
        (lambda _: sk.validate(7, "p"), "7 holds no measurements; give a path, a Dataset, "),
    ],
)
def test_a_wrong_call_gets_one_sentence(call: Callable[[Verdict], object], sentence: str) -> None:
    data = sk.measurements(P, TIMES, parameter="n", name="f", unit="us")
    with pytest.raises(ScalkitError) as caught:
        call(sk.validate(data, "log n")["f"])
    assert str(caught.value).startswith(sentence)
