"""The kinds of reports: their sections, and a comparison and a report against a baseline, opened again."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import xarray as xr
from tabs import Tabs, violations
from waiting import PATIENCE_S

import scalkit as sk
from scalkit import reports
from scalkit.errors import DataError, UsageError
from scalkit.measure import combine, write_netcdf
from scalkit.reports import ReportResult, open_report, sessions_of
from scalkit.support.toml.tables import table_beside

P = np.array([2, 4, 8, 16, 32])
EXPECTED = {"MPI_Comm_dup": "1", "MPI_Win_create": "p", "MPI_Cart_create": "p", "MPI_Bcast": "log(p)"}


def platform(dup: np.ndarray, win: float, library: str, seed: int) -> xr.Dataset:
    noise = 1 + 0.02 * np.abs(np.random.default_rng(seed).normal(size=(5, 4)))
    values = {"MPI_Comm_dup": dup, "MPI_Win_create": win * P, "MPI_Cart_create": 400 + 16.0 * P}
    sets = [sk.measurements(P, y, metric="object_memory", unit="B", name=name) for name, y in values.items()]
    sets.append(sk.measurements(P, 3e-6 * np.log2(P)[:, None] * noise, name="MPI_Bcast"))
    return combine(sets).assign_attrs(mpi_library=library, measured_on="<node>")


@dataclass(frozen=True)
class Made:
    compare: ReportResult
    regression: ReportResult
    folder: Path


@pytest.fixture(scope="module")
def before() -> xr.Dataset:
    return platform(256 + 0.0 * P, 96.0, "MPICH 4.3.1", 1)


@pytest.fixture(scope="module")
def after() -> xr.Dataset:
    return platform(256 + 8.0 * P, 144.0, "Open MPI <5>", 2)


@pytest.fixture(scope="module")
def made(before: xr.Dataset, after: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("templates")
    (folder / "data").mkdir()
    write_netcdf(before, folder / "data/before.nc")
    sk.Baseline(sk.validate(before, EXPECTED)).save(folder / "baseline.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        patch.chdir(folder)
        return Made(compared(after), regressed(after), folder)


def compared(after: xr.Dataset) -> ReportResult:
    sets = {"old": "data/before.nc", "<b>new</b>": after}
    return sk.report(sets, EXPECTED, "compare.html", notebook=True)


def regressed(after: xr.Dataset) -> ReportResult:
    return sk.report(after, out="regression.html", baseline="baseline.json", fail_on="gone", notebook=True)


def words(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text[: text.index('id="scalkit-session"')])).split())


KINDS = table_beside(reports.__file__, "kinds.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_every_section_has_a_heading_of_its_own_a_lead_and_a_template(kind: str) -> None:
    sections = KINDS[kind]["sections"]
    assert len({one["heading"] for one in sections}) == len(sections)
    assert all(one["lead"].endswith((".", "?")) for one in sections)
    folder = Path(reports.__file__).parent / "templates"
    assert all((folder / f"{one['make'].replace('.', '/')}.html").is_file() for one in sections)


def test_an_unknown_kind_is_named_with_a_hint() -> None:
    known = "report, compare, guidelines, waiting, calls"
    message = f"there is no report 'compar'; choose from {known}. Did you mean 'compare'?"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        open_report("compar")


@pytest.mark.slow
def test_columns_stand_side_by_side(made: Made) -> None:
    said = words(made.compare.html)
    assert "old and <b>new</b> compared" in said
    assert "<b>new</b>: fix MPI_Comm_dup. The answers differ for MPI_Comm_dup." in said
    assert "4 functions in 2 data sets." in made.compare.answer
    assert made.compare.status == 1
    assert "at p = 8192 by the models" in said
    text = made.compare.html.read_text(encoding="utf-8")
    assert text.count('data-label="old"') == text.count('data-label="&lt;b&gt;new&lt;/b&gt;"') == 4
    assert "<b>new" not in text
    labels = re.findall(r'class="plot" role="img"|aria-label="(MPI_[^"]*)"', text)
    assert any("old grows as 1; &lt;b&gt;new&lt;/b&gt; grows as p" in label for label in labels)


def test_programs_get_a_set_and_a_suite_for_each_column(made: Made, before: xr.Dataset) -> None:
    content = json.loads(made.compare.verdict_json.read_text(encoding="utf-8"))
    assert [one["label"] for one in content["sets"]] == ["old", "<b>new</b>"]
    assert content["sets"][0]["verdicts"] == sk.validate(before, EXPECTED).to_dict()["verdicts"]
    assert content["exit_status"] == 1
    suites = ET.fromstring(made.compare.junit_xml.read_text(encoding="utf-8")).findall("testsuite")
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [("old", "0"), ("<b>new</b>", "1")]


def test_changes_stand_with_what_became_worse_first(made: Made) -> None:
    said = words(made.regression.html)
    assert "What changed in Open MPI <5> since the baseline?" in said
    assert "MPI_Comm_dup (object_memory) got worse: it grows as p instead of 1" in said
    assert re.search(r"MPI_Win_create memory per object p p × 1\.5 ± 0\.\d+ % p = 32 × costs more", said)
    rows = re.findall(
        r'<th scope="row"><code class="name">(\w+)</code></th><td>[^<]*</td><td><math>', made.regression.html.read_text()
    )
    assert rows[:2] == ["MPI_Comm_dup", "MPI_Win_create"]
    content = json.loads(made.regression.verdict_json.read_text(encoding="utf-8"))
    kinds = {change["function"]: change["kind"] for change in content["comparison"]["changes"]}
    assert kinds == {"MPI_Comm_dup": "worse", "MPI_Win_create": "factor", "MPI_Cart_create": "same", "MPI_Bcast": "same"}
    assert made.regression.status == 1
    assert len(ET.fromstring(made.regression.junit_xml.read_text(encoding="utf-8")).findall(".//failure")) == 3


def test_every_page_is_complete_and_small(made: Made) -> None:
    for one in (made.compare, made.regression):
        text = one.html.read_text(encoding="utf-8")
        assert one.html.stat().st_size < 1.6e6
        assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", text[: text.index('id="plotting"')])


def test_markup_of_every_page_closes(made: Made) -> None:
    for one in (made.compare, made.regression):
        text = one.html.read_text(encoding="utf-8")
        checked = Balance()
        checked.feed(text[text.index("<main") : text.index("</main>") + len("</main>")])
        assert checked.open == []


class Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())


@pytest.mark.slow
def test_same_input_gives_the_same_bytes_in_all_files(made: Made, after: xr.Dataset, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/before.nc").write_bytes((made.folder / "data/before.nc").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        patch.chdir(tmp_path)
        compared(after)
    names = ("compare.html", "compare.verdict.json", "compare.junit.xml", "compare.ipynb")
    for name in names:
        assert (tmp_path / name).read_bytes() == (made.folder / name).read_bytes(), name


def test_columns_open_as_sessions_again(made: Made, after: xr.Dataset) -> None:
    first, second = sessions_of(made.compare.html)
    alone = sk.Session.load(made.compare.html)
    assert alone.result.to_dict()["verdicts"] == first.result.to_dict()["verdicts"]
    assert second.result.to_dict()["verdicts"] == sk.validate(after, EXPECTED).to_dict()["verdicts"]


def test_a_regression_opens_with_the_baseline_as_expectation(made: Made, after: xr.Dataset) -> None:
    session = sk.Session.load(made.regression.html).select("MPI_Comm_dup")
    assert str(session.expectation.growth) == "1"
    assert session.verdict is not None
    assert session.verdict.answer == "fix"


def test_the_notebook_names_its_inputs(made: Made) -> None:
    assert made.compare.notebook is not None
    notebook: Any = nbformat.read(made.compare.notebook, 4)
    nbformat.validate(notebook)
    (cell,) = [one for one in notebook.cells if "injected-parameters" in one.metadata.get("tags", [])]
    assert "'old': ['data/before.nc']" in cell.source
    assert "outcome" not in cell.source
    assert not [key for one in notebook.cells for key in ("papermill", "execution") if key in one.metadata]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["compare", "regression"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_pages_ask_for_nothing_and_fit(made: Made, tabs: Tabs, name: str, width: int, scheme: str) -> None:
    path = getattr(made, name).html
    requests: list[str] = []
    errors: list[str] = []
    listeners = {
        "request": lambda request: requests.append(request.url),
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda message: errors.append(message.text) if message.type in ("error", "warning") else None,
    }
    page = tabs.take(listeners, width, 900, scheme)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-figures=drawn]", state="attached", timeout=1000 * PATIENCE_S)
    assert requests == [path.as_uri()]
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".plot:has(.main-svg)").count() == page.locator(".plot").count() >= 3
    assert page.locator("table:not(:has(caption))").count() == 0
    assert violations(page) == []


def test_a_page_without_a_session_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>none</p>")
    message = f"the page '{page}' holds no session; name a report of scalkit that has one."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        sessions_of(page)
    with pytest.raises(DataError, match="cannot read the report"):
        sessions_of(tmp_path / "nowhere.html")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"luck": 3}, "the option 'luck' of judging is unknown; there are statistic, "),
        ({"fail_on": "luck"}, "cannot fail on 'luck'; choose from better, predicted, cannot-tell."),
    ],
)
def test_wrong_use_is_said_in_one_sentence(before: xr.Dataset, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        sk.report(before, EXPECTED, tmp_path / "r.html", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": "b"}, "to compare, two data sets are needed, got 1; name a run folder for each column."),
        ({"a": "b", "c": 3}, "the subject of a report cannot be 3; give measurements of scalkit.read, a session, "),
        (["a", 3], "the subject of a report cannot be 3; give measurements of scalkit.read, a session, "),
    ],
)
def test_wrong_sources_are_said_in_one_sentence(source: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        sk.report(source, EXPECTED, tmp_path / "r.html")


def test_expectations_beside_a_session_are_refused(before: xr.Dataset, tmp_path: Path) -> None:
    session = sk.Session(before, EXPECTED)
    with pytest.raises(UsageError, match=r"^a session or result says itself what is expected .*; leave expectations, rules out"):
        sk.report(session, EXPECTED, tmp_path / "r.html", rules="MPI_Bcast <= MPI_Bcast")
