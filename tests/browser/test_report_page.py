"""The report in a browser: no request, no error, all figures drawn, no overflow, hostile names harmless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import combine
from scalkit.reports import bundled

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    p = np.array([2, 4, 8, 16, 32, 64])
    noise = 1 + 0.02 * np.abs(np.random.default_rng(7).normal(size=(6, 5)))
    log, root = np.log2(p)[:, None], np.sqrt(p)[:, None]
    data = combine(
        [
            sk.measurements(p, 3e-6 * log * noise, name="MPI_Bcast"),
            sk.measurements(p, 2e-6 * p[:, None] * root * noise, name=HOSTILE),
            sk.measurements(p, 5e-6 * log * noise, name="MPI_Reduce"),
            sk.measurements(p, 256 + 8.0 * p, metric="object_memory", unit="B", name="MPI_Comm_dup"),
            sk.measurements(p, 256 + 9.0 * p, metric="object_memory", unit="B", name="MPI_Comm_dup[random]"),
        ]
    )
    expectations = {"MPI_Bcast": "log(p)", HOSTILE: "log(p)", "MPI_Reduce": "log(p)", "MPI_Comm_dup": "1"}
    out = tmp_path_factory.mktemp("report") / "report.html"
    return sk.report(data, expectations, out, title=f"About {HOSTILE}").html


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_no_request_no_error_and_every_figure_drawn(report: Path, visit: Any, width: int, scheme: str) -> None:
    seen = visit(report, width, scheme)
    assert seen.requests == [report.resolve().as_uri()]
    assert seen.errors == []
    plots = seen.page.locator(".plot")
    assert plots.count() >= 4 * 3
    assert seen.page.locator("html").get_attribute("data-figures") == "drawn"
    hidden = seen.page.locator("details:not([open]) .plot").count()
    assert seen.page.locator(".plot:has(.main-svg)").count() >= plots.count() - hidden
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_figures_say_what_they_show(report: Path, visit: Any) -> None:
    page = visit(report).page
    labels = [page.locator(".plot").nth(k).get_attribute("aria-label") for k in range(page.locator(".plot").count())]
    assert all(label and label.endswith(".") and len(label) > 30 for label in labels)
    pictures = page.locator(".plot svg[role=img]")
    assert pictures.count() == page.locator(".plot:has(.main-svg)").count()
    assert pictures.first.get_attribute("aria-label") == labels[0]


def test_hostile_name_is_text_everywhere(report: Path, visit: Any) -> None:
    seen = visit(report)
    assert seen.dialogs == []
    assert seen.page.locator("img").count() == 0
    assert HOSTILE in seen.page.locator("h1").inner_text()
    assert any(HOSTILE in text for text in seen.page.locator(".card header").all_inner_texts())
    drawn = seen.page.locator(".plot svg text", has_text=HOSTILE)
    assert drawn.count() >= 1


def test_tables_have_captions_and_scopes(report: Path, visit: Any) -> None:
    page = visit(report).page
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("html[lang=en]").count() == 1
    assert page.locator("a.skip[href='#content']").count() == 1


def test_paper_is_light_and_holds_the_figures(report: Path, visit: Any, tmp_path: Path) -> None:
    page = visit(report, scheme="dark").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.locator(".pair .plot").evaluate_all("all => all.map(e => e.querySelector('svg').clientWidth)")
    assert max(widths) <= 340
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    pdf = page.pdf(path=str(tmp_path / "report.pdf"))
    assert pdf[:5] == b"%PDF-"


def test_link_to_a_variant_opens_its_part(report: Path, visit: Any) -> None:
    page = visit(report).page
    page.locator("table.stack th a", has_text="MPI_Comm_dup[random]").click()
    part = page.locator("details[open]:has(.plot)")
    part.locator(".plot .main-svg").first.wait_for()
    assert part.get_attribute("id") == "f-object_memory.MPI_Comm_dup-5b-random-5d-"


def test_broken_escape_in_the_address_is_no_error(report: Path, visit: Any) -> None:
    seen = visit(report)
    seen.page.evaluate("location.hash = '#%'")
    seen.page.reload()
    seen.page.wait_for_selector("html[data-figures=drawn]")
    assert seen.page.url.endswith("#%")
    assert seen.errors == []


@pytest.mark.slow
def test_map_of_guidelines_is_scrolled_on_a_phone(tmp_path: Path, visit: Any) -> None:
    out = tmp_path / "guidelines.html"
    main(["guidelines", str(bundled("data/virtual")), "--report", str(out)])
    seen = visit(out, 360, "dark")
    plot = seen.page.locator(".plot").first
    assert plot.evaluate("(el) => [el.scrollWidth, el.clientWidth < 360, el.tabIndex]") == [850, True, 0]
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.errors == []


def test_figures_appear_when_a_folded_part_opens(report: Path, visit: Any) -> None:
    page = visit(report).page
    folded = page.locator("details:has(.plot)")
    for k in range(folded.count()):
        folded.nth(k).locator("summary").first.click()
        folded.nth(k).locator(".plot .main-svg").first.wait_for()
