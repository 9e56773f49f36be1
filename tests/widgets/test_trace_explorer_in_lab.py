"""The explorer of waits in a real JupyterLab: keys, the matrix, a selection that Python sets; nothing asked of any network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer, settle
from test_explorer_in_lab import eventually, picture
from traced import traced

from scalkit.trace import write_result

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_three_panes_and_a_matrix(lab: LabServer, lab_page: Any, tmp_path: Path) -> None:
    page = lab_page
    write_result(traced(tmp_path / "trace"), tmp_path / "waits.nc")
    page.set_viewport_size({"width": 1280, "height": 1300})
    cell = f"from scalkit.widgets import TraceExplorer\nexplorer = TraceExplorer({str(tmp_path / 'waits.nc')!r})\nexplorer"
    lab.open(page, lab.notebook("waits.ipynb", cell))
    page.wait_for_selector(".sk-plot[data-drawn]")
    metrics, paths = (page.get_by_role("tree", name=name) for name in ("Metrics", "Call paths"))
    metrics.get_by_role("treeitem", name="wait at barrier").click()
    for key in ("Home", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    eventually(lambda: lab.value("explorer.selection['metric']") == "wait_for_progress")
    page.wait_for_function("() => document.querySelector('.chosen').textContent.startsWith('wait for progress in ARMCI_Get')")
    paths.get_by_role("treeitem", name="program").click()
    page.wait_for_function("() => document.querySelector('.chosen').textContent.includes('in program itself')")
    page.get_by_role("button", name="Hottest path").click()
    page.wait_for_function("() => document.querySelector('.chosen').textContent.includes('in ARMCI_Get')")
    assert paths.locator("[aria-selected=true]").inner_text().split() == ["ARMCI_Get", "90", "ns"]
    paths.locator("[aria-selected=true]").focus()
    for key in ("d", "d", "x", "b"):
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == 1, "keys stay in the tree"

    # the plots of plotly have no elements for their cells
    settle(page)
    cell_at = page.evaluate(
        """() => { const g = document.querySelector('.js-plotly-plot'), { left, top } = g.getBoundingClientRect();
        const { xaxis: x, yaxis: y } = g._fullLayout;
        return [left + x._offset + x.l2p(2), top + y._offset + y.l2p(1)]; }"""
    )
    page.mouse.move(cell_at[0] - 3, cell_at[1])
    page.mouse.move(*cell_at)
    page.mouse.click(*cell_at)
    eventually(lambda: lab.value("[explorer.selection[name] for name in ('locations', 'causers')]") == [[1], [2]])
    page.wait_for_function("() => document.body.textContent.includes('process 1 waited 30 ns for process 2')")
    picture(page, "trace_explorer")

    lab.value("setattr(explorer, 'selection', {'metric': 'time', 'locations': [3]})")
    page.wait_for_function("() => document.querySelector('.chosen').textContent.startsWith('all time in ARMCI_Get at process 3')")
    assert page.get_by_role("option", name="process 3").get_attribute("aria-selected") == "true"
    assert page.outside == []
    assert page.errors == []
