"""The API pages list every public function and class with an example, and the examples do what stands below them."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs/api").glob("*.rst"))
RUN = """
import doctest, sys

found = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8")
sys.exit(found.failed or not found.attempted)
"""

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_public_callable_has_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    module = importlib.import_module(text.partition("\n")[0])
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    wanted = {name for name, value in found.items() if callable(value) and not inspect.ismodule(value)}
    parts = dict(re.findall(r"^\.\. auto(?:function|class):: (\w+)\n(.*?)(?=^\.\. auto|\Z)", text, re.DOTALL | re.MULTILINE))
    assert set(parts) == wanted
    assert [name for name, part in parts.items() if ">>> " not in part] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_do_what_they_say(page: Path, tmp_path: Path) -> None:
    """Run the examples in a process of their own, because they write files."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(page)]
    environment = os.environ | {"COLUMNS": "110"}  # the width of the tables on the pages
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
