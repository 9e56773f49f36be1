"""`scalkit report`: exit status, last line, JSON, and errors that leave nothing."""

from __future__ import annotations

import json
import os
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
    assert last == "No problem: 3 fine. Exit status 0: no deciding verdict or rule fails."


@pytest.mark.slow
def test_fail_on_better_adds_to_the_status(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main(["report", str(run), "--out", str(out), "--fail-on", "better", "--json"]) == 1
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
        f"scalkit report: the report {out} would replace r.html in {tmp_path}; choose another name or allow it "
        "(force=True, --force).\n"
    )
    assert out.read_text() == "mine"
    assert main(["report", str(bad), "--out", str(out), "--force"]) == 1
    assert "1 problem: MPI_Comm_dup keeps 8 B for every process" in capsys.readouterr().out
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
    assert "Exit status" in capsys.readouterr().out.splitlines()[1]
    verdicts = json.loads(out.with_name("r.verdict.json").read_text(encoding="utf-8"))
    assert verdicts["statistic"] == "min"
    assert verdicts["verdicts"][0]["y"] == [1, 2, 3]


@pytest.mark.slow
def test_benchmarks_are_read_along_the_parameter_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert main(words) == 0
    assert "No problem: 2 fine." in capsys.readouterr().out.splitlines()[1]


def test_a_request_to_end_leaves_nothing(run: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "scalkit", "report", str(run), "--out", str(tmp_path / "r.html")]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE) as process:
        logs = "scalkit-report-*/kernel.log"
        wait_until(lambda: list(temporary.glob(logs)), "the log of a notebook", process)
        process.terminate()
        _, error = process.communicate()
    assert process.returncode == 130
    assert error.decode() == "scalkit report: interrupted\n"
    assert list(tmp_path.iterdir()) == [temporary]
    assert list(temporary.iterdir()) == []


def test_data_sets_are_compared_by_their_paths(run: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main(["report", str(run), str(bad), "--compare", "--out", str(out), "--json"]) == 1
    assert f"{bad}: fix MPI_Comm_dup. The answers differ for MPI_Comm_dup." in json.loads(capsys.readouterr().out)["answer"]
    sets = json.loads(out.with_name("r.verdict.json").read_text(encoding="utf-8"))["sets"]
    assert [one["label"] for one in sets] == [str(run), str(bad)]


@pytest.mark.slow
def test_a_candidate_is_compared_with_earlier_runs(
    run: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.html"
    command = ["report", str(bad), "--baseline", str(run), "--out", str(out), "--notebook"]
    assert main([*command, "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert Path(content["notebook"]) == tmp_path / "r.ipynb"
    assert "1 grows faster, 2 gone; worse: MPI_Comm_dup" in content["answer"]
    verdicts = json.loads(out.with_name("r.verdict.json").read_text(encoding="utf-8"))
    assert {one["kind"] for one in verdicts["comparison"]["changes"]} == {"worse", "gone"}


@pytest.mark.parametrize(
    ("words", "message"),
    [(["RUN", "--compare"], "to compare, two data sets are needed, got 1; name a run folder for each column.")],
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
