"""What is judged: data, function, metric, statistic, settings, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_explorer import bare, press

import scalkit as sk
from scalkit.measure import combine, write_netcdf
from scalkit.session import Session
from scalkit.support.bundled import bundled
from scalkit.widgets.explorer.data_picker import DataPicker, advice_of, settings_to_try
from scalkit.widgets.explorer.verdict_badge import VerdictBadge

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


def measured(p: Any) -> Any:
    p = np.asarray(p, dtype=float)
    made = {"f": 1 + 0.2 * np.sqrt(p), "g": 3 + 0.5 * p}
    return combine([sk.measurements(p, y, name=name) for name, y in made.items()])


@pytest.fixture
def session() -> Session:
    return Session(measured(P), {"f": "p^(1/2)", "g": "p"}).select("f")


@pytest.fixture
def picker(wire: Wire, session: Session) -> DataPicker:
    return DataPicker(session)


def test_function_and_metric_are_chosen(picker: DataPicker, session: Session) -> None:
    press(picker, "function", key="g")
    assert session.selected == ("g", "time")
    assert '<option value="g" selected>' in picker.pieces["choice"]
    press(picker, "function", key="nothing")
    assert "was not measured" in picker.problem
    press(picker, "metric", key="object_memory")
    assert "the metric 'object_memory' of 'g' was not measured" in picker.problem
    press(picker, "metric", key="time")
    assert (picker.problem, session.selected) == ("", ("g", "time"))


def test_other_data_are_a_step(picker: DataPicker, session: Session, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_netcdf(measured(P[:6]), "shorter.nc")
    assert 'placeholder="data in memory"' in picker.pieces["source"]
    press(picker, "data", data="shorter.nc")
    assert session.history == ("measurements shorter.nc",)
    assert 'value="shorter.nc"' in picker.pieces["source"]
    press(picker, "data", data="shorter.nc")
    assert len(session.history) == 1
    write_netcdf(measured(P[:5]), "shorter.nc")
    press(picker, "data", data="shorter.nc")
    assert (len(session.history), len(session.settings)) == (2, 5), "it is read again"
    press(picker, "data", data="<b>.nc")
    assert "&lt;b&gt;.nc" in picker.pieces["problem"]
    assert 'value="&lt;b&gt;.nc"' in picker.pieces["source"], "it stays to be mended"
    press(picker, "data", data=" ")
    assert "no data are named" in picker.problem


def test_settings_to_try_are_gaps_and_beyond() -> None:
    assert settings_to_try(np.array([2.0, 4, 16])) == [3, 8, 64, 256, 1024]
    assert settings_to_try(np.array([1.0, 2, 3, 4])) == [8, 16, 32]
    assert settings_to_try(np.array([0.5, 1.0]))[0] == pytest.approx(np.sqrt(0.5))


def test_where_to_measure_next_is_said_while_it_is_open(picker: DataPicker, session: Session) -> None:
    assert "<p>" not in picker.pieces["advice"]
    press(picker, "next", key="open")
    advice = advice_of(session)
    assert advice is not None
    assert advice.sentence in bare(picker)
    press(picker, "next", key="shut")
    assert "<p>" not in picker.pieces["advice"]


def test_virtual_times_are_called_so(wire: Wire) -> None:
    session = Session(bundled("data/quickstart"), "mpi").select("MPI_Gather")
    assert "run time, virtual" in bare(VerdictBadge(session))


def test_a_point_that_was_pressed_elsewhere_can_be_left_out(picker: DataPicker, session: Session) -> None:
    picker.show_point(8.0)
    assert "Chosen: p = 8 Leave it out" in bare(picker)
    assert 'aria-current="true"' in picker.pieces["settings"]
    press(picker, "setting", key="2")
    assert session.excluded == (8.0,)
    assert "Chosen: p = 8 Take in again" in bare(picker)
    picker.show_point(9.0)
    assert picker.pieces["view"] == ""
