"""The timeline in JupyterLab and Chromium: gestures, from the event until the picture of the new window is on the screen."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.trace.views.timeline import Timeline

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "widgets"))

__all__ = ["in_browser", "in_lab"]

OPEN = """from scalkit.trace.views.timeline import Timeline
from scalkit.widgets import TimelineView
timeline = Timeline({folder!r})"""
SHOW = """view = TimelineView(timeline)
view"""
PEER = """import ipywidgets, plotly.graph_objects as go
heat = go.FigureWidget(go.Heatmap(z=timeline.raster(0, timeline.span, 1200, rows=480).kind))
def look(change):
    begin, end = change["new"]
    raster = timeline.raster(int(begin), int(end), 1200, rows=480)
    heat.data[0].z = raster.kind
window = ipywidgets.FloatRangeSlider(min=0, max=timeline.span, value=[0, timeline.span], step=timeline.span / 50,
    continuous_update=False)
window.observe(look, "value")
ipywidgets.VBox([window, heat])"""

READY = "() => { const one = document.querySelector('.sk-timeline'); return one && one.dataset.seen; }"
WATCH = """() => {
  const box = document.querySelector(".sk-timeline"), seen = window.__gesture = { begun: 0 };
  const event = (one) => { if (!seen.begun) seen.begun = one.timeStamp; };
  for (const kind of ["wheel", "keydown"]) addEventListener(kind, event, { capture: true, passive: true });
  window.__gestured = () => new Promise((resolve) => {
    const before = box.dataset.drawn, last = box.dataset.seen;
    let first = 0;
    const look = () => {
      const now = performance.now();
      if (seen.begun && !first && box.dataset.drawn !== before) first = now;
      if (seen.begun && box.dataset.seen && box.dataset.seen !== last)
        return requestAnimationFrame((shown) => resolve({ sharp: shown - seen.begun, moved: first - seen.begun }));
      if (seen.begun && now - seen.begun > 5000) return resolve(null);
      requestAnimationFrame(look);
    };
    seen.begun = 0;
    requestAnimationFrame(look);
  });
}"""


def in_browser(timeline: Timeline, gestures: int, with_peer: bool, seed: int = 1) -> dict[str, Any]:
    """Zoom and pan in a real JupyterLab; return milliseconds until the old picture moved and until the new one is there."""
    from lab_server import LabServer
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = LabServer(Path(folder))
        try:
            lab.wait()
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(120_000)
            found = in_lab(lab, page, timeline, gestures, seed)
            if with_peer:
                lab.notebook("p.ipynb", _opened(timeline), PEER)
                lab.open(page, "p.ipynb")
                found |= _peer(page, max(5, gestures // 5))
            browser.close()
        finally:
            lab.stop()
    return found


def in_lab(lab: Any, page: Any, timeline: Timeline, gestures: int, seed: int = 1) -> dict[str, Any]:
    """Zoom and pan in a page of a JupyterLab that runs."""
    lab.open(page, lab.notebook("t.ipynb", _opened(timeline), SHOW))
    page.wait_for_function(READY)
    page.wait_for_timeout(1500)
    return {**_gestures(page, gestures, seed), "kernel_MB": float(lab.value(_MEMORY))}


def _opened(timeline: Timeline) -> str:
    return OPEN.format(folder=str(timeline.folder))


_MEMORY = "int([l for l in open('/proc/self/status') if l.startswith('RssAnon')][0].split()[1]) / 1024"


def _gestures(page: Any, n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    page.evaluate(WATCH)
    canvas = page.locator(".sk-timeline canvas.main")
    canvas.focus()
    box = canvas.bounding_box()
    sharp, moved, lost = [], [], 0
    depth = 0
    for _ in range(n):
        page.mouse.move(box["x"] + 60 + rng.uniform(0, box["width"] - 80), box["y"] + box["height"] / 2)
        page.wait_for_timeout(250)
        is_in = rng.random() < (0.75 if depth < 30 else 0.3)
        act: Callable[[], object] = (
            (lambda: page.keyboard.press("ArrowRight"))
            if rng.random() < 0.3
            else (lambda into=is_in: page.mouse.wheel(0, -300 if into else 300))
        )
        depth += 1 if is_in else -1
        waiting = page.evaluate_handle("() => { window.__told = __gestured(); }")
        act()
        told = page.evaluate("() => window.__told")
        waiting.dispose()
        if told is None:
            lost += 1
        else:
            sharp.append(told["sharp"])
            moved.append(told["moved"])
    return {
        "gestures": len(sharp),
        "without_an_answer": lost,
        "browser_median_ms": float(np.median(sharp)),
        "browser_p95_ms": float(np.quantile(sharp, 0.95)),
        "browser_most_ms": float(max(sharp)),
        "old_picture_moved_p95_ms": float(np.quantile(moved, 0.95)),
    }


def _peer(page: Any, n: int) -> dict[str, Any]:
    """Move the window of plotly's heatmap by the keyboard, and wait for its picture."""
    page.wait_for_selector(".js-plotly-plot .heatmaplayer image")
    page.wait_for_timeout(1500)
    times = []
    page.locator(".noUi-handle-upper").focus()
    for _ in range(n):
        taken = """() => new Promise((resolve) => {
          const image = () => document.querySelector('.heatmaplayer')?.innerHTML, before = image(), begun = performance.now();
          const look = () => {
            const now = image();
            if (now && now.includes('<image') && now !== before) return requestAnimationFrame((shown) => resolve(shown - begun));
            if (performance.now() - begun > 8000) return resolve(NaN);
            requestAnimationFrame(look);
          };
          look();
        })"""
        waiting = page.evaluate_handle(f"() => {{ window.__told = ({taken})(); }}")
        page.keyboard.press("ArrowLeft")
        times.append(page.evaluate("() => window.__told"))
        waiting.dispose()
        page.wait_for_timeout(300)
    seen = np.array([one for one in times if one is not None and np.isfinite(one)])
    if not len(seen):
        return {"heatmap_gestures": 0}
    return {
        "heatmap_gestures": len(seen),
        "heatmap_median_ms": float(np.median(seen)),
        "heatmap_p95_ms": float(np.quantile(seen, 0.95)),
    }
