"""Kernels find what lies next to a notebook, as where JupyterLab opens it: they run in another folder here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(autouse=True)
def _modules_of_the_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOKS), prepend=os.pathsep)
