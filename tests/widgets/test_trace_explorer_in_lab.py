"""The explorer of waits in a real JupyterLab: keys, clicks, the matrix, a selection of Python; nothing asked of any network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer
from test_explorer_in_lab import picture
from traced import traced

from scalkit.trace import write_result

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_three_panes_and_a_matrix(lab: LabServer, lab_page: Any, tmp_path: Path) -> None:
    page = lab_page
    write_result(traced(tmp_path / "trace"), tmp_path / "waits.nc")
    page.set_viewport_size({"width": 1280, "height": 1500})
    cells = (
        f"from scalkit.widgets import TraceExplorer\nexplorer = TraceExplorer({str(tmp_path / 'waits.nc')!r})\nexplorer",
    )
    lab.open(page, lab.notebook("waits.ipynb", *cells))
    page.wait_for_selector(".sk-plot[data-drawn]")
    picture(page, "trace_explorer")
