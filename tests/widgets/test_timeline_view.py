"""The timeline in a page: gestures change what is in view, bytes come back, and what is drawn is what was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tabs import Tabs
from timeline_page import answer_all, asked
from traitlets import TraitError

from scalkit.errors import DataError, UsageError
from scalkit.plots.traces.timeline import timeline_svg
from scalkit.trace import TraceBuilder
from scalkit.widgets import TimelineView

Show = Callable[..., Any]
HOSTILE = "<img src=x onerror=alert(1)>"
MILLION = 1_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 processes over 100 ms: all get from the next one, which is in no call until the end, and wait for it."""
    trace = TraceBuilder(12, simulated=True)
    for one in range(12):
        trace.call(one, "MPI_Init", 0, MILLION)
        trace.enter(one, HOSTILE, 10 * MILLION)
        for turn in range(4):
            begin = (20 + 10 * turn) * MILLION + one * 50_000
            posted = trace.call(one, "MPI_Get", begin, begin + 1000, scope=1, peer=(one + 1) % 12)
            trace.transfer(one, "get", posted, (one + 1) % 12)
            done = trace.call(one, "MPI_Win_flush", begin + 2000, begin + 5 * MILLION, scope=1, peer=(one + 1) % 12)
            trace.complete(one, done, posted)
        trace.leave(one, HOSTILE, 90 * MILLION)
        trace.call(one, "MPI_Finalize", 99 * MILLION, 100 * MILLION)
    return trace.write(tmp_path_factory.mktemp("t"))


@pytest.fixture
def view(folder: Path) -> TimelineView:
    return TimelineView(folder)


def test_answers_are_bytes(view: TimelineView) -> None:
    asked_for = {"n": 3, "begin": 0, "end": 100 * MILLION, "first": 2, "count": 4, "columns": 500, "rows": 80}
    ((told, buffers),) = asked(view, {"name": "look", "value": asked_for | {"bars": 0}})
    raster = view.timeline.raster(0, 100 * MILLION, 500, range(2, 6), 80)
    assert (told["raster"]["n"], told["raster"]["rows"], told["raster"]["columns"]) == (3, *raster.kind.shape)
    assert buffers == [raster.kind.tobytes(), raster.wait.tobytes()]
    assert len(json.dumps(told)) < 250
    ((told, buffers),) = asked(view, {"name": "look", "value": asked_for})
    bars = view.timeline.bars(0, 100 * MILLION, range(2, 6))
    assert bars is not None
    assert "bars" in told
    assert np.frombuffer(buffers[0], "<i4").tolist() == bars.row.tolist()
    assert np.frombuffer(buffers[4], "<f8").tolist() == bars.begin.tolist()
    assert len(buffers) == 12
    ((told, _),) = asked(view, {"name": "point", "value": {"n": 1, "location": 0, "time": 22 * MILLION}})
    assert told["said"]["text"].endswith("MPI_Win_flush, from 20 ms for 4.998 ms, of which 48 µs wait for progress")
    assert asked(view, {"name": "point", "value": {"n": 1, "location": 0, "time": 10**10}})[0][0]["said"]["text"] == ""


@pytest.mark.parametrize(
    "content",
    [
        None,
        {"name": "look"},
        {"name": "look", "value": {"n": 1}},
        {"name": "look", "value": {"n": 1, "begin": 0, "end": 9, "first": 11, "count": 4, "columns": 9, "rows": 9}},
        {"name": "point", "value": {"n": 1, "location": "x", "time": 0}},
        {"name": "quit", "value": {}},
    ],
)
def test_nonsense_is_not_answered(view: TimelineView, content: Any) -> None:
    assert asked(view, content) == []


def test_in_python(view: TimelineView, folder: Path, tmp_path: Path) -> None:
    assert view.zoom(0.02, 0.03).window == [20e6, 30e6]
    view.group = [4, 2]
    for wrong in ([12, 1], [0, 13], [0, 0]):
        with pytest.raises((UsageError, TraitError)):
            view.group = wrong
    with pytest.raises(UsageError, match="is empty; its end comes after its begin"):
        view.zoom(1, 1)
    with pytest.raises(UsageError, match=r"from 1 to 2 s lies beyond the trace, which lasts from 0 to 0\.1\d* s\.$"):
        view.zoom(1, 2)
    assert view.zoom(-1, 0.01).window == [0, 10e6]
    with pytest.raises(DataError, match="there is no trace in"):
        TimelineView(tmp_path)
    assert repr(view).startswith("<TimelineView: Timeline of simulated 12 processes over 100 ms; all together: ")
    bundle = view._repr_mimebundle_()[0]["text/html"]
    assert "Simulated, not measured." in bundle
    assert HOSTILE not in bundle
    assert "data:image/png;base64," in bundle
    assert len(bundle) < 60_000


