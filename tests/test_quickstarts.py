"""The quickstarts: their files are written and their commands run, as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from needs import needs_cpp
from pages import DOCS, run_page

from scalkit.cli import main

START = DOCS / "start"


@pytest.mark.slow
def test_python(tmp_path: Path) -> None:
    assert re.search("^(fine|fix|cannot tell): ", run_page(START / "python.md", tmp_path), re.MULTILINE)


@pytest.mark.slow
@needs_cpp
def test_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_page(START / "cpp.md", tmp_path).count("pairs (region)") >= 2
    monkeypatch.chdir(tmp_path)
    files = list(Path("runs/pairs").glob("*.jsonl"))
    assert len(files) == 5 * 2
    for file in files:
        _replace_times(file)
    assert main(["validate", "runs/pairs", "--expectation", "pairs (region) = n*log(n)"]) == 1
    assert "1 problem: pairs (region) grows as n^2 instead of n*log(n)" in capsys.readouterr().out
    words = ["--expect", "expectations.toml", "--annotations", "github", "--junit", "scaling.xml"]
    assert main(["validate", "runs/pairs", *words]) == 1
    assert "::error file=expectations.toml,line=3,title=pairs (region)" in capsys.readouterr().out


def _replace_times(file: Path) -> None:
    """Put times that grow as n^2 in place of those that were measured, as on a machine that nobody else uses."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    n = records[0]["parameter"]["n"]
    for record in records:
        if record["rec"] == "cell":
            record |= {"t_ns": [n**2 // 4 + record["pass"] % 3], "foreign_load": 0.0}
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.slow
@pytest.mark.mpi
def test_mpi(tmp_path: Path) -> None:
    assert "sum" in run_page(START / "mpi.md", tmp_path)
