"""The explorer: what the page asks for is done by the session, and every part shows what the session holds."""

from __future__ import annotations

import gc
import json
import re
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.judge import Validation
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.session.file import script_of
from scalkit.widgets.base.cells import Cells
from scalkit.widgets.explorer.explorer import Explorer

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


def press(part: Any, name: str, **value: str) -> None:
    """Do what arrives when something is pressed or typed in the page."""
    content = {"name": name, "value": value}
    part._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


def bare(part: Any) -> str:
    """Return what a part says, without markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", " ".join(part.pieces.values())).split())


def living() -> int:
    gc.collect()
    return len(ipywidgets.widgets.widget._instances)


@pytest.fixture
def session() -> Session:
    made = {"f": 1 + 0.2 * np.sqrt(P) * np.log2(P), "g": 3 + 0.5 * P, "h<i>": 2 + P}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return Session(data, {"f": "p", "g": "p"}).select("f")


@pytest.fixture
def explorer(wire: Wire, session: Session) -> Explorer:
    return Explorer(session)


def test_a_row_is_selected_and_every_part_follows(explorer: Explorer, session: Session) -> None:
    press(explorer.table, "select", key="1")
    assert session.selected == ("g", "time")
    assert session.history == ()
    assert session.verdict is not None
    assert session.verdict.sentence in bare(explorer.verdict)
    assert "anything faster than p^(5/4) is excluded" in bare(explorer.verdict)
    assert explorer.plots.fit.alt.startswith("g: ")
    assert explorer.rulers[0].best == str(session.verdict.model.growth)
    assert explorer.table.current == 1


@pytest.mark.parametrize("key", ["3", "-1", "", "1e0", "x"])
def test_a_row_that_is_not_there_changes_nothing(explorer: Explorer, session: Session, key: str) -> None:
    press(explorer.table, "select", key=key)
    assert session.selected == ("f", "time")


def test_names_are_shown_letter_by_letter(explorer: Explorer, session: Session) -> None:
    session.select("h<i>")
    for part in (explorer.table, explorer.verdict, explorer.data_picker, explorer.history_bar):
        assert "h<i>" not in json.dumps({**part.pieces, **{name: getattr(part, name) for name in part.keys if name[:3] == "row"}})
    assert "h&lt;i&gt;" in explorer.verdict.pieces["head"]


def test_function_without_expectation_says_so_until_there_is_one(explorer: Explorer, session: Session) -> None:
    session.select("h<i>")
    assert explorer.plots.fit.layout.display == explorer.plots.divergence.layout.display == "none"
    assert explorer.hypotheses.pieces["table"] == ""
    assert "has no expectation" in bare(explorer.verdict)
    press(explorer.editor, "expect", expectation="p", deviation="")
    assert explorer.plots.fit.layout.display is None
    assert "grows as claimed, p; " in bare(explorer.verdict)
    assert explorer.rulers[0].absent == ""


def test_expectation_is_one_step(explorer: Explorer, session: Session) -> None:
    press(explorer.editor, "expect", expectation="p^2", deviation="p^(1/3)")
    assert str(session.expectation) == "O(p^2)"
    assert session.history == ("expect p^2 of f",)
    press(explorer.editor, "expect", expectation="log(p)", deviation=" ")
    assert session.history[1:] == ("expect log(p) of f",), "also where the deviation becomes automatic again"
    assert not session.expectation.has_own_deviation
    press(explorer.history_bar, "undo")
    assert 'value="p^(1/3)"' in explorer.editor.pieces["form"]


def test_wrong_expectation_is_refused_in_a_sentence(explorer: Explorer, session: Session) -> None:
    before = session.state
    press(explorer.editor, "expect", expectation="<b>", deviation="")
    assert session.state == before
    assert "&lt;b&gt;" in explorer.editor.pieces["problem"]
    press(explorer.editor, "expect", expectation="n", deviation="")
    assert "in terms of 'n', the data in terms of 'p'" in explorer.editor.pieces["problem"].replace("&#x27;", "'")
    press(explorer.editor, "expect", expectation="p^2", deviation="")
    assert explorer.editor.pieces["problem"] == ""
    assert session.history == ("expect p^2 of f",)


def test_steps_back_and_forth(explorer: Explorer, session: Session) -> None:
    assert explorer.history_bar.pieces["buttons"].count(" disabled") == 2
    session.add_tick("p^4")
    assert 'title="Undo: add tick p^4"' in explorer.history_bar.pieces["buttons"]
    press(explorer.history_bar, "undo")
    assert session.undone == ("add tick p^4",)
    assert 'title="Redo: add tick p^4"' in explorer.history_bar.pieces["buttons"]
    press(explorer.history_bar, "undo")
    assert "no step to undo" in explorer.history_bar.pieces["problem"]
    press(explorer.history_bar, "redo")
    assert session.history == ("add tick p^4",)
    assert explorer.history_bar.pieces["problem"] == ""


def test_states_are_kept_compared_and_restored(explorer: Explorer, session: Session) -> None:
    press(explorer.history_bar, "keep")
    assert "A against now: no differences" in bare(explorer.history_bar)
    press(explorer.editor, "expect", expectation="log(p)", deviation="")
    assert f"A against now: {len(session.compare('A'))} difference" in bare(explorer.history_bar)
    assert session.compare("A").to_html(index=False, border=0) in explorer.history_bar.pieces["kept"]
    press(explorer.history_bar, "keep")
    assert list(session.snapshots) == ["A", "B"]
    press(explorer.history_bar, "restore", key="A")
    assert str(session.expectation) == "O(p)"
    press(explorer.history_bar, "restore", key="C")
    assert "there is no snapshot" in explorer.history_bar.pieces["problem"]


def test_rivals_are_ranked(explorer: Explorer, session: Session) -> None:
    verdict = session.verdict
    assert verdict is not None
    rows = re.findall(r"<tr data-term.*?</tr>", explorer.hypotheses.pieces["table"])
    assert verdict.model.growth.to_mathml() in rows[0]
    assert ">best<" in rows[0]
    for rival, row in zip(verdict.rivals, rows[1:], strict=False):
        assert rival.growth.to_mathml() in row
        assert f"{rival.adjusted_r2:.4f}" in row or rival.growth.is_constant


def test_statistic_and_settings(explorer: Explorer, session: Session) -> None:
    press(explorer.data_picker, "statistic", key="median")
    assert session.state.judging.statistic == "median"
    press(explorer.data_picker, "statistic", key="best")
    assert session.state.judging.statistic == "median"
    assert "best" in explorer.data_picker.pieces["problem"]
    press(explorer.data_picker, "setting", key="0")
    assert session.excluded == session.settings[:1]
    assert "7 settings of f, 1 left out" in bare(explorer.data_picker)
    press(explorer.data_picker, "setting", key="0")
    assert session.excluded == ()


def test_code_is_there_while_it_is_open(explorer: Explorer, session: Session) -> None:
    assert "<pre" not in explorer.code.pieces["code"]
    press(explorer.code, "fold", key="open")
    session.add_tick("p^4")
    assert "add_tick(&quot;p^4&quot;)" in explorer.code.pieces["code"]
    press(explorer.code, "fold", key="shut")
    assert "<pre" not in explorer.code.pieces["code"]


def test_saved_and_opened(explorer: Explorer, session: Session, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    session.add_tick("p^4")
    assert explorer.session_bar.is_changed
    press(explorer.session_bar, "save", path=str(file))
    assert not explorer.session_bar.is_changed
    assert f"saved to {file}" in bare(explorer.session_bar)
    session.expect("p^2")
    press(explorer.session_bar, "open", path=str(file))
    assert explorer.session is not session
    assert explorer.session.history == ("add tick p^4",)
    assert f'value="{file}"' in explorer.session_bar.pieces["form"], "it is saved where it came from"
    press(explorer.history_bar, "undo")
    assert (len(explorer.session.history), len(session.history)) == (0, 2)


def test_a_session_in_a_report_is_saved_beside_it(explorer: Explorer, session: Session, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    page.write_text(script_of(session.to_dict()), encoding="utf-8")
    press(explorer.session_bar, "open", path=str(page))
    assert explorer.session is not session
    assert f'value="{tmp_path / "r.json"}"' in explorer.session_bar.pieces["form"]
    press(explorer.session_bar, "save", path=str(page))
    assert "is the name of a page" in explorer.session_bar.problem
    assert page.read_text(encoding="utf-8").startswith("<script")


@pytest.mark.parametrize("path", ["", "absent.json", "no/folder/s.json"])
@pytest.mark.parametrize("name", ["save", "open"])
def test_a_file_that_cannot_be_is_refused(
    explorer: Explorer, session: Session, tmp_path: Path, monkeypatch: Any, name: str, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    press(explorer.session_bar, name, path=path)
    assert explorer.session is session
    assert (explorer.session_bar.problem == "") == (tmp_path / "absent.json").exists()


def test_what_the_page_makes_up_is_ignored(explorer: Explorer, session: Session) -> None:
    before = session.to_dict()
    for content in ("", [], {"name": "save_as"}, {"name": ["undo"]}, {"name": "select", "value": "1"}):
        for part in explorer.children:
            part._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    assert session.to_dict() == before


def test_several_parameters(wire: Wire) -> None:
    p, s = np.meshgrid(2.0 ** np.arange(1, 6), 10.0 ** np.arange(1, 6))
    points = np.stack([p.ravel(), s.ravel()], axis=1)
    data = sk.measurements(points, (np.log2(p) * s).ravel(), parameter=["p", "S"], name="f")
    explorer = Explorer(Session(data, {"f": "log(p)*S"}))
    assert [ruler.parameter for ruler in explorer.rulers] == ["p", "S"]
    assert explorer.plots.divergence.layout.display == "none"
    assert "f grows as claimed, S*log(p); anything faster than" in bare(explorer.verdict)
    assert "along S" in explorer.editor.pieces["said"]
    press(explorer.editor, "expect", expectation="p*S", deviation="p^(1/4)")
    assert explorer.session.history == ("expect p*S of f",)
    assert 'value="p^(1/4)"' in explorer.editor.pieces["form"]
    press(explorer.data_picker, "setting", key="0")
    assert explorer.session.excluded == explorer.session.settings[:1]


def test_nothing_is_left_of_a_closed_one(wire: Wire, session: Session) -> None:
    Explorer(session).close()
    before = living()
    explorer = Explorer(session)
    assert living() > before + 15
    explorer.session = Session.load(session.to_dict())
    explorer.close()
    assert living() == before
    wire.clear()
    session.add_tick("p^4")
    assert wire == []
    explorer.close()


def test_another_run_of_a_cell_closes_what_it_showed(wire: Wire, session: Session) -> None:
    cells, (one, two, other, again) = Cells(), (Explorer(session) for _ in range(4))
    cells.enter("a", "run 1", one)
    cells.enter("a", "run 1", two)
    cells.enter("b", "run 2", other)
    assert one.comm is not None
    cells.enter("a", "run 3", again)
    assert (one.comm, two.comm) == (None, None)
    assert other.comm is not None
    assert again.comm is not None
    cells.leave(again)
    cells.enter("a", "run 4", one)
    assert again.comm is not None


def test_session_or_data(wire: Wire, session: Session) -> None:
    explorer = sk.explore(session.data, {"f": "p"}, statistic="median")
    assert explorer.session.state.judging.statistic == "median"
    assert explorer.result is explorer.session.result
    assert isinstance(sk.explore(session), Explorer)
    assert sk.explore(session).session is session
    with pytest.raises(UsageError, match=r"^a session brings its expectations along; write explore"):
        sk.explore(session, "mpi")


def test_a_result_leads_back_to_its_data(wire: Wire, session: Session) -> None:
    session.expect("p").add_tick("p^4").exclude(2)
    app = sk.explore(session.result)
    assert app.session.result.to_dict() == session.result.to_dict()
    assert (app.session.data, app.session.excluded) == (session.data, (2.0,))
    assert app.session.history == ()
    with pytest.raises(UsageError, match=r"^a result brings its expectations along; write Session"):
        sk.explore(session.result, "mpi")
    with pytest.raises(DataError, match=r"^the result does not hold its measurements; write Session"):
        sk.explore(Validation(()))


def test_one_edit_is_a_short_message(explorer: Explorer, session: Session, wire: Wire) -> None:
    wire.clear()
    session.add_tick("p^4")
    assert 0 < sum(len(json.dumps(data)) for _, _, data in wire) < 60_000
