"""A lesson in a real JupyterLab: an exercise answered in its card and in its cell, and a fit made to lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "import scalkit as sk\nfrom scalkit.teaching import simulated",
    'order = sk.Exercise.load("01-order")\norder',
    'order.check("...")',
    'exchange = sk.Session(simulated("02-exchange"), {"exchange": "p"})\n'
    'lie = sk.Exercise.load("02-mislead", session=exchange)\nlie',
)


def picture(page: Any, name: str) -> None:
    folder = os.environ.get("SCALKIT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_lesson(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("lesson.ipynb", *CELLS))
    order, lie = page.locator(".sk-exercise").nth(0), page.locator(".sk-exercise").nth(1)
    lie.wait_for()
    page.wait_for_selector(".jp-OutputArea-output:has-text('Put your answer in place of the dots.')")
    cells = page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")

    order.locator("input").fill("p^2")
    page.keyboard.press("Enter")
    order.get_by_text("It grows too fast for large p.").wait_for()
    order.get_by_role("button", name="Hint").focus()
    page.keyboard.press("Enter")
    order.get_by_text("What does one round cost").wait_for()
    for key in "ddabx":
        page.keyboard.press(key)
    order.locator("input").fill("3*p*log2(p) + p")
    page.keyboard.press("Enter")
    order.get_by_text("solved").wait_for()
    assert lab.value("[order.exercise.is_solved, order.exercise.attempts, order.exercise.hints_used]") == [True, 2, 1]
    assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == cells

    lie.get_by_role("button", name="Check").click()
    lie.get_by_text("The fit still finds the growth").wait_for()
    assert lab.value("bool(exchange.expect('p^(1/2)').remove_tick('p'))") is True
    lie.get_by_role("button", name="Check").click()
    lie.get_by_text("A high R² only says").wait_for()
    picture(page, "lesson")

    everything = page.evaluate("() => document.documentElement.outerHTML")
    assert "Rounds come one after the other" not in everything, "the second hint was not asked for"
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    picture(page, "lesson_dark")
    assert page.outside == []
    assert page.errors == []
