"""The explorer in a real JupyterLab: choose, expect, undo, run the cell again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    f"""import ipywidgets
import scalkit as sk
session = sk.Session({str(ROOT / "data" / "quickstart")!r}, "mpi")""",
    "app = sk.Explorer(session)\napp",
)


def picture(page: Any, name: str) -> None:
    folder = os.environ.get("SCALKIT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


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
    page.wait_for_selector(".sk-part h3:text('MPI_Barrier, run time')")
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    assert lab.value(count) == before

    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    picture(page, "explorer_dark")
    assert page.outside == []
    assert page.errors == []
