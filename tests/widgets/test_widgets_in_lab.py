"""The widgets in a real JupyterLab: a drag, a key, a reload, a kernel that is gone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer, grab, settle
from test_explorer_in_lab import eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    """import numpy as np
import scalkit as sk
from scalkit import plots
from scalkit.session import Session
from scalkit.widgets import PlotView, Ruler

p = 2.0 ** np.arange(1, 9)
session = Session(sk.measurements(p, 1 + 0.2 * np.sqrt(p) * np.log2(p), name="solve"), {"solve": "p"})
ruler = Ruler(session=session)
view = PlotView(plots.fit(session.verdict))
session.observe(lambda changed: view.show(plots.fit(session.verdict)) if "result" in changed else None)""",
    "ruler",
    "view",
    "'last'",
)


def picture(page: Any, name: str) -> None:
    folder = os.environ.get("SCALKIT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def n_cells(page: Any) -> int:
    return int(page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length"))


def wait_for_widgets(page: Any) -> None:
    page.wait_for_selector('.tick[data-growth="p^(1/4)"]')
    page.wait_for_selector(".sk-plot[data-drawn]")


def knob(page: Any, growth: str) -> Any:
    return page.locator(f'.tick[data-growth="{growth}"] .knob')


def test_ruler_and_view(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("widgets.ipynb", *CELLS))
    wait_for_widgets(page)
    page.locator(".sk-ruler").scroll_into_view_if_needed()
    picture(page, "lab")
    best = lab.value("str(session.verdict.model.growth)")
    assert best == "p^(1/2)*log(p)"

    drawn = page.locator(".sk-plot").get_attribute("data-drawn")
    x, y = grab(page, knob(page, best))
    end = knob(page, "p^(3/4)*log(p)").bounding_box()["x"]
    for k in range(1, 11):
        page.mouse.move(x + (end - x) * k / 10 * 0.7, y)
    page.mouse.up()
    page.wait_for_function("(was) => +document.querySelector('.sk-plot').dataset.drawn > +was", arg=drawn)
    there = page.locator(".tick.selected").get_attribute("data-growth")
    eventually(lambda: there in (ticks := lab.value("[str(g) for g in session.space.ticks]")) and best not in ticks)
    settle(page)
    assert lab.value("session.history") == [f"move tick {best} to {there}"]
    assert lab.value("[t['growth'] for t in ruler.ticks]") == lab.value("[str(g) for g in session.space.ticks]")
    picture(page, "lab_dragged")

    page.keyboard.press("Control+z")
    page.wait_for_selector(f'.tick.best[data-growth="{best}"]')
    assert lab.value("session.history") == []

    cells = n_cells(page)
    page.locator('.tick[data-growth="p^(1/4)"]').focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector('.tick[data-growth="p^(1/4)"]', state="detached")
    for key in "ddabxz":
        page.keyboard.press(key)
    assert n_cells(page) == cells
    page.keyboard.press("Control+z")
    page.wait_for_selector('.tick[data-growth="p^(1/4)"]')
    page.locator('.tick[data-growth="p^(1/4)"]').focus()
    page.keyboard.press("Delete")
    page.wait_for_selector('.tick[data-growth="p^(1/4)"]', state="detached")
    page.wait_for_function("() => document.activeElement.dataset.growth === 'p^(1/3)'")
    page.wait_for_selector(".sk-ruler button:enabled:text('undo')")
    assert lab.value("session.history") == ["remove tick p^(1/4)"]

    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    lab.reopen(page, "widgets.ipynb")
    page.wait_for_selector('.tick[data-growth="p^(1/3)"]')
    page.wait_for_selector(".sk-plot[data-drawn]")
    assert page.locator('.tick[data-growth="p^(1/4)"]').count() == 0

    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').layout.font.color === '#e6e9ec'")
    page.mouse.move(5, 500)
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    picture(page, "lab_dark")

    assert page.outside == []
    assert page.errors == []
    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.restartKernel()")
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.sk-ruler'), '::after').content.includes('Python does not listen')"
    )
    picture(page, "lab_restarted")
