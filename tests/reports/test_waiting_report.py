"""The report on waiting over process counts: one page that loads nothing, from traces and results; its numbers by hand."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from shown import markup
from shown import words as section_words
from tabs import Tabs, violations
from waiting import PATIENCE_S

from scalkit.cli import main
from scalkit.errors import DataError, ExpectationError
from scalkit.plots.traces.waiting import analysis_speed, scaling_of_program
from scalkit.reports import write_report
from scalkit.reports.pages.waiting import WaitingPage, bundled_traces, open_waiting
from scalkit.trace import Options, TraceBuilder, analyse, over_processes, write_result
from scalkit.trace.results.over_processes import breakdown

HOSTILE = "<img src=x onerror=alert(1)>"
US = 1000


def make_trace(folder: Path, processes: int, *, asynchronous: bool = False) -> Path:
    """Each process computes 800 us / p, begins 5 us after the one before, and gets from the next one, which comes later."""
    trace = TraceBuilder(processes, simulated=True, asynchronous_progress=asynchronous)
    for one in range(processes):
        step = 800 * US // processes + 5 * one * US
        trace.call(one, "MPI_Init", 0, US)
        trace.enter(one, HOSTILE, US)
        posted = trace.call(one, "MPI_Get", step, step + US, scope=1, peer=(one + 1) % processes)
        trace.transfer(one, "get", posted, (one + 1) % processes)
        done = trace.call(one, "MPI_Win_flush", step + 2 * US, step + 32 * US, scope=1, peer=(one + 1) % processes)
        trace.complete(one, done, posted)
        trace.leave(one, HOSTILE, step + 50 * US)
        trace.call(one, "MPI_Barrier", step + 60 * US, step + 70 * US, scope=0)
    return trace.write(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("waiting")
    for processes in (2, 4, 8):
        make_trace(root / "traces" / f"p{processes}", processes)
    (root / "empty").mkdir()
    return root


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def shown(page: WaitingPage, name: str) -> str:
    return section_words(page, f"waiting.{name}")


@pytest.mark.browser
def test_the_page(folder: Path, tabs: Tabs, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the traces that come with scalkit, as the command makes it."""
    out = folder / "w.html"
    asked = ["--expect", "1", "--fail-above", "20", "--region", "srumma", "--out", str(out)]
    assert main(["trace", "report", bundled_traces(), *asked]) == 1
    assert "of the time is waiting for progress. program grows as p instead of 1; " in capsys.readouterr().out
    text = out.read_text(encoding="utf-8")
    said = words(text[: text.index('id="plotting"')])
    for part in (
        "simulated, not measured",
        "Who waits for whom in srumma?",
        "36 processes, simulated",
        "program/srumma/sk1s_get",
    ):
        assert part in said
    assert len(text) < 1.6e6
    verdict = json.loads(out.with_suffix(".verdict.json").read_text(encoding="utf-8"))
    assert [run["processes"] for run in verdict["runs"]] == [4, 9, 16, 25, 36]
    assert verdict["exit_status"] == 1
    suite = ET.parse(out.with_suffix(".junit.xml")).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    requests: list[str] = []
    page = tabs.take({"request": lambda asked: requests.append(asked.url)}, 360, 800, "dark")
    page.goto(out.as_uri())
    page.wait_for_selector("html[data-figures=drawn]", state="attached", timeout=1000 * PATIENCE_S)
    assert [one for one in requests if not one.startswith("data:")] == [out.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".plot:has(.main-svg)").count() == 6
    assert violations(page) == []


def test_breakdown_by_hand(folder: Path) -> None:
    ds = analyse(folder / "traces" / "p4")
    parts = breakdown(ds)
    assert {kind: values.tolist() for kind, values in parts.kinds.items()} == {
        "computing": pytest.approx([228e-6, 233e-6, 238e-6, 243e-6]),
        "one-sided": pytest.approx([31e-6] * 4),
        "synchronisation": pytest.approx([10e-6] * 4),
        "messages": [0] * 4,
        "other calls": pytest.approx([1e-6] * 4),
    }
    assert parts.wall == pytest.approx(285e-6)
    assert parts.operations.tolist() == [1] * 4
    assert (parts.waiting <= parts.bound).all()
    inside = breakdown(ds, HOSTILE)
    assert inside.wall == pytest.approx(264e-6)
    with pytest.raises(DataError, match="there is no region 'nowhere' in a result; it has"):
        breakdown(ds, "nowhere")


