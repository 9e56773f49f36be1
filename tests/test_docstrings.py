"""The examples in docstrings do what they say, every one of them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def examples(file: Path) -> int:
    """Return how many docstrings of a module hold examples."""
    text = file.read_text(encoding="utf-8")
    if ">>> " not in text:
        return 0
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, owners))
    return sum(">>> " in (ast.get_docstring(node, clean=False) or "") for node in nodes)


def test_examples_in_docstrings_run(tmp_path: Path) -> None:
    """Run the examples in a process of their own, because they write files."""
    found = {str(file): n for file in sorted((ROOT / "scalkit").rglob("*.py")) if (n := examples(file))}
    assert len(found) >= 10
    options = ["-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", "--doctest-modules", *options, *found]
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    (passed,) = re.findall(r"^(\d+) passed in", done.stdout, re.MULTILINE)
    assert int(passed) == sum(found.values())
