"""The benchmark of `sk.check` runs: one function, a small budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_benchmark_of_python_functions_runs() -> None:
    words = [sys.executable, str(ROOT / "benchmarks/python_functions.py"), "--only", "duplicates", "--budget", "0.3", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "1 right claims: " in done.stdout
    assert "2 wrong claims: " in done.stdout
    assert '"claim": "n log n"' in done.stdout
