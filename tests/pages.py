"""Runs what stands on a page of the documentation: files with a name, commands, code, and what they are said to print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
NAME = re.compile(r"\A(?:#|//|/\*|<!--) (\S+\.\w+)(?: \*/| -->)?\n")
BLOCK = re.compile(r"(?:^(<!-- \S+ -->)\n+)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run_page(page: Path, folder: Path) -> str:
    """Write the files of a page and run it; return what was printed, which must have the lines of ``text`` blocks."""
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
    scalkit = folder / ".bin/scalkit"
    if not scalkit.exists():
        scalkit.parent.mkdir()
        scalkit.write_text(f'#!/bin/sh\nexec {sys.executable} -m scalkit.cli "$@"\n')
        scalkit.chmod(0o755)
    path = os.pathsep.join([str(scalkit.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(DOCS.parent), "COLUMNS": "1000"}
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    is_judged = line.startswith(("scalkit validate", "scalkit history"))
    assert done.returncode in ((0, 1) if is_judged else (0,)), f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr
