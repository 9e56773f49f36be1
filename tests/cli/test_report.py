"""`scalkit report`: exit status, last line, JSON, and errors that leave nothing."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import combine, write_netcdf

P = np.array([2, 4, 8, 16, 32])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.nc"
    values = {"MPI_Comm_dup": 256 + 0.0 * P, "MPI_Win_create": 96.0 * P, "MPI_Cart_create": 400 + 0.0 * P}
    sets = [sk.measurements(P, y, metric="object_memory", unit="B", name=name) for name, y in values.items()]
    write_netcdf(combine(sets), path)
    return path


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "bad.nc"
    write_netcdf(sk.measurements(P, 256 + 8.0 * P, metric="object_memory", unit="B", name="MPI_Comm_dup"), path)
    return path


def test_last_line_states_verdicts_and_status(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main(["report", str(run), "--out", str(out)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"report: {out}"
    assert last.startswith("No problem: 3 fine. 3 verdicts on 3 functions: 2 total match, 0 approximate, 1 no match.")
    assert last.endswith("Exit status 0: no deciding verdict or rule fails.")


@pytest.mark.slow
def test_fail_on_better_adds_to_the_status(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main(["report", str(run), "--out", str(out), "--fail-on", "better", "--json", "--title", "T"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["status"] == 1
    assert Path(content["html"]) == out
    assert Path(content["verdict_json"]).name == "r.verdict.json"
    assert Path(content["junit_xml"]).is_file()


def test_planted_growth_gives_status_1_and_an_existing_report_needs_force(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.html"
    out.write_text("mine")
    assert main(["report", str(bad), "--out", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"scalkit report: the report {out} would replace r.html in {tmp_path}; choose another name or allow it (--force).\n"
    )
    assert out.read_text() == "mine"
    assert main(["report", str(bad), "--out", str(out), "--force"]) == 1
    assert "MPI_Comm_dup grows faster than expected." in capsys.readouterr().out
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_wrong_input_gives_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["report", str(empty), "--out", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"scalkit report: the folder '{empty}' has no run files (*.jsonl)")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == [empty]


@pytest.mark.slow
def test_fewer_settings_and_another_statistic_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "few.nc", tmp_path / "r.html"
    write_netcdf(sk.measurements([2, 4, 8], [[1, 9], [2, 9], [3, 9]], name="MPI_Bcast"), path)
    assert main(["report", str(path), "--out", str(out)]) == 2
    assert "needs 5 values" in capsys.readouterr().err
    main(["report", str(path), "--out", str(out), "--min-points", "3", "--statistic", "min"])
    assert "1 verdict on 1 function: " in capsys.readouterr().out.splitlines()[1]
    verdicts = json.loads(out.with_name("r.verdict.json").read_text(encoding="utf-8"))
    assert verdicts["statistic"] == "min"
    assert verdicts["verdicts"][0]["y"] == [1, 2, 3]


@pytest.mark.slow
def test_benchmarks_are_read_along_the_parameter_that_is_named_and_steps_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {(n, k): 3.0 * k for n in (8, 16) for k in range(1, 7)}
    records = [
        {"name": f"f/n:{n}/k:{k}", "run_name": f"f/n:{n}/k:{k}", "run_type": "iteration", "real_time": t, "cpu_time": t}
        for (n, k), t in times.items()
    ]
    path, expected = tmp_path / "bench.json", tmp_path / "e.toml"
    content = {"context": {"host_name": "here"}, "benchmarks": [{**one, "time_unit": "ns"} for one in records]}
    path.write_text(json.dumps(content), encoding="utf-8")
    expected.write_text('[expectations]\n"f[n=8]" = "k"\n"f[n=16]" = "k"\n', encoding="utf-8")
    out = tmp_path / "r.html"
    words = ["report", str(path), "--expect", str(expected), "--parameter", "k", "--out", str(out)]
    assert main([*words, "--progress", "--title=-T"]) == 0
    said = capsys.readouterr()
    assert "2 verdicts on 1 function: 2 total match" in said.out.splitlines()[1]
    steps = [re.fullmatch(r"\[(\d+)/(\d+)\] report", line) for line in said.err.splitlines()]
    counts = [(int(one[1]), int(one[2])) for one in steps if one]
    assert len(counts) == len(steps) > 10
    assert counts == [(k, len(counts) + 1) for k in range(1, len(counts) + 1)]
    page = html.unescape(out.read_text(encoding="utf-8"))
    assert "<title>-T</title>" in page
    assert "--parameter k --out report.html" in page
    assert f"data = sk.read('{path}', parameter='k')" in page


def test_a_request_to_end_leaves_nothing(run: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "scalkit.cli", "report", str(run), "--out", str(tmp_path / "r.html")]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE) as process:
        logs = "scalkit-report-*/kernel.log"
        wait_until(lambda: list(temporary.glob(logs)), "the log of a notebook", process)
        process.terminate()
        _, error = process.communicate()
    assert process.returncode == 130
    assert error.decode() == "scalkit report: interrupted\n"
    assert list(tmp_path.iterdir()) == [temporary]
    assert list(temporary.iterdir()) == []


def test_templates_are_listed_with_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["report", "compare", "regression"]
    assert lines[1] == "compare     Several data sets side by side: libraries, platforms, versions"
    assert main(["report", "--list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["report", "compare", "regression"]


def test_parameters_of_a_template_are_typed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--help-template", "regression"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("regression: A candidate against its baseline")
    assert re.search(r"\njudging: dict = \{\} +how it is judged, ", out)
    assert main(["report", "--help-template", "regression", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["baseline"] == {
        "name": "baseline",
        "type": "str",
        "default": '""',
        "help": "a file of scalkit validate --save-baseline, or earlier runs; empty: the bundled measurements",
    }
    assert main(["report", "--help-template", "luck"]) == 2
    assert "there is no template 'luck' of a report; choose from report, compare, regression." in capsys.readouterr().err


@pytest.mark.slow
def test_a_candidate_is_compared_with_earlier_runs(
    run: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.html"
    command = ["report", "--template", "regression", str(bad), "--baseline", str(run), "--out", str(out), "--notebook"]
    assert main([*command, "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert Path(content["notebook"]) == tmp_path / "r.ipynb"
    assert "1 worse, 2 gone; worse: MPI_Comm_dup" in content["answer"]
    verdicts = json.loads(out.with_name("r.verdict.json").read_text(encoding="utf-8"))
    assert {one["kind"] for one in verdicts["comparison"]["changes"]} == {"worse", "gone"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to report; name a run folder, a run file, a netCDF file or a session."),
        (["RUN", "--target-p", "1,x"], "--target-p is '1,x'; give scales as numbers, several between commas, as in 4096,65536."),
        (["RUN", "--label", "a"], "the template report has no parameter 'labels'; it has baseline, "),
    ],
)
def test_wrong_use_gives_status_2(
    words: list[str], message: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(run) if word == "RUN" else word for word in words]
    assert main(["report", *given, "--out", str(tmp_path / "r.html")]) == 2
    assert capsys.readouterr().err.startswith(f"scalkit report: {message}")
    assert list(tmp_path.iterdir()) == []


def test_help_says_what_can_be_combined(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "a folder together with one of its own files is refused" in said
