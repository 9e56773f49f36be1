"""Runs what is on a page of the documentation: files with a name, commands and code, and what they print.

A ``text`` block holds lines that must have been printed. A ``console`` block is a sample of a real measurement, whose result
depends on the machine: nothing compares it here, and a test elsewhere has the same lines with a clock of its own.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scalkit.cli import main
from scalkit.support.native import without_blanks

DOCS = Path(__file__).resolve().parents[1] / "docs"
NAME = re.compile(r"\A(?:#|//|/\*|<!--) (\S+\.\w+)(?: \*/| -->)?\n")
BLOCK = re.compile(r"(?:^(<!-- \S+ -->)\n+)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"scalkit ([^|&;<>$`*?~#]+?)(?: \|\| (?P<whatever>true)| \|\| test \$\? -eq 1)?")
"""A command of scalkit that needs nothing of a shell but quotes."""


def run_page(page: Path, folder: Path) -> str:
    """Write the files of a page and run it; return what was printed."""
    blocks = [(kind, f"{name}\n{text}" if name else text) for name, kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))]
    for _, text in blocks:
        if name := NAME.match(text):
            (folder / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / name[1]).write_text(text.partition("\n")[2] if text.startswith("<!--") else text)
    whole = said = ""
    for kind, text in blocks:
        if kind == "sh":
            said = "".join(_run(line, folder) for line in text.splitlines())
        elif kind == "python" and not NAME.match(text):
            (folder / "block.py").write_text(text)
            said = _run("python block.py", folder)
        elif kind == "text":
            missing = [line for line in text.splitlines() if line.strip() and line.strip() not in said]
            assert not missing, f"{page.name}: not printed: {missing}\n{said}"
        whole += said
    return whole


def _run(line: str, folder: Path) -> str:
    """Run a line of a shell and return what it printed; commands of scalkit run in this process, which has loaded it."""
    if line == "python block.py":
        said, status = _run_here(folder, _run_block)
    elif command := COMMAND.fullmatch(line):
        said, status = _run_here(folder, lambda: main(shlex.split(command[1])))
        status = 0 if command["whatever"] else status
    else:
        said, status = _run_in_shell(line, folder)
    is_test = line.startswith("python -m pytest")
    # What is found in real times depends on the machine; the tests were run all the same.
    is_judged = is_test or line.startswith(("scalkit validate", "scalkit history"))
    assert status in ((0, 1) if is_judged else (0,)), f"{line}\n{said}"
    assert not is_test or re.search(r"^\d+ (passed|failed)", said, re.MULTILINE), f"{line}\n{said}"
    return said


def _run_block() -> int:
    runpy.run_path("block.py", run_name="__main__")
    return 0


def _run_here(folder: Path, start: Callable[[], int]) -> tuple[str, int]:
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("COLUMNS", "1000")
        status = start()
    return printed.getvalue(), status


def _run_in_shell(line: str, folder: Path) -> tuple[str, int]:
    scalkit = folder / ".bin/scalkit"
    if not scalkit.exists():
        scalkit.parent.mkdir()
        scalkit.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m scalkit "$@"\n')
        scalkit.chmod(0o755)
    path = os.pathsep.join([str(scalkit.parent), str(without_blanks(Path(sys.prefix)) / "bin"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(DOCS.parent), "COLUMNS": "1000"}
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode
