"""Modules that the lessons import: simulated data, published tables, a small campaign or the bundled one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from lessons.measured_here import measure_here
from lessons.paper import evaluate, published_tables
from lessons.simulated import example_search, simulate
from lessons.tables import predictions, resolution
from scalkit.errors import DataError, ExpectationError, UsageError

P = np.array([2, 4, 8, 16, 32])


@pytest.mark.parametrize(
    ("text", "values"), [("16 + 0.56*p", [17.12, 18.24]), ("p", [2, 4]), ("2.2e5", [2.2e5, 2.2e5]), ("1 + 2*p*log(p)", [5, 17])]
)
def test_formulas_have_the_values_that_they_say(text: str, values: list[float]) -> None:
    assert evaluate(text, [2, 4], "p").tolist() == pytest.approx(values)


def test_simulated_data_say_so_and_follow_the_truth() -> None:
    exact = simulate({"f": 5 + P, "g": 0 * P + 2}, P, unit="us")
    assert exact["time"].sel(function="f").min(["run", "repetition"]).values == pytest.approx(5e-6 + 1e-6 * P)
    assert (exact.attrs["simulated"], exact.attrs["title"]) == (1, "simulated, not measured: noise 0, seed 1")
    noisy = simulate({"f": 5 + P}, P, unit="us", noise=0.1, repetitions=200)
    excess = noisy["time"] / exact["time"].sel(function=["f"]).isel(repetition=0) - 1
    assert float(excess.min()) >= 0
    assert float(excess.mean()) == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.1)
    assert noisy.equals(simulate({"f": 5 + P}, P, unit="us", noise=0.1, repetitions=200))


def test_formulas_are_parsed_and_never_evaluated() -> None:
    with pytest.raises(ExpectationError):
        evaluate("__import__('os').getpid()", P, "p")


def test_every_mark_of_the_paper_is_derived_again() -> None:
    published = published_tables()
    assert {number: len(table.entries) for number, table in published.items()} == {2: 24, 3: 15, 4: 4}
    for table in published.values():
        assert all(one.agrees for one in table.entries)
        assert table.to_frame()["agrees"].all()
    assert published[2].sentence == "Table 2, collectives runtime: 24 of 24 marks come out as printed."


@pytest.mark.parametrize("number", [2, 3, 4])
def test_printed_models_as_data_give_the_printed_marks(number: int) -> None:
    table = published_tables()[number]
    for machine in table.machines:
        data = table.data(machine)
        assert (data.attrs["simulated"], machine in data.attrs["title"]) == (1, True)
        result = sk.validate(data, table.expectations())
        printed = {one.function: one.match for one in table.entries if one.machine == machine}
        assert {v.function: v.match for v in result} == printed


def test_predictions_are_those_of_the_verdict() -> None:
    p = np.array([16, 32, 64, 128, 256])
    data = simulate({"f": 16 + 0.56 * p}, p, metric="process_memory", unit="MB", noise=0.01)
    verdict = sk.validate(data, {"f": "p"})["f"]
    table = predictions(verdict, [512, 1024])
    assert table.index.name == "p, MB"
    assert table.loc[1024, "model"] == round(float(verdict.model(1024)) / 1e6)
    assert (table["from"] <= table["model"]).all()


def test_the_example_is_simulated() -> None:
    data = example_search()
    assert data.attrs["simulated"] == 1
    assert data["function"].values.tolist() == ["generate", "count", "join", "report"]


def test_unknown_machine() -> None:
    with pytest.raises(UsageError, match=r"^table 4 has no machine 'Juqueen'; it has Juropa node\.$"):
        published_tables()[4].data("Juqueen")


def test_finer_rulers_need_better_values() -> None:
    table = resolution("p", [2, 4, 8, 16, 32, 64], noises=[0.0, 0.05], depths=[0, 3], trials=100)
    assert table.loc["0 %"].tolist() == [1.0, 1.0]
    assert table.loc["5 %", "5 ticks"] > table.loc["5 %", "33 ticks"]


@pytest.mark.slow
@pytest.mark.mpi
def test_a_campaign_is_measured_once(tmp_path: Path) -> None:
    options = {"processes": (2, 3), "operations": ("MPI_Bcast", "MPI_Comm_dup"), "runs": 1, "budget_s": 1.0}
    first = measure_here(tmp_path / "runs", **options)
    assert not first.is_bundled
    assert first.sentence.startswith("Measured here")
    assert (first.data.attrs.get("clock") == "virtual") == ("in virtual time on cluster" in first.sentence)
    assert first.sentence.endswith(f"with 2, 3 processes, 4 launches in {tmp_path / 'runs'}.")
    assert list(first.data["p"].values) == [2, 3]
    times = sorted(path.stat().st_mtime_ns for path in first.folder.glob("*.jsonl"))
    again = measure_here(tmp_path / "runs", **options)
    assert sorted(path.stat().st_mtime_ns for path in again.folder.glob("*.jsonl")) == times
    real = measure_here(tmp_path / "real", **{**options, "processes": (2,)}, clock="real")
    assert ("clock" in real.data.attrs, "virtual" in real.sentence) == (False, False)
    with pytest.raises(UsageError, match=r"^the clock 'wall' is unknown; choose real or virtual\.$"):
        measure_here(tmp_path / "runs", clock="wall")


def test_without_an_mpi_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    found = measure_here(tmp_path / "runs")
    assert found.is_bundled
    assert found.sentence.startswith("Nothing could be measured here (")
    assert found.sentence.endswith("); these are the bundled measurements of another machine.")
    assert list(found.data["p"].values) == [2, 4, 8, 16, 32]
    assert not (tmp_path / "runs").exists()
    assert repr(found) == f"<MeasuredHere: {found.sentence}>"
    assert str(found.series("MPI_Comm_dup").metric) == "object_memory"
    with pytest.raises(DataError, match=r"^the function 'MPI_Nothing' was not measured; measured are MPI_Barrier, "):
        found.series("MPI_Nothing")
