"""No plot offers to upload itself: neither a figure shown as it is, nor the page of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE_S

import scalkit as sk
from scalkit import plots
from scalkit.plots.store.site import write_page
from scalkit.store import open as open_store
from scalkit.support.bundled import bundled
from scalkit.support.colours import SCRIPT

pytestmark = pytest.mark.browser

BUTTONS = "() => [...document.querySelectorAll('.modebar-btn')].map((one) => one.dataset.title)"
ADDRESS = "() => document.querySelector('.js-plotly-plot')._context.plotlyServerURL"


def test_a_figure_shown_by_plotly_itself_has_no_button_that_uploads(chromium: Any, tmp_path: Path) -> None:
    p = np.array([2, 4, 8, 16, 32, 64])
    verdict = sk.validate(sk.measurements(p, 1e-6 * p, name="f"), {"f": "p"}).verdicts[0]
    file = tmp_path / "figure.html"
    plots.fit(verdict).write_html(file)
    page = chromium.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(file.as_uri())
    page.wait_for_selector(".modebar-btn", state="attached")
    titles = page.evaluate(BUTTONS)
    page.close()
    assert "Zoom in" in titles
    assert not [title for title in titles if "Share" in title or "loud" in title]


@pytest.mark.slow
def test_the_page_of_a_store_knows_no_address_to_upload_to(chromium: Any, tmp_path: Path) -> None:
    path = write_page(open_store(bundled("data/store"), readonly=True), tmp_path / "page.html")
    page = chromium.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(path.as_uri())
    page.locator("#runs input").first.check()
    page.wait_for_selector(".modebar-btn", state="attached")
    titles, address = page.evaluate(BUTTONS), page.evaluate(ADDRESS)
    page.close()
    assert address == ""
    assert "Zoom in" in titles
    assert "Share chart..." not in titles


def test_scripts_of_pages_and_widgets_begin_with_the_configuration_that_uploads_nothing() -> None:
    root = Path(plots.__file__).parents[1]
    assert '"showSendToCloud": false' in SCRIPT
    assert '"plotlyServerURL": ""' in SCRIPT
    for name in ("plots/store/site.js", "reports/templates/page.js", "widgets/base/plot_view.js"):
        assert "...SK_PLOTLY" in (root / name).read_text(encoding="utf-8"), name
