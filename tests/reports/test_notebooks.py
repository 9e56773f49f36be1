"""The notebooks: short cells without logic or stored output, and each runs on the bundled data."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from scalkit.reports import bundled
from scalkit.reports.kernel import execute

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
LOGIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda)

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebooks_are_there() -> None:
    assert {"00_quickstart", "90_report"} <= {path.stem for path in NOTEBOOKS}


@each
def test_cells_are_short_and_hold_no_logic(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    for cell in _code(notebook):
        is_list = "parameters" in cell.metadata.get("tags", [])  # one line for each parameter
        assert len(cell.source.splitlines()) <= (20 if is_list else 12)
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, LOGIC)]


@each
def test_nothing_is_stored_but_the_source(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in _code(notebook))
    assert path.stat().st_size < 20_000


@each
def test_one_cell_of_typed_parameters_with_help(path: Path) -> None:
    (cell,) = [c for c in nbformat.read(path, 4).cells if "parameters" in c.metadata.get("tags", [])]
    for line in cell.source.splitlines():
        declared, _, remark = line.partition("  # ")
        assert isinstance(ast.parse(declared).body[0], ast.AnnAssign)
        assert remark


def test_quickstart_runs_and_writes_a_report(tmp_path: Path) -> None:
    done = execute(bundled("notebooks/00_quickstart.ipynb"), {"out": str(tmp_path / "q.html")}, tmp_path)
    assert (tmp_path / "q.html").stat().st_size > 500_000
    printed = "".join(o.text for c in _code(done) for o in c.outputs if o.output_type == "stream")
    assert "exit status" in printed
    assert not [o for c in _code(done) for o in c.outputs if o.get("name") == "stderr"]


@pytest.mark.slow
def test_report_template_shows_the_bundled_data_by_itself(tmp_path: Path) -> None:
    done = execute(bundled("notebooks/90_report.ipynb"), {}, tmp_path)
    plots = [o for c in _code(done) for o in c.outputs if "application/vnd.plotly.v1+json" in o.get("data", {})]
    assert len(plots) > 30
    assert not (tmp_path / "verdict.json").exists()
    assert len(json.dumps(done)) < 2e6
