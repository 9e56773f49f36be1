"""A report from the app: it says what the session says, and can be given up."""

from __future__ import annotations

import asyncio
import json
import threading
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
    assert panel.is_running
    assert "Judging and drawing" in panel.pieces["progress"]
    press(panel, "start", path="mine")
    assert "is being written" in panel.pieces["problem"]
    assert panel.wait()
    verdicts = {(v["function"], v["metric"]): v for v in json.loads((tmp_path / "mine.verdict.json").read_text())["verdicts"]}
    for name in session.names:
        mine = session.verdict_of(name)
        assert mine is not None
        assert verdicts[name]["sentence"] == mine.sentence
        assert verdicts[name]["model"]["growth"] == str(mine.model.growth)
    assert verdicts["f", "time"]["x"] == [4, 8, 16, 32, 64, 128]
    assert "✗ a verdict fails (exit status 1)" in bare(panel)
    assert panel.answer
    assert panel.command.startswith("scalkit report mine.session.json --out mine.html")
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


def test_files_that_hold_what_counts_are_named(session: Session, tmp_path: Path, wire: Wire, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_netcdf(session.data, "given.nc")
    panel = ReportPanel(Session("given.nc", {"f": "p", "g": "p"}))
    press(panel, "start", path="r.html", replace="on")
    assert panel.command == "scalkit report r.session.json --out r.html --force --json"
    assert json.loads((tmp_path / "r.session.json").read_text())["data"]["paths"] == ["given.nc"]
    press(panel, "cancel")
    assert panel.wait()
    assert "Cancelled; no report was written." in bare(panel)
    assert not (tmp_path / "r.html").exists()
    assert not panel.is_running


@pytest.mark.parametrize(
    ("path", "sentence"), [(" ", "the report has no name"), ("no/folder/r.html", "cannot write the expectations")]
)
def test_a_report_that_cannot_be_is_refused(panel: ReportPanel, path: str, sentence: str) -> None:
    press(panel, "start", path=path)
    assert sentence in panel.problem
    assert not panel.is_running


@pytest.mark.slow
def test_what_was_changed_meanwhile_is_said_and_data_without_a_file_are_written(
    session: Session, tmp_path: Path, wire: Wire, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_netcdf(session.data, "given.nc")
    whole = Session("given.nc", {"f": "p", "g": "p"}).to_dict(with_data=True)
    (tmp_path / "given.nc").unlink()
    panel = ReportPanel(Session.load(whole))
    press(panel, "start", path="r.html")
    panel.session.add_tick("p^4")
    assert panel.wait()
    assert "no verdict fails" in bare(panel) or "a verdict fails" in bare(panel)
    assert "changed since the report was written" in bare(panel)


def test_a_failure_is_said(panel: ReportPanel, session: Session, tmp_path: Path) -> None:
    (tmp_path / "r.verdict.json").mkdir()
    press(panel, "start", path="r.html")
    assert panel.wait()
    assert "r.verdict.json is a folder" in panel.problem
    press(panel, "open")
    assert "there is no report yet" in panel.problem


def test_in_a_loop_the_loop_is_told_and_not_held_up(panel: ReportPanel, tmp_path: Path) -> None:
    (tmp_path / "r.verdict.json").mkdir()
    turns = []

    async def go() -> None:
        press(panel, "start", path="r.html")
        while panel.is_running:
            await asyncio.sleep(0.01)
            turns.append(1)

    own = threading.Thread(target=lambda: asyncio.run(go()))
    own.start()
    own.join()
    assert turns
    assert "r.verdict.json is a folder" in panel.problem


def test_closing_ends_what_runs(panel: ReportPanel, tmp_path: Path) -> None:
    press(panel, "start", path="r.html")
    panel.close()
    assert panel.wait()
    assert not (tmp_path / "r.html").exists()
