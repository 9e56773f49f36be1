"""The checks of the measuring kernel itself: unit tests and real runs under sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "microbench"


def _make(build: Path, *words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("mpicc") is None:
        pytest.skip("needs an MPI library: no mpicc on PATH")
    command = ["make", "-s", "-C", str(KERNEL), f"BUILD={build}", *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.mpi
def test_builds_out_of_tree_without_warnings(tmp_path):
    before = {path for path in KERNEL.rglob("*") if path.is_file()}
    made = _make(tmp_path, "all")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    assert (tmp_path / "sk_time").exists()
    assert (tmp_path / "sk_memory").exists()
    assert {path for path in KERNEL.rglob("*") if path.is_file()} == before


def test_sources_are_small_and_their_names_are_our_own():
    for source in KERNEL.rglob("*.[ch]"):
        lines = source.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 400, source
        assert not any(line.startswith(("int MPI_", "void MPI_", "#define MPI_")) for line in lines), source
        assert max(map(len, lines)) <= 120, source
