"""The timeline in a real JupyterLab: keys and the wheel zoom, Python sees it and moves it, nothing asked of any network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer
from test_explorer_in_lab import eventually
from waiting import PATIENCE_S

from scalkit.trace import TraceBuilder
from scalkit.trace.views.timeline import Timeline

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    """from pathlib import Path
from scalkit.trace import TraceBuilder
from scalkit.widgets import TimelineView
trace = TraceBuilder(2, simulated=True)
for one in range(2):
    for k in range(50):
        trace.call(one, "MPI_Barrier", 10_000 * k + 1000 * one, 10_000 * k + 4000, scope=0)
trace.write(Path("t"))""",
    "view = TimelineView('t')\nview",
)
SEEN = "() => document.querySelector('.sk-timeline')?.dataset.seen"
COLOUR = """() => {
  const canvas = document.querySelector(".sk-timeline canvas.main"), ratio = devicePixelRatio;
  return [...canvas.getContext("2d").getImageData(canvas.width - 30 * ratio, 26 * ratio, 1, 1).data];
}"""


def test_zoom(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("timeline.ipynb", *CELLS))
    page.wait_for_function(SEEN)
    canvas = page.locator(".sk-timeline canvas.main")
    canvas.focus()
    page.keyboard.press("+")
    eventually(lambda: lab.value("view.window") == [123_500, 370_500])
    before = page.wait_for_function(SEEN).json_value()
    canvas.hover(position={"x": 300, "y": 60})
    page.mouse.wheel(0, -200)
    page.wait_for_function(f"() => ({SEEN})() > {before}")
    eventually(lambda: lab.value("view.window[1] - view.window[0]") < 200_000)
    page.wait_for_function("() => document.querySelector('.sk-timeline .said').textContent.startsWith('Process 1: ')")
    lab.value("view.zoom(0, 3e-6) and 0")
    page.wait_for_function("() => document.querySelector('.sk-timeline .window').textContent === '3 µs from 0 s'")
    page.wait_for_function(f"() => JSON.stringify(({COLOUR})()) === '[86,180,233,255]'")
    assert page.outside == []
    assert page.errors == []


def test_gestures_are_timed(lab: LabServer, lab_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import timeline_browser

    monkeypatch.setattr(timeline_browser, "WATCH", timeline_browser.WATCH.replace("> 5000", f"> {1000 * PATIENCE_S}"))
    trace = TraceBuilder(2, simulated=True)
    for one in range(2):
        for k in range(50):
            trace.call(one, "MPI_Barrier", 10_000 * k + 1000 * one, 10_000 * k + 4000, scope=0)
    timeline = Timeline(trace.write(tmp_path / "t"))
    found = timeline_browser.in_lab(lab, lab_page, timeline, 2)
    assert (found["gestures"], found["without_an_answer"]) == (2, 0)
    assert found["kernel_MB"] > 0
