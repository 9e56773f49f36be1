"""The lessons: the teacher's edition runs and every solution is right; the students' runs too, and every blank helps on."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from tiers import slow_unless
from waiting import PATIENCE_S

from exercises import exercise_names, exercise_options
from grade import main
from scalkit.reports.kernel import execute
from strip import strip, strip_folder

FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "teach"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LOGIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda)

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
_TIERED = [slow_unless(path, FOLDER / "05_predict.ipynb") for path in NOTEBOOKS]
each_but_one_slow = pytest.mark.parametrize("path", _TIERED, ids=lambda path: path.stem)


def code(notebook: Any, tag: str = "") -> list[Any]:
    return [c for c in notebook.cells if c.cell_type == "code" and (not tag or tag in c.metadata.get("tags", []))]


def checks(source: str) -> list[str]:
    """Return what is given to the checks of exercises: Python, or ``name`` for a name."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    found = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "check"]
    return ["name" if isinstance(one, ast.Name) else ast.unparse(one) for node in found for one in node.args]


def said(cell: Any) -> str:
    """Return the text that a cell ends with, as a person reads it."""
    return str(cell.outputs[-1]["data"]["text/plain"])


def test_the_six_lessons_are_there() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@each
def test_lessons_are_written_for_learners(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert "**You will learn**" in notebook.cells[0].source
    assert "10 minutes" in notebook.cells[0].source
    assert [c for c in notebook.cells if "teacher" in c.metadata.get("tags", [])]
    assert all(c.outputs == [] and c.execution_count is None for c in code(notebook))
    for cell in code(notebook):
        assert len(cell.source.splitlines()) <= 12
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, LOGIC)]
    assert len(code(notebook, "solution")) == len(code(notebook, "exercise")) >= 4


def test_every_exercise_is_asked_once() -> None:
    cells = [cell for path in NOTEBOOKS for cell in code(nbformat.read(path, 4), "exercise")]
    asked = [name for cell in cells for name in exercise_names() if f'"{name}"' in cell.source]
    assert sorted(asked) == sorted(exercise_names())


@each
def test_students_read_no_solution(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    stripped = strip(notebook)
    text = "\n".join(cell.source for cell in stripped.cells)
    for solution, blank in zip(code(notebook, "solution"), code(stripped, "blank"), strict=True):
        kept = [line for line in blank.source.splitlines() if line in solution.source.splitlines()]
        assert [line for line in kept if not line.startswith("# Task:") and not checks(line)] == []
        assert all(one in ("'...'", "name") for one in checks(blank.source))
        assert checks(solution.source)
    for name in exercise_names():
        assert exercise_options(name)["why"] not in text
    assert "For the teacher" not in text


@pytest.mark.parametrize(
    "path", [slow_unless(path, FOLDER / "05_predict.ipynb") for path in NOTEBOOKS], ids=lambda path: path.stem
)
def test_teachers_edition_runs_and_solutions_are_right(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = execute(path, {}, tmp_path, timeout_s=PATIENCE_S)
    solved = [said(cell) for cell in code(done, "solution")]
    assert [text for text in solved if not text.startswith("✓ right")] == []
    assert not [o for c in code(done) for o in c.outputs if o.output_type == "error" or o.get("name") == "stderr"]
    for cell in code(done, "exercise"):
        shown = cell.outputs[-1]["data"]
        assert "application/vnd.jupyter.widget-view+json" in shown
        assert shown["text/plain"].startswith("Exercise 0")
    if (tmp_path / "hand-in.json").exists():
        assert main(["--exercise", "06-hand-in", str(tmp_path / "hand-in.json")]) == 0
        assert "  solved\n" in capsys.readouterr().out
    assert (path.stem == "06_regression") == (tmp_path / "hand-in.json").exists()


@pytest.mark.slow
def test_students_edition_runs_and_every_blank_helps_on(tmp_path: Path) -> None:
    """All lessons in a row in one kernel, as a learner goes through them."""
    lessons = [nbformat.read(path, 4) for path in strip_folder(FOLDER, tmp_path / "students")]
    joined = lessons[0]
    joined.cells = [cell for lesson in lessons for cell in lesson.cells]
    for number, cell in enumerate(joined.cells):
        cell.id = f"cell-{number}"
        cell.metadata.tags = [tag for tag in cell.metadata.get("tags", []) if tag != "parameters"]
    nbformat.write(joined, tmp_path / "students.ipynb")
    done = execute(tmp_path / "students.ipynb", {}, tmp_path, timeout_s=PATIENCE_S)
    assert not [o for c in code(done) for o in c.outputs if o.output_type == "error" or o.get("name") == "stderr"]
    blanks = code(done, "blank")
    assert len(blanks) == len(exercise_names())
    for cell in blanks:
        mark, _, thought = said(cell).partition(": ")
        assert mark in {"? no answer yet", "✗ not yet"}
        assert 20 < len(thought) < 200
        assert "Traceback" not in thought
