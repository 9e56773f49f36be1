"""A whole report: the three files, what they hold, that they repeat, and that a failure leaves nothing."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ExpectationError, ReportError, UsageError
from scalkit.growth.relation import Relation
from scalkit.measure import write_netcdf
from scalkit.reports import ReportResult
from scalkit.reports.content import PLOTLY_BUNDLE
from scalkit.reports.write import Target

WANTED = "name a run folder or a run file, a netCDF file, or another benchmark's file"


@pytest.fixture(scope="module")
def written(
    data: xr.Dataset, expectations: dict[str, object], rules: list[str], tmp_path_factory: pytest.TempPathFactory
) -> ReportResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        out = tmp_path_factory.mktemp("out") / "report.html"
        return sk.report(data, expectations, out, rules=rules, title="Title <i>", notebook=True)


def test_the_files_and_nothing_else(written: ReportResult) -> None:
    names = sorted(path.name for path in written.html.parent.iterdir())
    assert names == ["report.html", "report.ipynb", "report.junit.xml", "report.verdict.json"]
    assert written.html.stat().st_size < 1.6e6
    assert written.status == 1
    assert written.answer.endswith("Exit status 1: a deciding verdict or rule fails.")


def test_page_refers_to_nothing_outside(written: ReportResult) -> None:
    text = written.html.read_text(encoding="utf-8")
    text = text[: text.index('id="plotting"')]
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", text)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest", text)
    assert "<title>Title &lt;i&gt;</title>" in text
    assert "2023-11-14 22:13 UTC" in text
    assert "default-src 'none'" in text


def test_verdicts_for_programs_are_those_of_the_page(
    written: ReportResult, data: xr.Dataset, expectations: dict[str, object], rules: list[str]
) -> None:
    content = json.loads(written.verdict_json.read_text(encoding="utf-8"))
    schema = resources.files("scalkit.judge").joinpath("verdict.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(content, json.loads(schema))
    direct = sk.validate(data, expectations, rules).to_dict()
    assert content["verdicts"] == direct["verdicts"]
    assert content["rules"] == direct["rules"]


def test_junit_has_a_case_for_each_verdict_and_rule(written: ReportResult) -> None:
    root = ET.fromstring(written.junit_xml.read_text(encoding="utf-8"))
    assert len(root.findall(".//testcase")) == 7 + 2
    assert root.findall(".//failure")


@pytest.mark.slow
def test_same_input_gives_the_same_bytes(
    written: ReportResult, data: xr.Dataset, expectations: dict[str, object], rules: list[str], tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        out = tmp_path / "report.html"
        sk.report(data, expectations, out, rules=rules, title="Title <i>", notebook=True)
    for path in written.html.parent.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_page_opens_as_the_session_that_it_shows(
    written: ReportResult, data: xr.Dataset, expectations: dict[str, object], rules: list[str]
) -> None:
    session = sk.Session.load(written.html)
    direct = sk.validate(data, expectations, rules)
    assert session.result.to_dict()["verdicts"] == direct.to_dict()["verdicts"]
    assert session.result.to_dict()["rules"] == direct.to_dict()["rules"]
    assert session.paths == ()
    assert session.select("MPI_Bcast").expect("p").undo().verdict is not None


@pytest.mark.slow
def test_a_changed_session_is_reported_as_it_is_and_opens_again(
    written: ReportResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = sk.Session.load(written.html).select("MPI_Bcast").exclude(2)
    session.select("MPI_Reduce").expect("p").add_tick("p^(5/6)")
    session.save("changed.json")
    made = sk.report("changed.json", out="changed.html")
    again = sk.Session.load(made.html)
    assert again.history == session.history
    assert again.state == session.state
    content = json.loads(made.verdict_json.read_text(encoding="utf-8"))
    verdict = next(v for v in content["verdicts"] if v["function"] == "MPI_Reduce")
    assert verdict["expectation"] == "p"
    assert "MPI_Bcast (time) has 4 of 5 needed settings" in content["unjudged"][0]
    assert "p^(5/6)" in verdict["space"]["ticks"]
    assert "session.exclude(2)" in made.html.read_text(encoding="utf-8")


def test_prediction_is_far_beyond_what_was_measured(written: ReportResult) -> None:
    text = written.html.read_text(encoding="utf-8")
    assert ">at p = 8192<" in text
    assert "256 times the largest measured p" in text


def test_existing_report_is_refused_first(written: ReportResult) -> None:
    before = written.html.stat().st_mtime_ns
    with pytest.raises(ReportError, match=r"would replace report\.verdict\.json, report\.junit\.xml, report\.html"):
        sk.report("nowhere", out=written.html)
    assert written.html.stat().st_mtime_ns == before


def test_missing_measurements_leave_nothing(tmp_path: Path) -> None:
    message = f"there are no measurements at '{tmp_path / 'nowhere'}'; {WANTED}."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        sk.report(tmp_path / "nowhere", out=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_wrong_expectation_leaves_nothing(measured: Path, tmp_path: Path) -> None:
    expect = tmp_path / "expect.toml"
    expect.write_text('[expectations]\nMPI_Bcast = "factorial(p)"\n', encoding="utf-8")
    with pytest.raises(ExpectationError, match="factorial"):
        sk.report(measured, expect, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == [expect]


def test_unknown_word_to_fail_on_leaves_nothing(measured: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^cannot fail on 'luck'; choose from better, predicted, cannot-tell\.$"):
        sk.report(measured, {"MPI_Bcast": "log(p)"}, tmp_path / "report.html", fail_on=["luck"])
    assert list(tmp_path.iterdir()) == []


def test_vendored_library_is_that_of_the_plotly_package() -> None:
    from plotly.offline import get_plotlyjs_version

    head = PLOTLY_BUNDLE.read_text(encoding="utf-8")[:200]
    assert f"v{get_plotlyjs_version()}" in head


def test_a_folder_beside_the_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "z.junit.xml").mkdir()
    (tmp_path / "z.verdict.json").write_text("OLD")
    with pytest.raises(ReportError, match=r"beside it z\.junit\.xml is a folder; rename one of them\.$"):
        Target.of(tmp_path / "z.html", force=True)
    assert (tmp_path / "z.verdict.json").read_text() == "OLD"


def test_a_failed_replacement_restores_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.of(tmp_path / "z.html")
    target.write(dict.fromkeys(target.files, "OLD"))
    again, real = Target.of(tmp_path / "z.html", force=True), os.replace

    def failing(source: str | Path, to: str | Path) -> None:
        if Path(source).parent.name == "new" and Path(to) == again.html:
            raise OSError(28, "No space left on device")
        real(source, to)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(ReportError, match="No space left on device"):
        again.write(dict.fromkeys(again.files, "NEW"))
    assert [path.read_text() for path in target.files] == ["OLD"] * 3
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("name", ["a" * 300 + ".html", "~nobody-of-this-name/x.html", "a\0.html"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(ReportError, match="cannot write the report"):
        Target.of(name)


def test_names_with_a_dot_stay_apart(tmp_path: Path) -> None:
    assert Target.of(tmp_path / "run-1.2").verdict_json.name == "run-1.2.verdict.json"
    assert Target.of(tmp_path / "run.html").verdict_json.name == "run.verdict.json"


def test_time_of_the_report_is_checked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "abc")
    with pytest.raises(ReportError, match="SOURCE_DATE_EPOCH is 'abc'; seconds since 1970 are needed, or unset it"):
        sk.report(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5]), {"f": "log(p)"}, tmp_path / "r.html")


@pytest.mark.slow
def test_a_lone_rule_and_word_are_taken_whole(measured: Path, tmp_path: Path) -> None:
    rule = Relation.parse("MPI_Allreduce <= MPI_Reduce + MPI_Bcast")
    expected = {"MPI_Bcast": "log(p)"}
    for number, given in enumerate((rule, str(rule))):
        result = sk.report(measured, expected, tmp_path / f"{number}.html", rules=given, fail_on="better")
        content = json.loads(result.verdict_json.read_text(encoding="utf-8"))
        assert [one["rule"] for one in content["rules"]] == [str(rule)]


def test_a_validation_is_reported_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = sk.validate(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f"), "log p", strictness="paper")
    made = sk.report(result, "report.html")
    assert made.html == tmp_path / "report.html"
    assert json.loads(made.verdict_json.read_text(encoding="utf-8"))["verdicts"] == result.to_dict()["verdicts"]


def test_a_result_of_a_session_is_reported_with_what_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = sk.Session(sk.measurements([2, 4, 8, 16, 32, 64], [1, 2, 3, 4, 5, 6], name="f"), {"f": "p"})
    result = session.expect("log p").exclude(2).result
    made = sk.report(result, "report.html")
    assert json.loads(made.verdict_json.read_text(encoding="utf-8"))["verdicts"] == result.to_dict()["verdicts"]
    assert json.loads(made.verdict_json.read_text(encoding="utf-8"))["verdicts"][0]["x"] == [4, 8, 16, 32, 64]


@pytest.mark.parametrize("kind", ["path", "Dataset", "DataFrame"])
def test_a_growth_is_expected_of_the_only_function(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f")
    write_netcdf(data, "run.nc")
    frame = pd.DataFrame({"p": [2, 4, 8, 16, 32], "time [s]": [1.0, 2.0, 3.0, 4.0, 5.0], "function": "f"})
    made = sk.report({"path": "run.nc", "Dataset": data, "DataFrame": frame}[kind], "log p", "report.html")
    (verdict,) = json.loads(made.verdict_json.read_text(encoding="utf-8"))["verdicts"]
    assert (verdict["expectation"], verdict["answer"]) == ("log(p)", "fine")


def test_a_file_of_the_users_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("numpy", "ipykernel", "ipython_config", "jupyter_config", "sitecustomize"):
        Path(f"{name}.py").write_text("open('harmed', 'w')")
    sk.report(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f"), "log p", "report.html")
    assert not Path("harmed").exists()
