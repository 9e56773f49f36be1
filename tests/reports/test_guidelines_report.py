"""The report about guidelines: one page that loads nothing, with JSON and JUnit XML beside it, from files and tables."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from csv_files import csv_text
from shown import markup
from tabs import Tabs, violations
from waiting import PATIENCE_S

from lessons.campaigns import neighbourhood_design, simulated_campaign
from scalkit.errors import ReportError, RuleError, UsageError
from scalkit.guidelines.experiments import measured
from scalkit.reports import ReportResult, write_report
from scalkit.reports.pages import guidelines as guidelines_page
from scalkit.reports.pages.guidelines import GuidelinePage, open_guidelines
from scalkit.support.junit import junit_xml

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guidelines")


@pytest.fixture(scope="module")
def source(folder: Path) -> Path:
    design = neighbourhood_design(p=160, sizes=(1, 64, 4096))
    design = design[(design["n_dim"] == 2) & (design["n_finite"] == 0)]
    slow = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "order": "fmaj"}
    campaign = simulated_campaign(design, [(slow, 1.15)], seed=3, n_repetitions=9)
    campaign["note"] = [HOSTILE] * len(campaign["run"])
    file = folder / "c.csv"
    file.write_text(csv_text(measured(campaign)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def made(folder: Path, source: Path) -> ReportResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return write_report("guidelines", folder / "r.html", runs=source, guidelines=["neighbourhood", "monotony_missing <= b"])


@pytest.fixture(scope="module")
def page(source: Path) -> GuidelinePage:
    return open_guidelines([str(source)], ["neighbourhood"])


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_page_says_what_was_found(made: ReportResult) -> None:
    text = made.html.read_text(encoding="utf-8")
    said = words(text[: text.index('id="plotting"')])
    assert "12 of 168 tests violated (GL4, GL11)" in said
    assert "simulated, not measured" in said
    assert "GL4: MPI_Neighbor_allgather <= MPI_Neighbor_alltoall 6/42 (2/14) ✗ violated" in said
    assert "Call MPI_Neighbor_alltoall instead of MPI_Neighbor_allgather, for " in said
    assert "2023-11-14 22:13 UTC" in said
    assert text.count('class="sheet card"') == 4
    assert text.count('class="plot"') == 13
    assert HOSTILE not in text
    assert made.html.stat().st_size < 1.6e6
    assert (made.status, made.answer[:26]) == (1, "12 of 168 tests violated (")


def test_programs_get_json_and_junit(made: ReportResult) -> None:
    content = json.loads(made.verdict_json.read_text(encoding="utf-8"))
    assert (content["exit_status"], content["counts"]["violated"], len(content["tests"])) == (1, 12, 168)
    assert len(content["remedies"]) == 2
    suites = ET.fromstring(made.junit_xml.read_text(encoding="utf-8"))
    assert (suites.get("failures"), suites.get("tests")) == ("2", str(len(content["guidelines"])))
    assert suites.find(".//skipped") is not None


@pytest.mark.slow
def test_the_same_bytes_again_and_nothing_is_replaced(made: ReportResult, folder: Path, source: Path) -> None:
    with pytest.raises(ReportError, match="choose another name or allow it"):
        write_report("guidelines", made.html, runs=source, guidelines=None)
    with pytest.raises(RuleError, match="cannot read the guideline 'a <='"):
        write_report("guidelines", folder / "wrong.html", runs=source, guidelines="a <=")
    assert not (folder / "wrong.html").exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        again = write_report(
            "guidelines", folder / "again.html", runs=source, guidelines=["neighbourhood", "monotony_missing <= b"]
        )
    assert again.html.read_bytes() == made.html.read_bytes()
    assert again.junit_xml.read_bytes() == made.junit_xml.read_bytes()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_page_asks_for_nothing_and_fits(made: ReportResult, tabs: Tabs, width: int, scheme: str) -> None:
    requests: list[str] = []
    errors: list[str] = []
    listeners = {
        "request": lambda request: requests.append(request.url),
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda message: errors.append(message.text) if message.type in ("error", "warning") else None,
    }
    page = tabs.take(listeners, width, 900, scheme)
    page.goto(made.html.as_uri())
    page.wait_for_selector("html[data-figures=drawn]", state="attached", timeout=1000 * PATIENCE_S)
    assert requests == [made.html.as_uri()]
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".plot:has(.main-svg)").count() == page.locator(".plot").count() == 13
    assert violations(page) == []


def test_sections_of_a_page(page: GuidelinePage) -> None:
    assert page.status == 1
    for name in ("cards", "method", "provenance", "remarks", "remedy", "summary"):
        assert HOSTILE not in markup(page, f"guidelines.{name}")
    assert HOSTILE not in markup(page, "top")
    assert "3 values, 1 to 4096" not in markup(page, "guidelines.provenance")
    assert 'tests="' in junit_xml(page.cases())


def test_nothing_violated(source: Path) -> None:
    page = open_guidelines([str(source)], ["reorder=1 <= reorder=0"])
    assert page.status == 0
    said = words(markup(page, "guidelines.cards"))
    assert said == "No guideline is violated, so there is nothing to look at closely."
    assert "Nothing is violated that could be replaced." in markup(page, "guidelines.remedy")
    with pytest.raises(UsageError, match="cannot fail on 'x'"):
        open_guidelines([str(source)], fail_on=["x"])


def test_without_measurements_it_is_about_a_bundled_campaign() -> None:
    page = open_guidelines([], ["reorder=1 <= reorder=0"])
    assert page.named[0].endswith("data/guidelines/real/mpich")
    assert "MPICH" in str(page.facts["mpi_library"])


@pytest.mark.slow
def test_options_of_the_assessment(tmp_path: Path) -> None:
    rows = {"operation": ["a"] * 8 + ["b"] * 8, "run": [*range(8)] * 2, "time": [2 + k / 99 for k in range(8)] + [1.0] * 8}
    (tmp_path / "t.csv").write_text(csv_text(measured(rows)), encoding="utf-8")
    how: dict[str, Any] = {"p_threshold": 0.01, "title": "<T>", "fail_on": ["untested"]}
    made = write_report("guidelines", tmp_path / "t.html", runs=tmp_path / "t.csv", guidelines="a <= b", **how)
    assert "<title>&lt;T&gt;</title>" in made.html.read_text(encoding="utf-8")
    assert made.status == 1


def test_every_input_has_its_fingerprint(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "deeper/b.nc", "c.jsonl", "campaign.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    names = ["a.jsonl.gz", "c.jsonl", "deeper/b.nc"]
    assert sorted(guidelines_page._hashes([str(tmp_path)])) == [str(tmp_path / name) for name in names]
    (tmp_path / "osu").mkdir()
    (tmp_path / "osu/bcast.txt").write_bytes(b"x")
    assert list(guidelines_page._hashes([str(tmp_path / "osu")])) == [str(tmp_path / "osu/bcast.txt")]
