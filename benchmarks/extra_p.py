"""Runs parts of benchmarks with Extra-P 4.2.5, in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKER = "--extrap-worker"
"""Option with which a benchmark is called in that environment."""

_ENVIRONMENT = Path(__file__).resolve().parents[1] / "build" / "extrap-4.2.5"


def interpreter() -> Path:
    """Return the Python interpreter of the environment, which is made at first use."""
    python = _ENVIRONMENT / "bin" / "python"
    ready = _ENVIRONMENT / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", _ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "extrap==4.2.5", "numpy<2"], check=True)
        ready.touch()
    return python


def answer(benchmark: str, question: Any) -> Any:
    """Return the JSON that a benchmark prints when it is called as a worker.

    The worker shares the file of the benchmark, which imports scalkit late, as the environment
    has none.

    Parameters
    ----------
    benchmark : str
        Path of the file; it reads JSON from its standard input and prints JSON in its last line.
    question : object
        What JSON can hold.
    """
    command = [str(interpreter()), benchmark, WORKER]
    done = subprocess.run(command, input=json.dumps(question), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
