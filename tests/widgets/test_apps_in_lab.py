"""Three apps in one notebook of a real JupyterLab: a drag in one of them, a narrow page, a reload, a report, a lost kernel."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from lab_server import LabServer, grab, settle
from test_explorer_in_lab import eventually
from waiting import PATIENCE_S

import scalkit as sk

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    """import scalkit as sk
from scalkit.reports import bundled
names = ("MPI_Win_create", "MPI_Comm_dup", "MPI_Bcast")
sessions = [sk.Session(bundled("data/quickstart"), "mpi").select(name) for name in names]""",
    "one = sk.explore(sessions[0])\none",
    "two = sk.explore(sessions[1])\ntwo",
    "three = sk.explore(sessions[2])\nthree",
)

STEPS = "[len(session.history) for session in sessions]"
TICKS = "[str(tick) for tick in sessions[1].space.ticks]"

WIDER_THAN_ITS_PLACE = """() => [...document.querySelectorAll('.jp-OutputArea-output:has(.sk-part)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => [one.scrollWidth, one.clientWidth])"""

SILENT = """() => [...document.querySelectorAll('.sk-ruler')].filter((one) =>
  getComputedStyle(one, '::after').content.includes('Python does not listen')).length"""


def test_three_apps(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("apps.ipynb", *CELLS))
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length >= 6")
    app = page.locator(".jp-CodeCell").nth(2)

    tick = app.locator(".tick:not(.expected):not(.best) .knob").nth(3)
    before = lab.value(TICKS)
    x, y = grab(page, tick)
    for k in range(1, 9):
        page.mouse.move(x + 9 * k, y)
    page.mouse.up()
    selected = app.locator(".tick.selected")
    eventually(lambda: selected.get_attribute("data-growth") not in before)
    there = selected.get_attribute("data-growth")
    eventually(lambda: there in lab.value(TICKS) and lab.value(STEPS) == [0, 1, 0])
    assert lab.value("sessions[1].history[0]").startswith("move tick ")

    app.get_by_text("Copy as Python").click()
    app.locator("pre:has-text('session.add_tick')").wait_for()
    code, said = app.locator("pre:has-text('session.add_tick')").text_content(), io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "copied", "exec"), {})
    assert said.getvalue().strip() == lab.value("sessions[1].verdict.sentence")

    app.get_by_role("heading", name="Report").click()
    app.get_by_role("button", name="▶ Write report").click()
    app.get_by_role("button", name="Open report.html ↗").wait_for()
    written = lab.root / "report.html"
    assert sk.Session.load(written).result.to_dict()["verdicts"] == lab.value("sessions[1].result.to_dict()['verdicts']")
    alone = page.context.browser.new_context(offline=True)
    reader, asked = alone.new_page(), []
    reader.set_default_timeout(1000 * PATIENCE_S)
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(written.as_uri())
    reader.wait_for_selector("html[data-figures=drawn]", state="attached")
    assert asked == [written.as_uri()]
    alone.close()

    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    lab.reopen(page, "apps.ipynb")
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length >= 6")
    app.locator(f'.tick[data-growth="{there}"]').wait_for()
    app.locator("button[data-press=undo]").click()
    app.locator("button[data-press=undo]:disabled").wait_for()
    eventually(lambda: lab.value(STEPS) == [0, 0, 0])
    assert lab.value(TICKS) == before

    page.set_viewport_size({"width": 360, "height": 900})
    page.wait_for_function("() => document.querySelector('.jp-OutputArea-output:has(.sk-part)').clientWidth < 360")
    settle(page)
    assert page.evaluate(WIDER_THAN_ITS_PLACE) == []

    assert page.outside == []
    assert page.errors == []
    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.restartKernel()")
    page.wait_for_function(f"() => ({SILENT})() === 3")
