"""The explorer of a store in a real JupyterLab: keys, a click, a download, nothing asked of any network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer
from test_explorer_in_lab import eventually, picture

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    """import scalkit as sk
from scalkit.widgets import StoreExplorer
store = sk.store.open("results")
for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 1.5)):
    for run in range(3):
        y = [[slower * (1 + run / 100) * k * 1e-6] * 3 for k in (1, 2, 4)]
        store.put(sk.measurements([2, 4, 8], y, name=op), machine="vm", notes=f"{op} {run}")""",
    "explorer = StoreExplorer(store)\nexplorer",
)


def test_three_panes(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("store.ipynb", *CELLS))
    page.wait_for_selector(".sk-plot[data-drawn]")
    suites = page.locator("table[role=grid][aria-label='Suites']")
    suites.locator("button[role=checkbox]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("len(explorer.browsing.chosen)") == 2)
    page.wait_for_function("() => document.querySelectorAll('.sk-plot .legend .traces').length === 2")
    assert suites.locator("button[aria-checked=true]").count() == 2
    picture(page, "store_explorer")
    with page.expect_download() as saved:
        page.locator("button[data-key=csv]").click()
    assert Path(saved.value.path()).read_text().startswith("label,op,platform,")
    page.locator("input[data-key=filter]").first.fill("notes=*recv*")
    eventually(lambda: lab.value("len(explorer.browsing.runs)") == 3)
    page.locator("button[data-key=none]").first.click()
    page.wait_for_function("() => document.body.textContent.includes('Choose a suite.')")
    assert page.outside == []
    assert page.errors == []
