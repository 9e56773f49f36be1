"""`scalkit validate`: the table, the JSON, JUnit XML, exit status and errors."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import combine, write_netcdf

P = np.array([2, 4, 8, 16, 32])
LOG = np.log2(P)
EXPECT = """
rules = ["bad <= 100*good", "good <= bad"]
[expectations]
good = "log(p)"
bad = "log(p)"
absent = "1"
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    data = combine(
        [
            sk.measurements(P, 1e-6 * LOG, name="good"),
            sk.measurements(P, 1e-6 * P * LOG, name="bad"),
            sk.measurements(P, 1e-6 * P, name="[red]extra[/red]"),
        ]
    )
    write_netcdf(data, tmp_path / "run.nc")
    (tmp_path / "expect.toml").write_text(EXPECT)
    return tmp_path / "run.nc"


def validate(run: Path, *options: str) -> int:
    return main(["validate", str(run), "--expect", str(run.with_name("expect.toml")), *options])


def test_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(run) == 1
    out = capsys.readouterr().out
    good, bad = (next(line for line in out.splitlines() if f" {name} " in line) for name in ("good", "bad"))
    assert re.split("  +", good) == ["✓ fine", "good", "time", "log(p)", "p^(1/3)", "1.00 us * log(p)", "1"]
    assert "✗ fix" in bad
    assert "the models predict a violation from p = 103 on, near the measured range" in out
    assert "measured, but without an expectation: [red]extra[/red]" in out
    assert "expected, but not measured: absent" in out
    assert out.rstrip().endswith(". Beside it: 1 fine. Exit status 1.")


def test_json_alone_is_printed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(run, "--json") == 1
    content = json.loads(capsys.readouterr().out)
    assert [v["match"] for v in content["verdicts"]] == ["none", "total"]


def test_junit(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run.with_name("verdicts.xml")
    assert validate(run, "--junit", str(path)) == 1
    capsys.readouterr()
    assert ET.parse(path).getroot()[0].get("failures") == "1"
    assert [p.name for p in run.parent.iterdir() if p.suffix == ".part"] == []


def test_status_0_and_what_adds_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = sk.measurements(P, 1e-6 * P**0.25, name="gen", parameter="p")
    write_netcdf(data, tmp_path / "run.nc")
    (tmp_path / "expect.toml").write_text('deviation = "1"\n[expectations]\ngen = "p"\n')
    assert validate(tmp_path / "run.nc") == 0
    assert "gen grows slower than claimed, " in capsys.readouterr().out
    assert validate(tmp_path / "run.nc", "--fail-on", "better") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-points", "9"], "fitting 'time' of 'good' needs 9 values of 'p', got 5 (2, 4, 8, 16, 32); "
         "measure more or set min_points=5 (--min-points 5)."),
        (["--junit", "/nowhere/x.xml"], "cannot write /nowhere/x.xml: No such file or directory; "
         "choose another path for --junit."),
    ],
)  # fmt: skip
def test_wrong_use(run: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert validate(run, *options) == 2
    captured = capsys.readouterr()
    assert captured.err == f"scalkit validate: {message}\n"
    assert captured.out == ""


def test_no_such_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "/nowhere"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("scalkit validate: ")
    assert "'/nowhere'" in err
    assert os.linesep not in err.rstrip("\n")


def test_annotations(run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parent)
    assert validate(run, "--annotations", "github") == 1
    out = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert out[0].startswith(
        "::error file=expect.toml,line=5,title=bad (time)%3A fix::bad grows as p*log(p) instead of "
        "log(p); it grows faster than claimed with a probability of "
    )
    assert out[1].startswith("::warning file=expect.toml,title=rule predicted::")
    assert all(re.fullmatch(r"::(error|warning) [^:]+::[^\n]*", line) for line in out)
    assert "::warning file=expect.toml,title=scalkit::expected, but not measured: absent" in out
    assert validate(run, "--annotations", "github", "--json", "--fail-on", "predicted") == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["exit_status"] == 1
    assert captured.err.count("::error ") == 2 + captured.err.count("title=rule violated")


def test_annotations_escape_what_workflow_commands_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "f:1,2 %\r\n::error::x"
    write_netcdf(sk.measurements(P, 1e-6 * P**2, name=name), tmp_path / "run.nc")
    expect = tmp_path / "a,b.toml"
    expect.write_text(f"[expectations]\n{json.dumps(name)} = 'p^(1/2)'\n")
    assert main(["validate", str(tmp_path / "run.nc"), "--expect", str(expect), "--annotations", "github"]) == 1
    line = capsys.readouterr().out.split("\n")[-2]
    assert f"file={str(expect).replace(',', '%2C')},line=2,title=f%3A1%2C2 %25%0D%0A%3A%3Aerror%3A%3Ax (time)%3A fix::" in line
    assert "::f:1,2 %25%0D%0A::error::x grows as p^2 instead of p^(1/2); it grows faster than claimed with a probability" in line


def test_annotations_of_a_bundled_catalogue_have_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_netcdf(sk.measurements(P, 1e-6 * P, name="MPI_Barrier"), tmp_path / "run.nc")
    assert main(["validate", str(tmp_path / "run.nc"), "--annotations", "github"]) == 1
    out = capsys.readouterr().out
    assert "\n::error title=MPI_Barrier (time)%3A fix::MPI_Barrier grows as p instead of log(p); " in out


def test_files_of_google_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[1] / "data" / "benchmarks" / "google_benchmark.json"
    (tmp_path / "expect.toml").write_text("[expectations]\nBM_InsertionSort = 'log(size)'\n")
    options = ["--expect", str(tmp_path / "expect.toml")]
    assert main(["validate", str(path), *options, "--parameter", "size"]) == 1
    assert "BM_InsertionSort" in capsys.readouterr().out
    assert main(["validate", str(path), *options]) == 1  # the expectation names the parameter
    assert "BM_InsertionSort" in capsys.readouterr().out
    (tmp_path / "expect.toml").write_text("[expectations]\nBM_Other = 'log(n)'\n")
    assert main(["validate", str(path), *options]) == 2
    assert capsys.readouterr().err.startswith("scalkit validate: no measured function has an expectation: measured are BM_Sort")


def test_wrong_expectations_name_file_and_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run.with_name("expect.toml")
    path.write_text("[expectations]\n\ngood = 'fac(p)'\n")
    assert validate(run) == 2
    assert capsys.readouterr().err.startswith(f"scalkit validate: {path}, line 3: function 'good': cannot ")


def test_names_from_a_file_do_not_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.csv"
    file.write_text("function,p,time\n" + "".join(f"f\x1b[2J,{p},{p * 1e-6}\n" for p in P))
    assert main(["validate", str(file), "--expectation", "f\x1b[2J=p"]) == 0
    said = capsys.readouterr().out
    assert "f\\u001b[2J" in said
    assert "\x1b" not in said
