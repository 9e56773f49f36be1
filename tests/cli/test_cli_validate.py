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
    assert [cell.strip() for cell in re.split("[│┃]", good)[1:-1]] == [
        *("good", "time", "log(p)", "1.00 us * log(p)", "1.000", "1", "✓ total"),
    ]
    assert "✗ none, grows faster" in bad
    assert "the models predict a violation from p = 103 on, near the measured range" in out
    assert "measured, but without an expectation: [red]extra[/red]" in out
    assert "expected, but not measured: absent" in out
    assert out.rstrip().endswith("2 verdicts: 1 total, 0 approximate, 1 none; decided by bad. Exit status 1.")


def test_json_alone_is_printed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate(run, "--json") == 1
    content = json.loads(capsys.readouterr().out)
    assert [v["rank"] for v in content["verdicts"]] == ["total", "none"]


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
    assert "which is no fault" in capsys.readouterr().out
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
