"""Programs of one's own: the page's files are written and its commands run; further programs are here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs_cpp

from scalkit.support.native import without_blanks

PAGE = Path(__file__).resolve().parents[1] / "docs/your-library.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
COMMANDS = [text for kind, text in BLOCKS if kind == "sh"]
NAME = re.compile(r"\A(?:#|//|/\*) (\S+\.\w+)")

PYTHON = """# mine.py
import random
import scalkit as sk

print(sk.check(sorted, "n log n", setup=lambda n: [random.random() for _ in range(n)]))
"""
MPI = """/* halo.c */
#include <mpi.h>
#include <scalkit/region.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double x = 1, sum = 0;
    for (int step = 0; step < 10; step++) {
        SK_REGION_BEGIN("norm");
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        SK_REGION_END("norm");
    }
    MPI_Finalize();
    return sum < 1;
}
"""
MPI_COMMANDS = """mpicc -O2 -I"$(scalkit measure --include)" -o halo halo.c
scalkit measure --clock virtual --command 'mpiexec -n {p} ./halo' -p p=2..32 --out runs/halo
scalkit validate runs/halo --expectation 'norm = log(p)'
"""


def run(commands: str, folder: Path, *files: str) -> str:
    for text in (*files, *(text for kind, text in BLOCKS if kind != "sh")):
        if name := NAME.match(text):
            (folder / name[1]).write_text(text)
    scalkit = folder / "bin/scalkit"
    scalkit.parent.mkdir()
    scalkit.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m scalkit "$@"\n')
    scalkit.chmod(0o755)
    path = os.pathsep.join([str(scalkit.parent), str(without_blanks(Path(sys.prefix)) / "bin"), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "PYTHONPATH": str(PAGE.parents[1])}
    said = ""
    for line in commands.splitlines():
        done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode in ((0, 1) if "validate" in line else (0,)), f"{line}\n{done.stdout}{done.stderr}"
        said = done.stdout
    return said


@pytest.mark.slow
def test_a_python_function(tmp_path: Path) -> None:
    assert re.search("^(fine|fix|cannot tell): ", run("python mine.py", tmp_path, PYTHON), re.MULTILINE)


@pytest.mark.slow
@needs_cpp
def test_a_sort_in_cpp_with_openmp(tmp_path: Path) -> None:
    assert "sort (region)" in run(COMMANDS[0], tmp_path)
    assert len(list((tmp_path / "runs/sort").glob("*.jsonl"))) == 6 * 2


@pytest.mark.slow
@pytest.mark.mpi
def test_a_program_with_mpi_in_virtual_time(tmp_path: Path) -> None:
    said = run(MPI_COMMANDS, tmp_path, MPI)
    assert "norm" in said
    assert "No problem: 1 fine" in said
