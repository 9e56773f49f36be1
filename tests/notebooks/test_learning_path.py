"""Each notebook of the learning path runs by itself on a real kernel, says what it should, and warns of nothing."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from tiers import slow_unless

from scalkit.reports import bundled
from scalkit.reports.kernel import execute

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
SAYS = {
    "01_expectations": ["<mi>O</mi>", "n^(14037/5000)", "approximate"],
    "02_ruler": ["17 ticks from 1 to p^2", "33 ticks", "3 ticks"],
    "03_measure": ["Measured here", "MPI_Comm_dup", "Advice"],
    "04_validate": ["The litmus test Bcast_binary_tree", "MPI_Allreduce &lt;= MPI_Reduce", "exit status 0"],
    "05_predict": ["shared by 8 processes", "outside its deviation limits", "90 % interval", "MPI_Win_create"],
    "06_regression": ["1 grows faster", "5408 B + 64 B * p", "exit status 1"],
    "07_your_library": ["simulated, not measured", "k^3*2^k", "exit status 1"],
    "08_paper": [
        *("24 of 24 marks", "15 of 15 marks", "4 of 4 marks", "Explorer: "),
        *("Simulated, not measured", "too fast with Open MPI 5.0.11 (p)", "us at p = 2", "k^4*2^k"),
        *("Virtual time: the libraries ran", "too fast then, no more: Barrier, Allreduce, Bcast (BT)"),
    ],
}
"""What the outputs hold; 00_quickstart runs with the reports."""

LESS = {"03_measure": {"runs": 1}}
"""Parameters that make less to do, of notebooks that would take long on a crowded machine."""


def test_the_path_is_complete_and_linked() -> None:
    names = [path.stem for path in sorted(FOLDER.glob("0*.ipynb"))]
    assert names == ["00_quickstart", *SAYS]
    for before, after in pairwise(names):
        text = "".join(cell.source for cell in nbformat.read(FOLDER / f"{before}.ipynb", 4).cells)
        assert f"{after}.ipynb)" in text, before


@pytest.mark.parametrize("path", sorted(FOLDER.glob("**/[0-9]*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_hold_no_logic(path: Path) -> None:
    logic = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.While, ast.If, ast.With, ast.Try)
    cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    found = [type(node).__name__ for source in cells for node in ast.walk(ast.parse(source)) if isinstance(node, logic)]
    assert found == []


@pytest.mark.parametrize("name", [slow_unless(name, "04_validate") for name in SAYS])
def test_notebook(name: str, tmp_path: Path) -> None:
    done = execute(bundled(f"notebooks/{name}.ipynb"), LESS.get(name, {}), tmp_path)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(one.text for one in outputs if one.output_type == "stream")
    for one in outputs:
        shown += "\n".join(str(text) for text in one.get("data", {}).values())
    assert [text for text in SAYS[name] if text not in shown] == []
