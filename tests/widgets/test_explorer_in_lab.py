"""The explorer in a real JupyterLab: choose, expect, undo, run the cell again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer, settle
from waiting import wait_until

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    f"""import ipywidgets
import scalkit as sk
session = sk.Session({str(ROOT / "data" / "quickstart")!r}, "mpi")""",
    "app = sk.explore(session)\napp",
)

AXE = """async () => {
  const { violations } = await axe.run('.jp-OutputArea-output:has(.sk-part)', {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], rules: {'target-size': {enabled: true}},
  });
  return violations.map((v) => [v.id, v.nodes.map((n) => [n.html.slice(0, 200), n.failureSummary]).slice(0, 4)]);
}"""


def picture(page: Any, name: str) -> None:
    folder = os.environ.get("SCALKIT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until Python knows what the page knows: messages of the page wait for each other."""
    wait_until(holds, "agreement of Python and the page")


def test_explorer(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    page.set_viewport_size({"width": 1280, "height": 2100})
    lab.open(page, lab.notebook("explorer.ipynb", *CELLS))
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    page.get_by_role("button", name="MPI_Bcast", exact=True).click()
    page.wait_for_selector(".sk-part h3:text('MPI_Bcast, run time')")
    assert lab.value("session.selected") == ["MPI_Bcast", "time"]
    page.mouse.move(5, 500)
    picture(page, "explorer")

    page.fill(".sk-part input[name=expectation]", "p^(3/2)")
    page.keyboard.press("Enter")
    page.wait_for_selector(".sk-part button[title='Undo: expect p^(3/2) of MPI_Bcast']")
    assert lab.value("session.history") == ["expect p^(3/2) of MPI_Bcast"]
    page.locator("button[data-press=undo]").click()
    page.wait_for_selector("button[data-press=undo]:disabled")
    assert lab.value("session.history") == []

    # The list of terms may be drawn again after the button: only then does the second row keep its term.
    settle(page)
    term = page.locator("tr[data-term]").nth(1).get_attribute("data-term")
    page.locator("tr[data-term]").nth(1).hover()
    page.wait_for_selector(f'.tick.hover[data-growth="{term}"]')
    page.wait_for_function(
        "(term) => document.querySelector('.js-plotly-plot').data.some((one) => one.meta?.growth === term && one.visible)",
        arg=term,
    )
    eventually(lambda: lab.value("app.hypotheses.hover") == term)
    page.mouse.move(5, 500)

    page.get_by_role("columnheader", name="Function").get_by_role("button").click()
    page.wait_for_selector("th[aria-sort=ascending]:has-text('Function')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("() => document.activeElement.closest('table').getAttribute('role')") == "grid"

    cells = page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
    page.get_by_role("button", name="MPI_Reduce", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".sk-part h3:text('MPI_Reduce, run time')")
    for key in "ddabx":
        page.keyboard.press(key)
    assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == cells
    page.get_by_text("Copy as Python").click()
    page.wait_for_selector("pre:has-text('session.select')")

    count = "len(ipywidgets.widgets.widget._instances)"
    before = lab.value(count)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_selector(".sk-part h3:text('MPI_memory')")
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    settle(page)
    assert lab.value(count) == before

    page.add_script_tag(content=(ROOT / "tests" / "vendor" / "axe.min.js").read_text(encoding="utf-8"))
    page.evaluate("() => document.querySelectorAll('.sk-part details').forEach((one) => { one.open = true; })")
    page.wait_for_selector("pre:has-text('session.select')")
    settle(page)
    assert page.evaluate(AXE) == []
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    settle(page)
    picture(page, "explorer_dark")
    assert page.evaluate(AXE) == []
    assert page.outside == []
    assert page.errors == []
