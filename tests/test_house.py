"""Holds the bars of CONTRIBUTING.md: sizes of files, functions and folders, and how complex a function may be."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "scalkit"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_shipped" not in path.parts)
FOLDERS = sorted({path.parent for path in MODULES})

LINES_OF_A_FILE, LINES_OF_A_FUNCTION, COMPLEXITY, FILES_OF_A_FOLDER = 400, 60, 15, 25
COLLECTIONS = {"formats/readers"}
"""Folders of like things, one a file."""


def _shown(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_shown)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LINES_OF_A_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = (ast.get_docstring(node, clean=False) or "").count("\n") + 1
            lines = (node.end_lineno or 0) - node.lineno + 1 - said
            name = f"{_shown(path)}:{node.name}"
            assert lines <= LINES_OF_A_FUNCTION, f"{name} has {lines} lines without its docstring"


@pytest.mark.parametrize("folder", FOLDERS, ids=_shown)
def test_folders_hold_few_files(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.is_file()]
    if _shown(folder) not in COLLECTIONS:
        assert len(files) <= FILES_OF_A_FOLDER, sorted(path.name for path in files)


def test_no_function_is_complex() -> None:
    bar = f"lint.mccabe.max-complexity={COMPLEXITY}"
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "C901", "--config", bar, str(PACKAGE)]
    done = subprocess.run(ruff, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_left_over_at_the_root() -> None:
    """What tests and programs leave where they ran belongs to nobody."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs the repository")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    known = {".gitignore", ".pre-commit-config.yaml", "LICENSE", "Makefile", "constraints.txt", "pyproject.toml"}
    assert {name for name in listed if "/" not in name and not name.endswith((".md", ".cff"))} <= known
