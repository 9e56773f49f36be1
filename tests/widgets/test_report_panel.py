"""A report from the app: it says what the session says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_explorer import bare, press

import scalkit as sk
from scalkit.measure import combine, write_netcdf
from scalkit.session import Session
from scalkit.widgets.explorer.report_panel import ReportPanel

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    made = {"f": 1 + 0.2 * np.sqrt(P) * np.log2(P), "g": 3 + 0.5 * P}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return Session(data, {"f": "p", "g": "p"}, ["f <= g"])


@pytest.fixture
def panel(wire: Wire, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReportPanel:
    monkeypatch.chdir(tmp_path)
    return ReportPanel(session)


@pytest.mark.slow
def test_report_says_what_the_session_says(panel: ReportPanel, session: Session, tmp_path: Path, wire: Wire) -> None:
    session.select("f").expect("log(p)").move_tick("log(p)^(1/2)", "log(p)^(2/3)").exclude(2).judge_by(statistic="median")
    press(panel, "start", path="mine")
    every = [data["state"].get("pieces", {}) for _, _, data in wire if "state" in data]
    shown = [pieces["progress"] for pieces in every if "progress" in pieces]
    assert "Judging and drawing" in shown[-2], "before it is written"
    assert shown[-1] == ""
    verdicts = {(v["function"], v["metric"]): v for v in json.loads((tmp_path / "mine.verdict.json").read_text())["verdicts"]}
    for name in session.names:
        mine = session.verdict_of(name)
        assert mine is not None
        assert verdicts[name]["sentence"] == mine.sentence
        assert verdicts[name]["model"]["growth"] == str(mine.model.growth)
    assert verdicts["f", "time"]["x"] == [4, 8, 16, 32, 64, 128]
    assert "✗ a verdict fails" in bare(panel)
    assert panel.result.answer in bare(panel)
    left = session.data["time"].where((session.data["function"] != "f") | (session.data["p"] != 2))
    masked = session.data.assign(time=left.transpose(*session.data["time"].dims).assign_attrs(session.data["time"].attrs))
    same = sk.validate(masked, "mine.expectations.toml", statistic="median")
    assert [one.sentence for one in same.verdicts] == [one.sentence for one in session.result.verdicts]
    again = sk.Session.load("mine.html")
    assert (again.history, again.state, again.selected) == (session.history, session.state, session.selected)
    page = (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert "Left out by hand: f at p = 2." in page
    assert "No value for" not in page
    wire.clear()
    press(panel, "open")
    (sent,) = [data["content"]["open"] for _, _, data in wire if data["method"] == "custom"]
    assert (sent["name"], sent["type"]) == ("mine.html", "text/html")
    assert sent["text"] == (tmp_path / "mine.html").read_text()
    session.add_tick("p^4")
    assert "changed since the report was written" in bare(panel)
    press(panel, "start", path="mine.html")
    assert "there is a report mine.html already" in panel.problem


@pytest.mark.parametrize(
    ("path", "sentence"), [(" ", "the report has no name"), ("no/folder/r.html", "cannot write the expectations")]
)
def test_a_report_that_cannot_be_is_refused(panel: ReportPanel, path: str, sentence: str) -> None:
    press(panel, "start", path=path)
    assert sentence in panel.problem
    assert panel.result is None


@pytest.mark.slow
def test_data_without_a_file_are_written(session: Session, tmp_path: Path, wire: Wire, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_netcdf(session.data, "given.nc")
    whole = Session("given.nc", {"f": "p", "g": "p"}).to_dict(with_data=True)
    (tmp_path / "given.nc").unlink()
    panel = ReportPanel(Session.load(whole))
    press(panel, "start", path="r.html")
    assert "no verdict fails" in bare(panel) or "a verdict fails" in bare(panel)
    assert sk.Session.load("r.html").data.equals(panel.session.data)


def test_a_failure_is_said(panel: ReportPanel, session: Session, tmp_path: Path) -> None:
    (tmp_path / "r.verdict.json").mkdir()
    press(panel, "start", path="r.html")
    assert "r.verdict.json is a folder" in panel.problem
    press(panel, "open")
    assert "there is no report yet" in panel.problem
