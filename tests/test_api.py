"""The lines that a user writes first run as they stand, and a wrong call gets one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ScalkitError, UsageError
from scalkit.judge import Validation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.verdict import Verdict
from scalkit.measure import write_netcdf

P = [2, 4, 8, 16, 32, 64, 128]
TIMES = [1.0, 2.1, 3.0, 3.9, 5.1, 6.0, 7.0]


@pytest.fixture(scope="module")
def data() -> xr.Dataset:
    return sk.measurements(P, TIMES, name="MPI_Bcast", unit="us")


FORMS = ("path", "paths", "Dataset", "DataFrame", "dict", "result")


@pytest.fixture(scope="module", params=FORMS)
def given(request: pytest.FixtureRequest, data: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the same measurements in every form that is taken."""
    path = tmp_path_factory.mktemp("runs") / "run.nc"
    columns = {"function": ["MPI_Bcast"] * len(P), "p": P, "time": 1e-6 * np.array(TIMES)}
    makers: dict[str, Callable[[], Any]] = {
        "path": lambda: write_netcdf(data, path) or path,
        "paths": lambda: [write_netcdf(data, path) or str(path)],
        "Dataset": lambda: data,
        "DataFrame": lambda: pd.DataFrame(columns),
        "dict": lambda: columns,
        "result": lambda: sk.validate(data, "1"),
    }
    return makers[request.param]()


@pytest.fixture(scope="module")
def baseline(data: xr.Dataset) -> sk.Baseline:
    return sk.Baseline(sk.validate(data.assign(time=data["time"] / 2), "log p"))


@pytest.fixture(scope="module")
def check() -> Validation:
    """Return a check as `sk.check` makes it."""
    return sk.check(sorted, "n log n", setup=lambda n: list(range(n)), n=[100, 200, 400, 800, 1600], budget=1)


@pytest.fixture(scope="module")
def over_two() -> xr.Dataset:
    points = [(n, m) for n in (2, 4, 8, 16, 32) for m in (1, 2, 4, 8, 16)]
    return sk.measurements(points, [1e-6 * n * m for n, m in points], ("n", "m"), name="f")


def test_members_of_a_verdict_are_few() -> None:
    for kind in (Verdict, SeveralVerdict):
        fields = set(kind.__dataclass_fields__)
        members = {name for name in dir(kind) if not name.startswith("_")} | fields
        assert len(members) <= 30, sorted(members)


def opened(*given: Any, **options: Any) -> Validation:
    """Return the result that the app shows; the same as that of a session."""
    app = sk.explore(*given, **options)
    assert isinstance(app, sk.widgets.Explorer)
    assert app.result.headline == sk.Session(*given, **options).result.headline
    app.close()
    return app.result


def reported(*given: Any, **options: Any) -> str:
    return Path(sk.report(*given, **options).html).read_text(encoding="utf-8")


def test_measurements_come_in_any_form(given, data, baseline) -> None:
    sentence = sk.validate(data, "log p")["MPI_Bcast"].sentence
    r = sk.validate(given, "log p")
    assert r["MPI_Bcast"].sentence == sentence
    assert "MPI_Bcast" in sk.plot(given).layout.meta["alt"]
    compared = sk.validate(given, baseline)
    assert [change.kind for change in compared.comparison] == ["factor"]
    assert sk.Baseline(r)["MPI_Bcast", "time"].model == r["MPI_Bcast"].model
    of_app = opened(given) if isinstance(given, Validation) else opened(given, "log p")
    assert of_app["MPI_Bcast"].expectation.growth == sk.Growth("1" if isinstance(given, Validation) else "log p")
    for shown in (opened(compared), *([] if isinstance(given, Validation) else [opened(given, baseline)])):
        assert shown.comparison.headline == compared.comparison.headline
        assert shown["MPI_Bcast"].sentence == compared["MPI_Bcast"].sentence