def test_sections(folder: Path) -> None:
    page = open_waiting([str(folder / "traces")], title=HOSTILE)
    assert [run.processes for run in page.runs] == [2, 4, 8]
    names = ("communication", "growth", "hottest", "method", "provenance", "speed", "strong_scaling", "when")
    for name in ("top", *(f"waiting.{one}" for one in names)):
        text = markup(page, name)
        assert HOSTILE not in text
        assert "nan" not in words(text).lower()
    assert "A verdict on growth needs 5 numbers of processes; there are 3." in shown(page, "growth")
    assert "4 285 µs 0.83" in shown(page, "strong_scaling")
    assert "8 8 1.0" in shown(page, "speed")
    assert page.answer.endswith("Simulated, not measured. Exit status 0.")
    assert [timeline.locations for timeline in page.timelines] == [8, 2]
    asked = open_waiting([str(folder / "traces")], expected="1")
    assert "A verdict on growth needs 5 numbers of processes; there are 3." in asked.answer


def test_results_are_not_timed(folder: Path, tmp_path: Path) -> None:
    write_result(analyse(folder / "traces" / "p4"), tmp_path / "r.nc")
    page = open_waiting([str(tmp_path)])
    assert "Results do not say how long their analysis took" in shown(page, "speed")
    assert page.section("waiting.when") is None
    assert len(scaling_of_program(page.runs).data) == 2
    assert len(analysis_speed(page.runs).data) == 1
    assert page.to_dict()["runs"][0]["analysis_s"] is None
    (tmp_path / "times.csv").write_text("# x\nprocesses,analysis_s,analysis_processes\n4,3.5,2\n4,2.5,1\n", encoding="utf-8")
    assert open_waiting([str(tmp_path / "r.nc")]).to_dict()["runs"][0]["analysis_s"] == 2.5


def test_with_a_progress_thread_nobody_waits(tmp_path: Path) -> None:
    page = open_waiting([str(make_trace(tmp_path / "t", 4, asynchronous=True))], fail_above=0)
    assert page.answer.startswith("Something else than calls progressed communication, so nobody waited for progress.")
    assert page.status == 0
    assert "4 31 µs – –" in shown(page, "communication")
    assert "nan" not in json.dumps(page.to_dict()).lower()


def test_a_trace_that_lacks_something(tmp_path: Path) -> None:
    traces = [str(make_trace(tmp_path / f"p{p}", p)) for p in (2, 4)]
    (tmp_path / "p4/000003.sktrace").unlink()
    with pytest.raises(DataError, match=r"location 3: .* or analyse the rest with --keep-going\.$"):
        open_waiting(traces)
    page = open_waiting(traces, keep_going=True)
    assert [timeline.locations for timeline in page.timelines] == [4, 2]
    assert f"Left out of {traces[1]}: location 3: 000003.sktrace cannot be read" in shown(page, "provenance")
    options = Options(search="entering")
    write_result(analyse(traces[0], options), tmp_path / "r.nc")
    assert shown(open_waiting([traces[0]]), "method").count("Options") == 1
    told = shown(open_waiting([traces[0], str(tmp_path / "r.nc")]), "method")
    assert [f"Options of {name}: " in told for name in (traces[0], tmp_path / "r.nc")] == [True, True]


def test_wrong_input(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "x.html")
    traces = str(folder / "traces")
    with pytest.raises(DataError, match="there is no trace and no result in"):
        write_report("waiting", out, runs=folder / "empty")
    with pytest.raises(DataError, match=r"there is no '/nowhere\.nc'; name results"):
        write_report("waiting", out, runs="/nowhere.nc")
    with pytest.raises(ExpectationError, match="the function 'foo' is unknown"):
        write_report("waiting", out, runs=traces, expected="foo(p)")
    for wrong, why in ((["=p"], "says too little"), (["p", "log(p)"], "names 'program' twice")):
        asked = [word for text in wrong for word in ("--expect", text)]
        assert main(["trace", "report", traces, "--out", out, *asked]) == 2
        assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_waiting_of_all_together(folder: Path) -> None:
    results = [analyse(folder / "traces" / f"p{n}") for n in (2, 4, 8)]
    mean, total = (over_processes(results, of=of) for of in ("mean", "sum"))  # type: ignore[arg-type]
    for metric in ("wait_at_barrier", "wait_for_progress"):
        if metric in mean:
            np.testing.assert_allclose(total[metric].values[:, :, 0, 0], mean[metric].values[:, :, 0, 0] * [2, 4, 8])
