"""The map over two parameters: the slider and a press on the map move the slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_explorer import bare, press
from widget_page import from_page

import scalkit as sk
from scalkit.session import Session
from scalkit.widgets import Explorer
from scalkit.widgets.explorer.parameter_map import ParameterMap

Wire = list[tuple[str, str, dict[str, Any]]]
P, S = np.meshgrid(2.0 ** np.arange(1, 6), 10.0 ** np.arange(1, 6))
DATA = sk.measurements(np.stack([P.ravel(), S.ravel()], axis=1), (np.log2(P) * S).ravel(), parameter=["p", "S"], name="f")


@pytest.fixture
def session() -> Session:
    return Session(DATA, {"f": "log(p)*S"})


@pytest.fixture
def panel(wire: Wire, session: Session) -> ParameterMap:
    return ParameterMap(session)


def line(panel: ParameterMap) -> tuple[float, float]:
    (shape,) = panel.map.figure["layout"]["shapes"]
    return shape["x0"], shape["y0"]


def test_slider_moves_the_slice(panel: ParameterMap) -> None:
    slider = panel.controls.pieces["slider"]
    assert line(panel) == (0, 10)
    press(panel.controls, "at", key="3")
    assert line(panel) == (0, 1e4)
    assert "S = 10000" in bare(panel.controls)
    assert panel.slice.alt.startswith("f along p at S = 10000:")
    assert panel.controls.pieces["slider"] == slider, "or it would slip out of the hand"
    for wrong in ("5", "-1", "", "x"):
        press(panel.controls, "at", key=wrong)
    assert line(panel) == (0, 1e4)


def test_other_way_round(panel: ParameterMap) -> None:
    press(panel.controls, "at", key="3")
    press(panel.controls, "along", key="S")
    assert line(panel) == (2, 0)
    assert panel.slice.alt.startswith("f along S at p = 2:")
    assert 'max="4"' in panel.controls.pieces["slider"]
    press(panel.controls, "along", key="q")
    assert panel.controls.along == "S"


def test_press_on_the_map_chooses_the_nearest_slice(panel: ParameterMap) -> None:
    from_page(panel.map, clicked={"x": 7.0, "y": 700.0, "n": 1})
    assert line(panel) == (0, 1000)
    assert 'value="2"' in panel.controls.pieces["slider"]
    from_page(panel.map, clicked={"x": "<b>", "y": None, "n": 2})
    assert line(panel) == (0, 1000)


def test_map_follows_the_session(panel: ParameterMap, session: Session) -> None:
    before = len(panel.map.figure["data"][1]["x"])
    session.exclude((2, 10))
    assert len(panel.map.figure["data"][1]["x"]) == before - 1
    panel.close()
    session.include()
    assert len(panel.map.figure["data"][1]["x"]) == before - 1


def test_explorer_shows_it_where_there_are_two_parameters(wire: Wire, session: Session, caplog: pytest.LogCaptureFixture) -> None:
    explorer = Explorer(session)
    assert explorer.map in explorer.children[1].children[1].children
    old = explorer.rulers
    session_of_one = Session(DATA.sel(S=10.0), {"f": "log(p)"})
    assert Explorer(session_of_one).map is None
    session.use_data(DATA.sel(S=10.0))
    assert explorer.map is None
    assert [ruler.parameter for ruler in explorer.rulers] == ["p"]
    assert old[0].comm is None
    session.undo()
    assert explorer.map in explorer.children[1].children[1].children
    assert len(explorer.rulers) == 2
    assert caplog.records == []


@pytest.mark.browser
def test_slider_in_the_page(show: Callable[..., Any], axe: Callable[[Any], list[Any]], panel: ParameterMap) -> None:
    page = show(panel.controls, width=360)
    assert axe(page) == []
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => sent.length && sent.at(-1).value.key === '2'")
    assert {one["name"] for one in page.evaluate("sent")} == {"at"}
    page.get_by_label("Slice along").select_option("S")
    assert page.evaluate("sent.at(-1)") == {"name": "along", "value": {"key": "S"}}