def test_measurements_in_any_form_are_reported(given, tmp_path: Path) -> None:
    if isinstance(given, Validation):
        assert given["MPI_Bcast"].sentence in reported(given, tmp_path / "r.html")
    else:
        sentence = sk.validate(given, "log p")["MPI_Bcast"].sentence
        assert sentence in reported(given, "log p", tmp_path / "r.html")


def test_what_changed_since_a_baseline_is_reported(data, baseline, tmp_path: Path) -> None:
    columns = {"function": ["MPI_Bcast"] * len(P), "p": P, "time": 1e-6 * np.array(TIMES)}
    compared = sk.validate(data, baseline)
    earlier = sk.validate(data.assign(time=data["time"] / 2), "log p")
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((compared,), {}),
        ((columns, baseline), {}),
        ((data, "log p"), {"baseline": baseline}),
        ((sk.validate(data, "log p"),), {"baseline": earlier}),
    ]
    for number, (given, options) in enumerate(calls):
        page = reported(*given, tmp_path / f"{number}.html", **options)
        assert compared.comparison["MPI_Bcast", "time"].sentence.split(";")[0] in page, number
        assert compared["MPI_Bcast"].answer == "fix", number
        # A result keeps the session that it had, which knew of no baseline.
        kept = "fine" if isinstance(given[0], type(compared)) and "baseline" in options else "fix"
        assert sk.Session.load(tmp_path / f"{number}.html").result["MPI_Bcast"].answer == kept, number
    with pytest.raises(UsageError, match="the expectations are a baseline already; leave baseline= out"):
        sk.report(data, baseline, tmp_path / "r.html", baseline=earlier)


def test_data_sets_by_label_are_compared(data, tmp_path: Path) -> None:
    columns = {"function": ["MPI_Bcast"] * len(P), "p": P, "time": 1e-6 * np.array(TIMES)}
    given = {"old": columns, "new": data, "newest": sk.validate(data, "log p")}
    page = reported(given, {"MPI_Bcast": "log p"}, tmp_path / "r.html")
    assert "<title>old, new and newest compared</title>" in page
    with pytest.raises(DataError, match=r"^there are several data sets, old, new, newest; give one of them"):
        sk.explore({"old": data, "new": data, "newest": data}, "log p")


def test_a_check_is_a_result(check, tmp_path: Path) -> None:
    again = sk.validate(check, "n log n")
    assert again["sorted"].model == check["sorted"].model
    assert "sorted" in sk.plot(check).layout.meta["alt"]
    assert check.plot() == sk.plot(check)
    assert opened(check).headline == check.headline
    assert sk.validate(check, sk.Baseline(check)).comparison.of("same")
    assert check["sorted"].sentence in reported(check, tmp_path / "r.html")


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_a_table_is_taken_over_several_parameters(over_two, form, tmp_path: Path) -> None:
    columns = over_two["time"].isel(function=0, run=0, repetition=0).to_series().dropna().reset_index()
    table = form({"function": ["f"] * 25, **{name: columns[name] for name in ("n", "m", "time")}})
    how: dict[str, Any] = {"parameter": ["n", "m"]}
    for result in (sk.validate(table, {"f": "n*m"}, **how), opened(table, {"f": "n*m"}, **how)):
        assert result["f"].parameters == ("n", "m")
    page = reported(table, {"f": "n*m"}, tmp_path / "r.html", **how)
    assert sk.Session.load(tmp_path / "r.html").parameters == ("n", "m"), page[:100]


def test_a_result_and_a_verdict(data) -> None:
    r = sk.validate(data, "log p")
    assert repr(r).splitlines()[1].startswith("✓ fine  MPI_Bcast  time    log(p) ")
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


def test_the_app_takes_a_session(data) -> None:
    session = sk.Session(data, "log p")
    app = sk.explore(session)
    assert app.session is session
    app.close()


def test_a_check_prints_only_when_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = sk.check(sorted, "n log n", setup=lambda n: list(range(n)), n=[100, 200, 400, 800, 1600], budget=2)
    assert capsys.readouterr().out == ""
    assert found.answer in ("fix", "cannot tell", "fine")
    assert "n*log(n)" in repr(found)
    assert "<svg" in found._repr_html_()


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
