"""The view of a figure: whole state in Python, drawn by the bundle in a bare page."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from widget_page import at_rest, state_of

import scalkit as sk
from scalkit import plots
from scalkit.judge import Validation
from scalkit.widgets import PlotView
from scalkit.widgets.base.plot_runtime import PlotRuntime

Wire = list[tuple[str, str, dict[str, Any]]]
Show = Callable[..., Any]


@pytest.fixture(scope="module")
def result() -> Validation:
    p = 2.0 ** np.arange(1, 8)
    return sk.validate(sk.measurements(p, 1 + 0.2 * np.sqrt(p), name="f<b>"), {"f<b>": "p^(1/2)"})


def test_state_is_whole_after_show(wire: Wire, result: Validation) -> None:
    view = PlotView(plots.fit(result["f<b>"]))
    assert view.alt.startswith("f<b>: run time from")
    other = plots.divergence(result)
    wire.clear()
    view.show(other, "A sentence.")
    assert view.figure == {k: v for k, v in json.loads(other.to_json()).items() if k in ("data", "layout")}
    assert view.alt == "A sentence."
    assert view.get_state()["figure"] == view.figure
    sent = [data for kind, _, data in wire if kind == "comm_msg"]
    assert len(sent) == 1, "figure and text arrive together"
    assert len(json.dumps(sent)) < 60_000


def test_one_runtime_for_all_views_of_a_kernel(wire: Wire) -> None:
    first, second = PlotView(go.Figure()), PlotView(go.Figure())
    assert first.runtime is second.runtime
    bundles = [data for kind, _, data in wire if kind == "comm_open" and "bundle" in data["state"]]
    assert len(bundles) <= 1
    assert 100_000 < len(first.runtime.bundle) < 600_000
    assert gzip.decompress(first.runtime.bundle).startswith(b"/**\n* plotly.js (cartesian")
    assert len(json.dumps(state_of(second))) + len(second._esm) < 20_000


def test_closed_runtime_is_replaced(wire: Wire) -> None:
    gone = PlotRuntime.shared()
    gone.close()
    assert PlotRuntime.shared() is not gone
    assert PlotView(go.Figure()).runtime.comm is not None


def drawn(show: Show, view: PlotView, **options: Any) -> Any:
    """Open a view and its runtime in a page, the view first, and wait until it is drawn."""
    page = show(view, **options)
    start_runtime(page, view)
    page.wait_for_selector("#el[data-drawn]")
    at_rest(page)
    return page


def double_click(page: Any, x: float, y: float) -> None:
    """Click twice at a place, which Plotly takes for a double click however slow the machine is."""
    page.evaluate(
        """() => {
          const plot = document.querySelector('.js-plotly-plot');
          plot._mouseDownTime = 0;
          plot._context.doubleClickDelay = 1e9;
        }"""
    )
    page.mouse.dblclick(x, y)
    at_rest(page)


def start_runtime(page: Any, view: PlotView) -> None:
    page.evaluate(
        """async ([esm, hex]) => {
          const bytes = Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
          await (await load(esm)).default.initialize({ model: { get: () => new DataView(bytes.buffer) } });
        }""",
        [view.runtime._esm, view.runtime.bundle.hex()],
    )


@pytest.mark.browser
def test_figure_is_drawn_and_named(show: Show, axe: Callable[[Any], list[Any]], result: Validation) -> None:
    view = PlotView(plots.fit(result["f<b>"]))
    page = drawn(show, view)
    assert page.locator(".main-svg").first.get_attribute("aria-label") == view.alt
    assert page.locator(".scatterlayer .trace").count() >= 2
    assert page.evaluate("() => typeof window.Plotly") == "undefined", "the page's own names are left alone"
    assert axe(page) == []


@pytest.mark.browser
def test_last_figure_wins(show: Show, result: Validation) -> None:
    page = drawn(show, PlotView(plots.fit(result["f<b>"])))
    last = json.loads(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="last")).to_json())
    page.evaluate(
        """([last]) => { for (let k = 0; k < 5; k++) model.set('figure', { data: [], layout: { title: { text: `${k}` } } });
          model.set('alt', 'the last'); model.set('figure', last); }""",
        [last],
    )
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').data[0]?.name === 'last'")
    assert page.locator(".main-svg").first.get_attribute("aria-label") == "the last"


@pytest.mark.browser
def test_click_hover_and_zoom_reach_the_model(show: Show) -> None:
    figure = go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 2, 3], mode="markers", marker={"size": 16}, name="measured"))
    figure.update_layout(height=320)
    page = drawn(show, PlotView(figure))
    box = page.locator(".scatterlayer .point").nth(1).bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.wait_for_selector(".hoverlayer .hovertext")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => state.clicked.point === 1")
    assert page.evaluate("() => [state.clicked.x, state.clicked.y, state.clicked.name]") == [2, 2, "measured"]
    area = page.locator(".nsewdrag").bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] - 20, steps=5)
    page.mouse.up()
    page.wait_for_function("() => state.xrange.length === 2")
    low, high = page.evaluate("() => state.xrange")
    assert 1 < low < high < 3


@pytest.mark.browser
def test_range_of_another_view_is_taken_over_and_given_up(show: Show, result: Validation) -> None:
    page = drawn(show, PlotView(plots.fit(result["f<b>"])))
    whole = page.evaluate("() => document.querySelector('.js-plotly-plot').layout.xaxis.range")
    page.evaluate("() => model.set('xrange', [0.5, 1])")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').layout.xaxis.range[0] === 0.5")
    page.evaluate("() => model.set('xrange', [])")
    page.wait_for_function("([low]) => document.querySelector('.js-plotly-plot').layout.xaxis.range[0] === low", arg=whole)


@pytest.mark.browser
@pytest.mark.parametrize("way", ["double click", "button"])
def test_what_was_zoomed_goes_back_to_the_range_of_the_figure_that_is_shown(show: Show, way: str) -> None:
    def along(low: float, high: float) -> dict[str, Any]:
        figure = go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 2, 3], mode="markers"))
        figure.update_layout(height=320, xaxis_range=[low, high], yaxis_range=[0, 5])
        return {"data": figure.to_dict()["data"], "layout": figure.to_dict()["layout"]}

    page = drawn(show, PlotView(along(0, 4)))
    seen = "document.querySelector('.js-plotly-plot').layout"
    page.evaluate("(figure) => model.set('figure', figure)", json.loads(go.Figure(along(1, 9)).to_json()))
    page.wait_for_function(f"() => {seen}.xaxis.range[1] === 9")
    area = page.locator(".nsewdrag").bounding_box()
    for y in (0.5, 0.8):  # of the second axis, too, which no trait holds
        page.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + area["height"] * 0.2)
        page.mouse.down()
        page.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] * y, steps=5)
        page.mouse.up()
        page.wait_for_function("() => state.xrange.length === 2")
        at_rest(page)
    if way == "button":
        page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.5)
        page.locator(".modebar-btn[data-title='Reset axes']").click()
    else:
        double_click(page, area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.5)
    page.wait_for_function(f"() => !state.xrange.length && {seen}.xaxis.range[1] === 9")
    at_rest(page)  # Plotly tells later of ranges that it sets
    now = "() => [state.xrange, layout.xaxis.range, layout.yaxis.range]".replace("layout", seen)
    assert page.evaluate(now) == [[], [1, 9], [0, 5]]
    double_click(page, area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.5)
    assert page.evaluate(now) == [[], [1, 9], [0, 5]], "and stays there"


@pytest.mark.browser
def test_height_that_was_zoomed_stays_while_the_axis_is_the_same(show: Show) -> None:
    def plotted(y: list[int], high: float) -> dict[str, Any]:
        figure = go.Figure(go.Scatter(x=[1, 2, 3], y=y, mode="markers"))
        figure.update_layout(height=320, xaxis_range=[0, 4], yaxis_range=[0, high])
        return {"data": [{"x": [1, 2, 3], "y": y, "mode": "markers", "type": "scatter"}], "layout": figure.to_dict()["layout"]}

    page = drawn(show, PlotView(plotted([1, 2, 3], 5)))
    seen = "document.querySelector('.js-plotly-plot').layout.yaxis.range"
    area = page.locator(".nsewdrag").bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + area["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] * 0.6, steps=5)
    page.mouse.up()
    page.wait_for_function("() => state.xrange.length === 2")
    count = page.evaluate("() => document.querySelector('.sk-plot').dataset.drawn")
    for y in ([1, 2, 4], [1, 1, 3]):
        page.evaluate("(figure) => model.set('figure', figure)", json.loads(json.dumps(plotted(y, 5), default=list)))
        page.wait_for_function("(old) => document.querySelector('.sk-plot').dataset.drawn !== old", arg=count)
        count = page.evaluate("() => document.querySelector('.sk-plot').dataset.drawn")
        low, high = page.evaluate(f"() => {seen}")
        assert 1.5 < low < high < 4.5, "a box has two sides"
    page.evaluate("(figure) => model.set('figure', figure)", json.loads(json.dumps(plotted([9, 9, 9], 10), default=list)))
    page.wait_for_function(f"() => {seen}[1] === 10")


@pytest.mark.browser
def test_dark_theme_and_width(show: Show, result: Validation) -> None:
    page = drawn(show, PlotView(plots.fit(result["f<b>"])), width=360)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert page.evaluate("() => document.querySelector('.js-plotly-plot').layout.font.color") == "#1b1f24"
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false'; }")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').layout.font.color === '#e6e9ec'")


@pytest.mark.browser
def test_end_of_the_view_leaves_nothing(show: Show, result: Validation) -> None:
    page = drawn(show, PlotView(plots.fit(result["f<b>"])))
    page.evaluate("() => stop()")
    assert page.evaluate("() => listeners()") == 0
    assert page.locator(".main-svg").count() == 0


@pytest.mark.browser
def test_second_runtime_does_nothing(show: Show) -> None:
    view = PlotView(go.Figure(go.Scatter(y=[1, 2])))
    page = drawn(show, view)
    page.evaluate("() => { globalThis.Plotly = 'mine'; }")
    start_runtime(page, view)
    page.evaluate("() => model.set('figure', { data: [{ y: [2, 1], name: 'again' }], layout: {} })")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').data[0].name === 'again'")
    assert page.evaluate("() => globalThis.Plotly") == "mine"
