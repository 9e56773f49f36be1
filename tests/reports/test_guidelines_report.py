"""The report about guidelines: one page that loads nothing, with JSON and JUnit XML beside it, from files and tables."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tabs import Tabs, violations
from waiting import PATIENCE_S

from scalkit.errors import ReportError, RuleError, UsageError
from scalkit.guidelines import Guideline
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.simulated import neighbourhood_design, simulated_campaign
from scalkit.guidelines.tables import csv_text
from scalkit.junit import junit_xml
from scalkit.reports import ReportResult
from scalkit.reports.guidelines import page as guidelines_page
from scalkit.reports.guidelines import sections
from scalkit.reports.guidelines.page import GuidelinePage, guidelines_report, open_guidelines
from scalkit.reports.inputs import named_template

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
        return guidelines_report(source, ["neighbourhood", "monotony_missing <= b"], folder / "r.html")


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
    assert "scalkit_neighbor_allgather" in said
    assert "2023-11-14 22:13 UTC" in said
    assert text.count('class="sheet card"') == 4
    assert text.count('class="plot"') == 13
    assert HOSTILE not in text
    assert "Prediction" not in re.findall(r"<h2[^>]*>([^<]*)", text)
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
        guidelines_report(source, None, made.html)
    with pytest.raises(RuleError, match="cannot read the guideline 'a <='"):
        guidelines_report(source, "a <=", folder / "wrong.html")
    assert not (folder / "wrong.html").exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        again = guidelines_report(source, ["neighbourhood", "monotony_missing <= b"], folder / "again.html")
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
    for name in ("guideline_cards", "headline", "method", "prediction", "provenance", "remarks", "remedy", "summary"):
        text = "".join(piece.text for piece in getattr(sections, name)(page) if hasattr(piece, "text"))
        assert HOSTILE not in text
    assert "3 values, 1 to 4096" not in str(sections.provenance(page))
    assert 'tests="' in junit_xml(page.cases())
    assert list(sections.prediction(page)) == []


def test_predictions_and_nothing_violated() -> None:
    page = open_guidelines([], ["reorder=1 <= reorder=0"], predict="size", up_to=1e6)
    assert page.named == ("a simulated example",)
    assert page.status == 0
    said = words("".join(piece.text for piece in sections.prediction(page)))
    assert said == "No setting has five values of size to fit a model to."
    said = words("".join(piece.text for piece in sections.guideline_cards(page)))
    assert said == "No guideline is violated, so there is nothing to look at closely."
    assert "Nothing is violated that could be replaced." in str(sections.remedy(page))
    with pytest.raises(UsageError, match="cannot fail on 'x'"):
        open_guidelines([], fail_on=["x"])


@pytest.mark.slow
def test_a_table_at_hand(tmp_path: Path) -> None:
    rows = {"operation": ["a"] * 8 + ["b"] * 8, "run": [*range(8)] * 2, "time": [2 + k / 99 for k in range(8)] + [1.0] * 8}
    made = guidelines_report(rows, "a <= b", tmp_path / "t.html", p_threshold=0.01, title="<T>", fail_on=["untested"])
    text = made.html.read_text(encoding="utf-8")
    assert "<title>&lt;T&gt;</title>" in text
    assert "a table in memory" in text
    assert made.status == 1
    with pytest.raises(ReportError, match="says more than its text; write it to a TOML file and name that"):
        guidelines_report(rows, Guideline.parse("a <= b", name="x"), tmp_path / "u.html")


def test_every_input_has_its_fingerprint(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "deeper/b.nc", "c.jsonl", "campaign.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert sorted(guidelines_page._hashes([str(tmp_path)], ["m"])) == ["m/a.jsonl.gz", "m/c.jsonl", "m/deeper/b.nc"]
    (tmp_path / "osu").mkdir()
    (tmp_path / "osu/bcast.txt").write_bytes(b"x")
    assert list(guidelines_page._hashes([str(tmp_path / "osu")], ["o"])) == ["o/bcast.txt"]


def test_the_other_command_says_where_it_is() -> None:
    with pytest.raises(UsageError, match="is written by 'scalkit guidelines SOURCE --report FILE'"):
        named_template("guidelines")
