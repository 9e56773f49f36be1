"""The table of functions: sorted, filtered, walked through; only what changed goes over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_explorer import press

import scalkit as sk
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.widgets.explorer.model_table import ModelTable

Show = Callable[..., Any]
Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)
MADE = {"b": 3 + 0.5 * P**1.06, "A": 1 + 0.2 * np.sqrt(P) * np.log2(P), "c": 1 + P**2, "d": 2 + P, "e<i>": 5 + np.log2(P)}
WORST_FIRST = ["c", "b", "d", "A", "e<i>"]  # fix, cannot tell, no verdict, fine


@pytest.fixture
def session() -> Session:
    data = combine([sk.measurements(P, y, name=name) for name, y in MADE.items()])
    return Session(data, {"b": "p", "A": "p", "c": "log(p)", "e<i>": "p^2"})


@pytest.fixture
def table(wire: Wire, session: Session) -> ModelTable:
    return ModelTable(session)


def names(table: ModelTable) -> list[str]:
    return [table.session.names[k][0] for k in table.order]


def states(wire: Wire, table: ModelTable) -> list[dict[str, Any]]:
    return [data["state"] for _, widget, data in wire if widget == table.model_id and data.get("method") == "update"]


@pytest.mark.parametrize(
    ("column", "ascending"),
    [
        ("Function", ["A", "b", "c", "d", "e<i>"]),
        ("Values", ["e<i>", "A", "b", "c", "d"]),
        ("Expected", ["c", "b", "A", "e<i>", "d"]),
        ("Model", ["e<i>", "A", "b", "c", "d"]),
        ("Answer", ["c", "b", "A", "e<i>", "d"]),
    ],
)
def test_every_column_sorts_up_and_down_and_back(table: ModelTable, column: str, ascending: list[str]) -> None:
    y = {name: values[-1] / values[0] for name, values in MADE.items()}
    assert column != "Values" or ascending[:4] == sorted(ascending[:4], key=lambda name: y[name])
    press(table, "sort", key=column)
    assert names(table) == ascending
    assert table.sort == [column, "ascending"]
    press(table, "sort", key=column)
    down = names(table)
    assert set(down) == set(ascending)
    assert down[0] == ascending[-1] or down[-1] == "d", "without a verdict it stays last"
    assert table.sort == [column, "descending"]
    press(table, "sort", key=column)
    assert names(table) == WORST_FIRST
    press(table, "sort", key="nothing")
    assert table.sort == ["", ""]


def test_filtered_by_verdict(table: ModelTable, session: Session) -> None:
    press(table, "filter", key="fix")
    assert names(table) == ["c"]
    press(table, "filter", key="unjudged")
    assert names(table) == ["d"]
    assert '<option value="unjudged" selected>– not judged (1)</option>' in table.pieces["head"]
    session.select("d").expect("p")
    assert names(table) == [], "it has a verdict now"
    press(table, "filter", key="<x>")
    assert table.filter == "unjudged"
    press(table, "filter", key="")
    assert names(table) == WORST_FIRST
    table.filter = "fix"
    assert '<option value="fix" selected>' in table.pieces["head"], "set in Python, too"


def test_only_rows_that_changed_are_sent(table: ModelTable, session: Session, wire: Wire) -> None:
    session.select("b")
    wire.clear()
    session.select("c")
    assert [set(state) for state in states(wire, table)] == [{"current"}]
    wire.clear()
    session.expect("p^2")
    sent = states(wire, table)
    assert {name for state in sent for name in state if name.startswith("row")} == {"row2"}
    assert len(json.dumps(sent)) < 4000
    wire.clear()
    press(table, "sort", key="Function")
    assert {name for state in states(wire, table) for name in state} == {"sort", "order"}


def test_state_is_whole(table: ModelTable, session: Session) -> None:
    session.select("c").expect("p^2")
    state = table.get_state()
    assert state["n_rows"] == 5
    assert state["row2"] == ModelTable(session).get_state()["row2"]
    assert "e&lt;i&gt;" in state["row4"]["cells"][0]


def test_other_data_have_other_rows(table: ModelTable, session: Session) -> None:
    session.select("c")
    more = combine([sk.measurements(P, 1 + k + P, name=f"n{k}") for k in range(7)])
    session.use_data(more)
    assert (table.n_rows, table.current, table.order) == (7, 0, list(range(7)))
    assert "<code>n6</code>" in table.get_state()["row6"]["cells"][0]
    session.undo()
    assert names(table) == WORST_FIRST
    assert "<code>b</code>" in table.get_state()["row0"]["cells"][0]
    session.redo()
    assert "<code>n6</code>" in table.get_state()["row6"]["cells"][0]


@pytest.fixture
def page(show: Show, table: ModelTable) -> Any:
    return show(table)


def at(page: Any) -> tuple[int, int]:
    found = page.evaluate(
        """() => { const cell = document.activeElement.closest('th, td'), table = cell.closest('table');
          return [[...table.rows].indexOf(cell.parentElement), [...cell.parentElement.cells].indexOf(cell)]; }"""
    )
    return found[0], found[1]


@pytest.mark.browser
def test_grid_is_walked_through_with_the_keyboard(page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert at(page) == (0, 0)
    for keys, place in (
        ("ArrowDown ArrowDown ArrowRight", (2, 1)),
        ("End", (2, 5)),
        ("ArrowDown ArrowDown", (4, 2)),
        ("Home ArrowUp", (3, 0)),
        ("Control+End", (5, 5)),
        ("ArrowDown ArrowRight", (5, 5)),
        ("PageUp", (0, 5)),
        ("Control+Home ArrowUp ArrowLeft", (0, 0)),
        ("PageDown", (5, 0)),
    ):
        for key in keys.split():
            page.keyboard.press(key)
        assert at(page) == place, keys
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"name": "select", "value": {"key": "1"}}, {"name": "sort", "value": {"key": "Function"}}]
    stops = "[...document.querySelectorAll('table [tabindex]')].filter((one) => one.tabIndex === 0).length"
    assert page.evaluate(stops) == 1
    bare = "[...document.querySelectorAll('table [tabindex]')].filter((one) => !one.dataset.lmSuppressShortcuts).length"
    assert page.evaluate(bare) == 0


@pytest.mark.browser
def test_page_shows_order_selection_and_rows_as_they_change(page: Any, table: ModelTable, session: Session) -> None:
    seen = "[...document.querySelectorAll('tbody tr')].map((one) => one.querySelector('button').textContent)"
    assert page.evaluate(seen) == WORST_FIRST
    page.get_by_role("button", name="c", exact=True).focus()
    page.evaluate("() => { window.kept = [...document.querySelectorAll('tbody tr')]; }")
    press(table, "sort", key="Model")
    session.select("c").expect("p^2")
    state = table.get_state()
    page.evaluate(
        "(state) => { for (const [name, value] of Object.entries(state)) model.set(name, value); }",
        {name: state[name] for name in ("order", "sort", "current", "row2")},
    )
    page.wait_for_selector("th[aria-sort=ascending]:has-text('Model ▲')")
    assert page.evaluate(seen) == names(table)
    assert page.evaluate("document.querySelector('tr[aria-selected=true] button').textContent") == "c"
    assert page.evaluate("document.activeElement.textContent") == "c", "the focus goes with its row"
    assert page.evaluate("kept.every((one) => one.isConnected)"), "rows are moved, not made anew"
    assert page.get_by_role("grid").get_attribute("aria-rowcount") == "6"
    page.evaluate("() => model.set('order', [])")
    page.wait_for_selector("p:text('No function has this answer.')")
    page.evaluate(
        """() => { model.set('row5', { cells: ['<button>new</button>', 'x'] });
          model.set('n_rows', 6); model.set('order', [5]); }"""
    )
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
    assert page.evaluate(seen) == ["new"]
    page.evaluate("stop()")
    assert page.evaluate("listeners()") == 0


@pytest.mark.browser
@pytest.mark.parametrize(("width", "theme"), [(1000, "light"), (1000, "dark"), (360, "light")])
def test_axe_finds_nothing(show: Show, axe: Callable[[Any], list[Any]], table: ModelTable, width: int, theme: str) -> None:
    press(table, "sort", key="Answer")
    page = show(table, width=width, theme=theme, scheme=theme)
    assert axe(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_rows_without_verdict_span_the_rest(table: ModelTable) -> None:
    assert re.search("has no expectation", table.get_state()["row3"]["cells"][2])
    assert len(table.get_state()["row3"]["cells"]) == 3


def test_many_rows_are_made_once(wire: Wire) -> None:
    many = combine([sk.measurements(P, 1 + 0.01 * k + P, name=f"f{k}") for k in range(60)])
    session = Session(many, {f"f{k}": "p" for k in range(60)})
    table = ModelTable(session)
    wire.clear()
    session.move_tick("p^(1/2)", "p^(3/5)")
    rows = [name for state in states(wire, table) for name in state if name.startswith("row")]
    assert len(rows) == 0, "no verdict says anything else, so no row does"
    session.select("f7").expect("log(p)")
    rows = [name for state in states(wire, table) for name in state if name.startswith("row")]
    assert rows == ["row7"]
