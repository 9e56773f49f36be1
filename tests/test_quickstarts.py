"""The quickstarts: their files are written and their commands run, as they stand there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pages import DOCS, run_page

START = DOCS / "start"


def test_python(tmp_path: Path) -> None:
    assert run_page(START / "python.md", tmp_path).split()[0] in ("fine:", "fix:", "cannot")


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_cpp(tmp_path: Path) -> None:
    said = run_page(START / "cpp.md", tmp_path)
    assert said.count("pairs (region)") >= 2
    assert "file=expectations.toml,line=3" in said


@pytest.mark.mpi
def test_mpi(tmp_path: Path) -> None:
    assert "sum" in run_page(START / "mpi.md", tmp_path)
