"""The panes of the explorer of waits in a bare page: keys of trees and lists, many processes, what a screen reader gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from test_explorer import press
from traced import HOSTILE, traced

from scalkit.widgets import TraceExplorer

pytestmark = pytest.mark.browser

Show = Callable[..., Any]
FOCUS = "document.activeElement.querySelector('.name').textContent"


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return traced(tmp_path_factory.mktemp("traced"))


@pytest.fixture
def explorer(ds: xr.Dataset) -> TraceExplorer:
    return TraceExplorer(ds)


def follow(page: Any, part: Any) -> None:
    """Do in Python what the page asked for last, and show the result."""
    asked = page.evaluate("sent.at(-1)")
    press(part, asked["name"], **asked["value"])
    state = {"rows": part.rows, "pieces": part.pieces, "heads": part.heads}
    page.evaluate("(state) => { for (const [name, value] of Object.entries(state)) model.set(name, value); }", state)
    page.evaluate("() => new Promise((done) => setTimeout(done))")


def test_keys_of_a_tree(show: Show, explorer: TraceExplorer) -> None:
    explorer.selection = {"metric": "waiting"}
    press(explorer.paths, "all")
    page = show(explorer.paths)
    tree = page.get_by_role("tree", name="Call paths")
    assert tree.get_attribute("aria-multiselectable") == "true"
    items = page.get_by_role("treeitem")
    stops = "() => [...document.querySelectorAll('[role=treeitem]')].filter((one) => one.tabIndex === 0).length"
    assert page.evaluate(stops) == 1
    items.first.focus()
    seen = []
    for key in ("ArrowDown", "End", "ArrowUp", "Home", "ArrowRight", "ArrowLeft", "m", "Home", "PageDown"):
        page.keyboard.press(key)
        seen.append(page.evaluate(FOCUS))
    assert seen == [
        "MPI_Barrier",
        "ARMCI_Get",
        HOSTILE,
        "program",
        "MPI_Barrier",
        "program",
        "MPI_Barrier",
        "program",
        "ARMCI_Get",
    ]
    assert page.evaluate("sent") == []
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUS) == HOSTILE, "the one above"
    assert items.nth(2).get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowLeft")
    follow(page, explorer.paths)
    assert items.nth(2).get_attribute("aria-expanded") == "false"
    assert items.nth(2).inner_text().split("\n")[-1] == "90 ns", "with what is below"
    assert page.evaluate(FOCUS) == HOSTILE
    page.keyboard.press("Enter")
    follow(page, explorer.paths)
    assert [one.get_attribute("aria-selected") for one in items.all()] == ["false", "false", "true"]
    page.keyboard.press("Shift+ArrowUp")
    follow(page, explorer.paths)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    follow(page, explorer.paths)
    assert [one.get_attribute("aria-selected") for one in items.all()] == ["true", "true", "true"]
    assert [items.nth(k).get_attribute("aria-level") for k in range(3)] == ["1", "2", "2"]
    assert [items.nth(2).get_attribute(name) for name in ("aria-posinset", "aria-setsize")] == ["2", "2"]
    assert page.evaluate("document.activeElement.dataset.lmSuppressShortcuts") == "true"


def test_the_mouse_folds_and_chooses(show: Show, explorer: TraceExplorer) -> None:
    page = show(explorer.metrics)
    page.get_by_role("treeitem", name="waiting").first.locator(".twist").click()
    assert page.evaluate("sent.at(-1)") == {"name": "fold", "value": {"key": "waiting"}}
    follow(page, explorer.metrics)
    page.get_by_text("visits").click()
    assert page.evaluate("sent.at(-1)") == {"name": "choose", "value": {"key": "visits", "how": "alone"}}
    page = show(explorer.processes)
    page.get_by_role("option", name="process 2").click(modifiers=["Control"])
    assert page.evaluate("sent.at(-1)") == {"name": "choose", "value": {"key": "2", "how": "add"}}


def test_many_processes_are_a_slider_of_cells(show: Show, tmp_path: Path) -> None:
    part = TraceExplorer(traced(tmp_path / "many", 60)).processes
    page = show(part)
    slider = page.get_by_role("slider", name="Process")
    assert slider.locator("span").count() == 60
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert slider.get_attribute("aria-valuetext").startswith("process 1: 5.8")
    assert page.evaluate("sent") == [{"name": "choose", "value": {"key": "1", "how": "alone"}}]
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert page.evaluate("sent.at(-1)") == {"name": "choose", "value": {"key": "59", "how": "add"}}
    page.keyboard.press("ArrowUp")
    assert int(slider.get_attribute("aria-valuenow")) < 59
    slider.locator("span").nth(7).click()
    assert page.evaluate("sent.at(-1).value.key") == "7"
    press(part, "choose", key="7", how="alone")
    page.evaluate("(heat) => model.set('heat', heat)", part.heat)
    assert slider.get_attribute("aria-valuetext").endswith(", chosen")
    page.evaluate("stop()")
    assert page.evaluate("listeners()") == 0


def test_names_are_shown_letter_by_letter(show: Show, explorer: TraceExplorer) -> None:
    explorer.selection = {"metric": "waiting"}
    press(explorer.paths, "all")
    page = show(explorer.paths)
    assert page.locator("#el img").count() == 0
    assert page.get_by_role("treeitem", name=HOSTILE).count() == 1


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 360)])
def test_axe_finds_nothing(show: Show, axe: Callable[[Any], list[Any]], tmp_path: Path, theme: str, width: int) -> None:
    many = TraceExplorer(traced(tmp_path / "many", 60))
    many.selection = {"metric": "waiting", "locations": [3], "causers": [59]}
    press(many.paths, "all")
    many.pairs.pieces = {**many.pairs.pieces, "begin": many.head.pieces["head"], **many.chosen.pieces}
    for part in (many.metrics, many.paths, many.processes, many.causes, many.pairs):
        page = show(part, theme=theme, scheme=theme, width=width)
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert axe(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
