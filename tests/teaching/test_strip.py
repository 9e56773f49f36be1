"""The students' edition: no answer, no remark for teachers, no output; what cannot become a blank is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import v4

from scalkit.errors import UsageError
from strip import main, strip, strip_folder

SECRET = "p^(17/19)"


def notebook(*cells: tuple[str, str, str]) -> Any:
    """Return a notebook of (kind, tag, source)."""
    made = v4.new_notebook()
    for kind, tag, source in cells:
        cell = (v4.new_code_cell if kind == "code" else v4.new_markdown_cell)(source)
        cell.metadata.tags = [tag] if tag else []
        made.cells.append(cell)
    return made


@pytest.fixture
def teachers() -> Any:
    solution = f"# Task: think.\n# it is {SECRET}\nx = '{SECRET}'\nprint(x)\norder.check('{SECRET}')\nlie.check(session)"
    made = notebook(
        ("markdown", "", "# Lesson"),
        ("markdown", "teacher", f"Say {SECRET}."),
        ("code", "exercise", "order"),
        ("code", "solution", solution),
        ("markdown", "solution", f"Because of {SECRET}."),
    )
    made.cells[2].outputs = [v4.new_output("stream", text=f"{SECRET}\n")]
    made.cells[2].execution_count = 3
    made.metadata.widgets = {"state": SECRET}
    return made


def test_blanks_in_place_of_solutions(teachers: Any) -> None:
    before = nbformat.writes(teachers)
    made = strip(teachers)
    assert nbformat.writes(teachers) == before, "the teacher's edition stays as it is"
    nbformat.validate(made)
    assert SECRET not in nbformat.writes(made)
    assert [cell.source for cell in made.cells] == [
        "# Lesson",
        "order",
        '# Task: think.\norder.check("...")\nlie.check(session)',
        "*Your notes:*",
    ]
    assert [cell.metadata.tags for cell in made.cells] == [[], ["exercise"], ["blank"], ["blank"]]
    assert made.cells[1].outputs == []
    assert made.cells[1].execution_count is None


@pytest.mark.parametrize(
    ("solution", "blank"),
    [
        ("a.check('p')", '# Task: put your answer in place of the dots\na.check("...")'),
        ("a.check(limit(w, '1 GB').value)", '# Task: put your answer in place of the dots\na.check("...")'),
        ("a.check(x=1)\nb.c.check()", "# Task: put your answer in place of the dots\na.check()\nb.c.check()"),
        ("def f():\n    a.check('p')\na.check(s)", "# Task: put your answer in place of the dots\na.check(s)"),
    ],
)
def test_all_but_names_becomes_dots(solution: str, blank: str) -> None:
    (cell,) = strip(notebook(("code", "solution", solution))).cells
    assert cell.source == blank


def test_solution_without_check_or_python_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        strip(notebook(("code", "", "1"), ("code", "solution", "x = 1")))
    assert str(refused.value) == (
        "the solution in cell 2 checks no exercise, so its blank could not say what is missing; end it with a check, as "
        "in order.check('p')."
    )
    with pytest.raises(UsageError) as refused:
        strip(notebook(("code", "solution", "order.check(")))
    assert str(refused.value) == "the solution in cell 1 is no Python: '(' was never closed; mend it first."


def test_a_folder_with_the_package_that_it_imports(teachers: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "teach", tmp_path / "deep" / "students"
    source.mkdir()
    for name in ("01.ipynb", "02.ipynb"):
        nbformat.write(teachers, source / name)
    assert strip_folder(source, target) == [target / "01.ipynb", target / "02.ipynb"]
    assert SECRET not in (target / "02.ipynb").read_text()
    assert (target / "exercises" / "__init__.py").is_file()


def test_what_may_not_be_written(teachers: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "teach"
    source.mkdir()
    nbformat.write(teachers, source / "01.ipynb")
    before = (source / "01.ipynb").read_bytes()
    (tmp_path / "empty").mkdir()
    wrong = {
        (source, source): f"'{source}' is already there; remove it, or choose another place.",
        (tmp_path / "x", tmp_path / "y"): f"the folder '{tmp_path}/x' holds no notebook; name the teacher's edition.",
        (tmp_path / "empty", tmp_path / "y"): f"the folder '{tmp_path}/empty' holds no notebook; name the teacher's edition.",
    }
    for (origin, target), message in wrong.items():
        assert main([str(origin), str(target)]) == 2
        assert capsys.readouterr().err == f"strip.py: {message}\n"
    assert main([str(source), "/dev/null/x"]) == 2
    assert "Not a directory" in capsys.readouterr().err
    assert (source / "01.ipynb").read_bytes() == before
    assert main([str(source), str(tmp_path / "students")]) == 0
    assert capsys.readouterr().out == f"students' edition: {tmp_path}/students/01.ipynb\n"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"cells": 3, "nbformat": 4}', b"[" * 20_000])
def test_what_is_no_notebook_stops_before_anything_is_written(content: bytes, teachers: Any, tmp_path: Path) -> None:
    source = tmp_path / "teach"
    source.mkdir()
    nbformat.write(teachers, source / "01.ipynb")
    (source / "02.ipynb").write_bytes(content)
    with pytest.raises(UsageError, match=rf"^'{source}/02\.ipynb' is no notebook: .*; name a folder of notebooks\.$"):
        strip_folder(source, tmp_path / "students")
    assert not (tmp_path / "students").exists()


def test_a_solution_without_a_check_is_named(tmp_path: Path) -> None:
    nbformat.write(notebook(("code", "solution", "1")), tmp_path / "wrong.ipynb")
    with pytest.raises(UsageError, match=rf"^{tmp_path}/wrong\.ipynb: the solution in cell 1 checks no exercise"):
        strip_folder(tmp_path, tmp_path / "students")
    assert not (tmp_path / "students").exists()
