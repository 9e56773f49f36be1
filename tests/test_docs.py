"""The examples in README and docs do what the text beside them says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if ">>>" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_sessions_of_a_page_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted
    assert not found.failed


def test_example_of_the_readme_prints_what_it_says(monkeypatch, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, said = re.search(r"```python\n(.*?)```\s*```\n(.*?)```", text, re.DOTALL).groups()
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == said
    assert (tmp_path / "my_sort.html").stat().st_size > 1000


def test_example_of_the_page_on_measuring_is_the_one_that_runs():
    """tests/bench/test_functions.py compiles and runs it."""
    page = (ROOT / "docs/measurement.md").read_text(encoding="utf-8")
    file = (ROOT / "microbench/examples/ring_allreduce.c").read_text(encoding="utf-8")
    blocks = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    examples = [block for block in blocks if "ring_allreduce" in block]
    assert examples
    assert all(block in file for block in examples)
