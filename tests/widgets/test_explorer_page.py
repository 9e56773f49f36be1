"""The parts of the explorer in a bare page: what is pressed and typed arrives, what is drawn anew keeps its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.widgets.explorer.data_picker import DataPicker
from scalkit.widgets.explorer.expectation_editor import ExpectationEditor
from scalkit.widgets.explorer.model_table import ModelTable
from scalkit.widgets.explorer.report_panel import ReportPanel
from scalkit.widgets.explorer.rule_matrix import RuleMatrix
from scalkit.widgets.explorer.session_bar import CodePanel, HistoryBar, SessionBar
from scalkit.widgets.explorer.verdict_badge import HypothesisList, VerdictBadge

pytestmark = pytest.mark.browser

Show = Callable[..., Any]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    made = {"f": 1 + 0.2 * np.sqrt(P) * np.log2(P), "g": 3 + 0.5 * P}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return Session(data, {"f": "p", "g": "p"}).add_tick("p^4").snapshot("A").expect("log(p)").add_rule("f <= g")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_parts_are_accessible(show: Show, axe: Callable[[Any], list[Any]], session: Session, theme: str) -> None:
    kinds = (DataPicker, HistoryBar, VerdictBadge, ExpectationEditor, HypothesisList, CodePanel, RuleMatrix, ReportPanel)
    parts = [*(kind(session) for kind in kinds), SessionBar(session, print)]
    picture = CodePanel(session)
    picture.pieces = {f"{k} {name}": text for k, part in enumerate(parts) for name, text in part.pieces.items()}
    page = show(picture, theme=theme, scheme=theme, width=360)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert axe(page) == []
    wide = (
        "() => [...document.querySelectorAll('.sk-part *')].filter((one) => !one.closest('.scroll, pre, details') && "
        "one.getBoundingClientRect().right > 360).map((one) => one.outerHTML.slice(0, 200))"
    )
    assert page.evaluate(wide) == []


def test_what_is_pressed_and_typed_arrives(show: Show, session: Session) -> None:
    page = show(ExpectationEditor(session))
    page.fill("input[name=expectation]", "p^2")
    page.keyboard.press("Enter")
    value = {"expectation": "p^2", "deviation": ""}
    assert page.evaluate("sent") == [{"name": "expect", "value": value}]
    page = show(SessionBar(session, print))
    page.fill("input[name=path]", "x.json")
    page.get_by_role("button", name="Open", exact=True).click()
    assert page.evaluate("sent") == [{"name": "open", "value": {"path": "x.json"}}]


def test_drawing_anew_keeps_focus_folds_and_what_is_typed(show: Show, session: Session) -> None:
    table = ModelTable(session)
    page = show(table)
    page.get_by_role("button", name="g", exact=True).click()
    assert page.evaluate("sent") == [{"name": "select", "value": {"key": "1"}}]
    session.select("g")
    page.evaluate("(k) => model.set('current', k)", table.current)
    page.wait_for_selector("tr[aria-selected=true] button[data-key=row1]")
    assert page.evaluate("document.activeElement.dataset.key") == "row1"
    assert page.evaluate("document.activeElement.dataset.lmSuppressShortcuts") == "true"

    picker = DataPicker(session)
    page = show(picker)
    page.get_by_text("settings of g").click()
    session.exclude(4)
    page.evaluate("(pieces) => model.set('pieces', pieces)", picker.pieces)
    assert page.locator("details[open]").count() == 1

    editor = ExpectationEditor(session)
    page = show(editor)
    page.fill("input[name=expectation]", "p^2*lo")
    page.evaluate("(said) => model.set('pieces', { ...model.get('pieces'), said })", "<p>not yet</p>")
    assert page.input_value("input[name=expectation]") == "p^2*lo"


def test_what_was_typed_for_one_function_is_not_there_for_another(show: Show, session: Session) -> None:
    editor = ExpectationEditor(session.select("f").expect("p"))
    page = show(editor)
    page.fill("input[name=expectation]", "p^7")
    session.select("g").expect("p")
    page.evaluate("(pieces) => model.set('pieces', pieces)", editor.pieces)
    assert page.input_value("input[name=expectation]") == "p", "which is expected of both"


def test_code_is_asked_for_copied_and_selected_where_it_cannot_be(show: Show, session: Session) -> None:
    code = CodePanel(session)
    page = show(code)
    page.get_by_text("Copy as Python").click()
    page.wait_for_function("() => sent.length === 1")
    assert page.evaluate("sent") == [{"name": "fold", "value": {"key": "open"}}]
    code._fold({"key": "open"})
    code.refresh()
    page.evaluate("(pieces) => model.set('pieces', pieces)", code.pieces)
    page.evaluate("() => { Object.defineProperty(navigator, 'clipboard', { value: undefined }); }")
    page.get_by_role("button", name="Copy").click()
    page.wait_for_selector("button:text('Selected')")
    assert page.evaluate("getSelection().toString().trim()") == session.as_code().strip()


def test_nothing_listens_after_the_end(show: Show, session: Session) -> None:
    page = show(ModelTable(session))
    assert page.evaluate("listeners()") > 0
    page.evaluate("stop()")
    page.get_by_role("button", name="g", exact=True).click()
    assert page.evaluate("[listeners(), sent.length]") == [0, 0]
