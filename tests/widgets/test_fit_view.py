"""The grips of a fit: what is pulled becomes one step of the session; pointer, finger and keys pull alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_plot_view import drawn
from widget_page import at_rest

import scalkit as sk
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.widgets.explorer.plot_panel import PlotPanel

Show = Callable[..., Any]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    made = {"f": 1 + 0.2 * np.sqrt(P) * np.log2(P), "g": 3 + 0.5 * P}
    return Session(combine([sk.measurements(P, y, name=name) for name, y in made.items()]), {"f": "p", "g": "p"}).select("f")


def pull(panel: PlotPanel, grip: str, growth: str = "") -> None:
    n = panel.fit.pulled.get("n", 0) + 1
    panel.fit.set_state({"pulled": {"n": n, "grip": grip, "growth": growth}})


def test_curves_are_those_of_the_figure(wire: object, session: Session) -> None:
    panel = PlotPanel(session)
    grips = panel.fit.grips
    assert grips["ticks"][grips["expectation"]]["growth"] == "p"
    assert grips["ticks"][grips["limit"]] | {"y": 0} == {"growth": "p^(3/2)", "name": "p^(3/2)", "y": 0}
    drawn_expected = next(one for one in panel.fit.figure["data"] if one["name"] == "expected p")
    middle = len(grips["x"]) // 2
    assert grips["ticks"][grips["expectation"]]["y"][middle] == pytest.approx(drawn_expected["y"][24], rel=1e-4)
    assert {one["growth"] for one in grips["ticks"]} >= {str(tick) for tick in session.space.ticks}  # type: ignore[union-attr]


def test_each_pull_is_one_step(wire: object, session: Session) -> None:
    panel = PlotPanel(session)
    pull(panel, "expectation", "p^(1/2)*log(p)")
    assert str(session.expectation) == "O(p^(1/2)*log(p))"
    assert session.history == ("expect p^(1/2)*log(p) of f",)
    assert session.verdict.match == "total"  # type: ignore[union-attr]
    assert panel.fit.grips["ticks"][panel.fit.grips["expectation"]]["growth"] == "p^(1/2)*log(p)"
    pull(panel, "limit", "p^(1/2)*log(p)")
    assert session.expectation.limits[0] == session.expectation.growth  # type: ignore[union-attr]
    pull(panel, "undo")
    pull(panel, "undo")
    pull(panel, "undo")
    assert (str(session.expectation), session.history) == ("O(p)", ())
    pull(panel, "redo")
    assert session.history == ("expect p^(1/2)*log(p) of f",)


def test_what_cannot_be_is_refused_in_words(wire: object, session: Session) -> None:
    panel = PlotPanel(session)
    pull(panel, "limit", "log(p)")
    assert "falls; it must be 1 or grow" in panel.fit.problem
    pull(panel, "expectation", "q(p)<b>")
    assert "q(p)" in panel.fit.problem
    assert session.history == ()
    pull(panel, "expectation", "p^2")
    assert panel.fit.problem == ""


def test_several_parameters_have_no_grips(wire: object) -> None:
    p, size = (one.ravel() for one in np.meshgrid(2.0 ** np.arange(1, 6), 2.0 ** np.arange(3, 8)))
    data = sk.measurements(np.stack([p, size], axis=1), np.log2(p) * size, parameter=["p", "S"], name="f")
    assert PlotPanel(Session(data, {"f": "log(p)*S"})).fit.grips == {}


def centre(page: Any, grip: str) -> tuple[float, float]:
    at_rest(page)
    box = page.locator(f".grip.{grip}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.browser
@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (700, "light")])
def test_grip_follows_the_pointer_and_escape_takes_it_back(
    show: Show, axe: Callable[[Any], list[Any]], session: Session, width: int, theme: str
) -> None:
    page = drawn(show, PlotPanel(session).fit, width=width, theme=theme, scheme=theme)
    assert axe(page) == []
    curve, said = page.locator(".sk-grips path"), page.locator(".sk-grips .said")
    x, y = centre(page, "expectation")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 4)
    at_rest(page)
    assert page.get_by_role("slider", name="Expectation").get_attribute("aria-valuetext") == "p", "a trembling hand"
    page.mouse.move(x, y + 8)
    at_rest(page)
    near = page.get_by_role("slider", name="Expectation").get_attribute("aria-valuetext")
    assert near != "p", "a small move is one"
    assert said.text_content() == f"expect {near}"
    assert curve.get_attribute("d")
    page.keyboard.press("Escape")
    page.mouse.up()
    assert (curve.get_attribute("d"), said.text_content()) == (None, "")
    assert page.evaluate("state.pulled") == {}
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y + 50, steps=5)
    at_rest(page)
    wanted = page.evaluate("() => document.querySelector('.grip.expectation').ariaValueText")
    page.mouse.up()
    pulled = page.evaluate("state.pulled")
    assert (pulled["n"], pulled["grip"], pulled["growth"].replace("(p)", " p").replace("*", " · ")) == (1, "expectation", wanted)
    assert page.evaluate("saved") == 1


@pytest.mark.browser
def test_held_key_is_one_pull_and_the_limit_stays_above(show: Show, session: Session) -> None:
    page = drawn(show, PlotPanel(session).fit)
    limit = page.get_by_role("slider", name="Upper limit")
    limit.focus()
    page.keyboard.down("ArrowDown")
    page.keyboard.down("ArrowDown")
    shown = limit.get_attribute("aria-valuetext")
    assert page.evaluate("state.pulled") == {}
    page.keyboard.up("ArrowDown")
    assert page.evaluate("state.pulled") == {"n": 1, "grip": "limit", "growth": "p^(4/3)"}
    assert shown == "p^(4/3)"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("state.pulled.growth") == "p^(5/4)*log(p)", "before Python answers"
    page.evaluate("() => model.set('problem', 'No.')")
    assert limit.get_attribute("aria-valuetext") == "p^(3/2)"
    page.evaluate("() => model.set('grips', { ...model.get('grips'), limit: model.get('grips').expectation + 1 })")
    page.keyboard.press("Home")
    assert page.evaluate("state.pulled.growth") == "p", "which is expected: nothing may deviate"
    page.keyboard.press("Control+z")
    assert page.evaluate("state.pulled") == {"n": 4, "grip": "undo", "growth": ""}
    page.evaluate("() => model.set('problem', 'No <b>such</b> limit.')")
    assert page.get_by_role("alert").text_content() == "No <b>such</b> limit."
    assert page.evaluate("() => { stop(); return listeners(); }") == 0


@pytest.mark.browser
def test_finger_pulls_as_well(chromium: Any, show: Show, session: Session) -> None:
    page = drawn(show, PlotPanel(session).fit, width=360)
    touch = page.context.new_cdp_session(page)
    x, y = centre(page, "expectation")
    for kind, points in (("Start", [{"x": x, "y": y}]), ("Move", [{"x": x, "y": y + 40}]), ("End", [])):
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    page.wait_for_function("() => state.pulled.n === 1")
    assert page.evaluate("scrollY") == 0