def test_sums(view: TimelineView) -> None:
    timeline = view.timeline
    whole = timeline.sums(0, timeline.span)
    bars = timeline.bars(0, timeline.span, most=1_000_000)
    assert bars is not None
    assert whole.pop("waiting") == pytest.approx(1e-9 * (bars.wait_end - bars.wait_begin).sum())
    amounts = np.bincount(np.array(timeline.class_of_path)[bars.path], bars.end - bars.begin)
    assert whole == pytest.approx({timeline.classes[k]: 1e-9 * amounts[k] for k in np.flatnonzero(amounts)})
    assert timeline.sums(0, MILLION // 2, [3]) == pytest.approx({"MPI_Init": 0.0005})


@pytest.mark.browser
def test_span_and_keys(view: TimelineView, show: Show, axe: Callable[[Any], list[Any]]) -> None:
    page = show(view, width=700)
    answer_all(page, view)
    box = page.locator("canvas.main").bounding_box()
    page.mouse.click(box["x"] + 5, box["y"] + 3)
    assert answer_all(page, view) == [], "there is no process beside the axes"
    at = [box["x"] + 48 + share * (box["width"] - 56) for share in (0.2, 0.6)]
    page.keyboard.down("Shift")
    page.mouse.move(at[0], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(at[1], box["y"] + 60)
    page.mouse.up()
    page.keyboard.up("Shift")
    (asked_for,) = [one["value"] for one in answer_all(page, view) if one["name"] == "sum"]
    assert asked_for["begin"] == pytest.approx(20 * MILLION, rel=0.01)
    rows = page.locator(".sums tr")
    assert rows.count() == len(view.timeline.sums(asked_for["begin"], asked_for["end"]))
    told = page.locator(".sums").inner_text()
    assert "MPI_Win_flush" in told
    assert "processes 0 to 11" in told
    assert page.evaluate("() => state.window") == [0, view.timeline.span], "nothing was moved"
    assert axe(page) == []
    page.get_by_role("button", name="Show the span that is selected").click()
    page.wait_for_function("() => state.window[0] > 0")
    page.get_by_role("button", name="Select nothing").click()
    assert page.locator(".sums").is_hidden()

    page.mouse.click(at[0], box["y"] + 40)
    answer_all(page, view)
    page.mouse.move(at[1], box["y"] + 40)
    assert answer_all(page, view) == [], "what is said of a call that was clicked stays"
    page.focus("canvas.main")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    answer_all(page, view)
    page.keyboard.press("w")
    page.keyboard.press("d")
    answer_all(page, view)
    assert page.evaluate("() => state.window") == pytest.approx([37.5e6, 87.5e6], rel=0.01)


@pytest.mark.browser
def test_still_picture_is_drawn(view: TimelineView, tabs: Tabs) -> None:
    """The image in the SVG is one that a browser reads, with the colours of the legend."""
    page = tabs.take({}, 1280, 720)
    page.set_content(timeline_svg(view.timeline))
    found = page.evaluate(
        """async () => {
          const image = new Image();
          image.src = document.querySelector("image").getAttribute("href");
          await image.decode();
          const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const at = (x, y) => [...context.getImageData(x * image.width, y * image.height, 1, 1).data];
          return [at(0.005, 0.04), at(0.05, 0.5), at(0.23, 0.01)];
        }"""
    )
    assert found[1] == [0xE6, 0xE9, 0xEC, 255], "outside of calls"
    assert found[0] == [0x00, 0x9E, 0x73, 255], "the third of the calls that take most, MPI_Init"
    assert found[2] == [0x56, 0xB4, 0xE9, 255], "the first of them, MPI_Win_flush"


@pytest.mark.browser
def test_gestures(view: TimelineView, show: Show, axe: Callable[[Any], list[Any]]) -> None:
    page = show(view)
    first = answer_all(page, view)
    assert {one["name"] for one in first} == {"look"}
    assert axe(page) == []
    assert HOSTILE in page.locator(".legend").inner_text()
    page.focus("canvas.main")
    for key in ("+", "+", "ArrowRight"):
        page.keyboard.press(key)
    answer_all(page, view)
    assert page.evaluate("() => state.window") == pytest.approx([43.75e6, 68.75e6])
    box = page.locator("canvas.main").bounding_box()
    x, y = box["x"] + 600, box["y"] + 120
    page.mouse.move(x, y)
    page.mouse.wheel(0, -120)
    answer_all(page, view)
    begin, end = page.evaluate("() => state.window")
    at = (600 - 48) / (box["width"] - 56)
    assert end - begin < 24e6
    assert begin + at * (end - begin) == pytest.approx(43.75e6 + at * 25e6, rel=1e-3), "the place under the pointer stays"
    assert "Process 5: " in page.locator(".said").inner_text()
    n_changes = page.evaluate("() => { holdTimers(); return log.length; }")
    page.mouse.down()
    page.mouse.move(x - 100, y, steps=4)
    page.mouse.up()
    page.evaluate("() => letTimersGo()")
    answer_all(page, view)
    moved = page.evaluate("() => state.window")
    assert page.evaluate("(n) => log.slice(n)", n_changes) == [["window", moved]], "a gesture is one change of a trait"
    assert moved[1] - moved[0] == pytest.approx(end - begin)
    assert moved[0] > begin
    page.select_option("select", "8,4")
    assert answer_all(page, view)[0]["value"]["first"] == 8
    assert page.evaluate("() => state.group") == [8, 4]
    page.keyboard.press("Home")
    page.focus("canvas.main")
    page.keyboard.press("Home")
    answer_all(page, view)
    assert page.evaluate("() => state.window") == [0, 100 * MILLION]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    answer_all(page, view)
    assert page.locator(".said").inner_text().startswith("Process 9: ")


@pytest.mark.browser
def test_from_python_narrow_and_dark(view: TimelineView, show: Show) -> None:
    page = show(view, width=360, theme="dark")
    answer_all(page, view)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    colour = "() => [...document.querySelector('canvas.main').getContext('2d').getImageData(60, 30, 1, 1).data]"
    assert page.evaluate(colour) == [0x33, 0x39, 0x3F, 255], "outside of calls, in the dark"
    page.evaluate("() => model.set('window', [20e6, 24e6])")
    (value,) = (one["value"] for one in answer_all(page, view) if one["value"]["n"])
    assert (value["begin"], value["end"]) == (20e6, 24e6)
    page.evaluate("() => model.set('group', [3, 2])")
    assert answer_all(page, view)[0]["value"]["first"] == 3
    page.evaluate("() => stop()")
    assert page.evaluate("() => listeners()") == 0
