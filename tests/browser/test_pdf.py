"""The report as PDF: printed by Chromium with all figures, dated by SOURCE_DATE_EPOCH, refused in one sentence without it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE_S

import scalkit as sk
from scalkit.errors import ReportError
from scalkit.reports import ReportResult
from scalkit.reports.pdf import find_browser, print_page

P = np.array([2, 4, 8, 16, 32])


@pytest.fixture(scope="module")
def printed(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> ReportResult:
    out = tmp_path_factory.mktemp("pdf") / "r.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return sk.report(sk.measurements(P, 3e-6 * P, name="f"), {"f": "p"}, out, title="On paper", pdf=True)


@pytest.mark.slow
@pytest.mark.browser
def test_a_report_is_printed_the_same_twice(printed: ReportResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed.pdf == printed.html.with_name("r.pdf")
    content = printed.pdf.read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"(D:20231114221320+00'00')") == 2
    assert b"/Title (On paper)" in content
    assert b"/Subtype /Image" not in content
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert print_page(printed.html, find_browser(), tmp_path) == content


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


def test_without_a_browser_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SCALKIT_CHROMIUM", raising=False)
    message = (
        "a PDF is printed by Chromium, and none of chromium, chromium-browser, google-chrome, google-chrome-stable is on PATH; "
        "install chromium, name one in SCALKIT_CHROMIUM, or leave the PDF out."
    )
    with pytest.raises(ReportError, match=f"^{re.escape(message)}$"):
        sk.report(sk.measurements(P, P, name="f"), {"f": "p"}, tmp_path / "r.html", pdf=True)
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALKIT_CHROMIUM", "no-such-browser")
    with pytest.raises(ReportError, match=r"^SCALKIT_CHROMIUM names the browser 'no-such-browser', which cannot be started"):
        find_browser()
    page, fake = tmp_path / "page.html", tmp_path / "fake"
    page.write_text("<p>")
    fake.write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    fake.chmod(0o755)
    with pytest.raises(ReportError, match=r"fake printed no PDF \(status 3\), its last words are: out of luck; leave the PDF"):
        print_page(page, str(fake), tmp_path)
    fake.chmod(0o644)
    with pytest.raises(ReportError, match=r"fake cannot print the report: Permission denied; leave the PDF out"):
        print_page(page, str(fake), tmp_path)
