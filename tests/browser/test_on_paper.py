"""The report on paper: what is open there, and all figures drawn in light colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE_S

import scalkit as sk
from scalkit.reports import ReportResult

P = np.array([2, 4, 8, 16, 32])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> ReportResult:
    out = tmp_path_factory.mktemp("paper") / "r.html"
    return sk.report(sk.measurements(P, 3e-6 * P, name="f"), {"f": "p"}, out, title="On paper")


@pytest.mark.browser
def test_on_paper_without_scripts_what_belongs_there_is_there(printed: ReportResult, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    page.goto(printed.html.as_uri())
    page.emulate_media(media="print")
    assert page.locator("details#prediction > div table").first.is_visible()
    assert not page.locator("details#method").is_visible()
    context.close()


@pytest.mark.browser
def test_on_paper_the_runners_up_are_open_and_the_figures_drawn(printed: ReportResult, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 360, "height": 700}, color_scheme="dark")
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    page.goto(printed.html.as_uri())
    page.wait_for_selector("html[data-figures=drawn]", state="attached")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened = page.locator("details").evaluate_all("all => all.map(e => [e.querySelector('summary').textContent.trim(), e.open])")
    assert [name for name, is_open in opened if is_open] == ["Details", "Runners-up", "Prediction", "Provenance"]
    heights = page.locator(".card .pair .plot").evaluate_all("all => all.map(e => e.clientHeight)")
    assert set(heights) == {250}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert page.locator(".card .pair .plot").first.evaluate("e => e.clientHeight") > 300
    context.close()
