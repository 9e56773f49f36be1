"""The browser of guidelines in a real JupyterLab: keys alone, a click, a theme, nothing asked of any network."""

from __future__ import annotations

from typing import Any

import pytest
from lab_server import LabServer, settle
from test_explorer_in_lab import eventually, picture

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    """import scalkit as sk
from scalkit.guidelines.simulated import neighbourhood_design, simulated_campaign
from scalkit.widgets import GuidelineBrowser
design = neighbourhood_design(p=160, sizes=(1, 64, 4096))
slow = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2, "order": "fmaj"}
table = simulated_campaign(design[design["n_dim"] == 2], [(slow, 1.12)], seed=3, n_repetitions=9)
found = sk.guidelines.assess(table, "neighbourhood")""",
    "browser = GuidelineBrowser(found)\nbrowser",
)
WIDER = """() => [...document.querySelectorAll('.jp-OutputArea-output:has(.sk-part)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).length"""
SIZED = """() => [...document.querySelectorAll('.sk-plot')].map((one) =>
  one.clientWidth - one.querySelector('.main-svg').clientWidth)"""
DRAWN = "() => document.querySelectorAll('.sk-plot[data-drawn]').length === 3"


def test_groups_and_focus(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("guidelines.ipynb", *CELLS))
    page.wait_for_function(DRAWN)
    picture(page, "guidelines")
    assert page.locator("table[role=grid][aria-label='Groups of tests']").count() == 1

    page.locator("button[data-key=row0]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("browser.table.current") == 1)
    page.wait_for_selector("tr[aria-selected=true] button[data-key=row1]")

    before = lab.value("browser.test")
    page.locator("select[data-key=focus]").focus()
    page.keyboard.press(
        "ArrowDown" if page.locator("select[data-key=focus]").evaluate("(one) => !one.selectedIndex") else "ArrowUp"
    )
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("browser.test") != before)
    test = lab.value("browser.test")
    assert lab.value("found.groups.tolist()")[test] == lab.value("found.groups.tolist()")[before]
    said = lab.value("found.sentence(browser.test)")
    page.wait_for_function("(said) => document.body.textContent.includes(said)", arg=said)

    page.locator("select[data-key=filter]").select_option("compliant")
    eventually(lambda: lab.value("browser.table.filter") == "compliant")
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot').layout.font.color === '#e6e9ec'")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    settle(page)
    page.locator("select[data-key=focus]").scroll_into_view_if_needed()
    picture(page, "guidelines_dark")
    assert page.evaluate(SIZED) == [0, 0, 0], "pictures keep their width when the theme changes"
    page.set_viewport_size({"width": 520, "height": 1000})
    page.wait_for_function("() => document.querySelector('.jp-OutputArea-output:has(.sk-part)').clientWidth < 520")
    settle(page)
    assert page.evaluate(WIDER) == 0
    assert page.outside == []
    assert page.errors == []
