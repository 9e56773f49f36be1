"""Makes the students' edition of a notebook: blanks in place of solutions, no remarks for teachers, no outputs.

A code cell tagged ``solution`` keeps its comments that begin with ``# Task:`` and the checks of exercises, in which the
answers become dots; what else it says is gone. A text cell tagged ``solution`` becomes an invitation to write, a cell tagged
``teacher`` goes.
"""

from __future__ import annotations

import ast
import copy
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError
from scalkit.extras import require
from scalkit.schema_errors import load_jsonschema

if TYPE_CHECKING:
    from nbformat import NotebookNode

SOLUTION, TEACHER, BLANK = "solution", "teacher", "blank"
"""Tags: what is taken out, what only teachers see, and what stands in place of a solution."""

_TASK = "# Task:"
_DOTS = '"..."'
_LARGEST = 20_000_000
_INVITATION = "*Your notes:*"


def strip(notebook: NotebookNode) -> NotebookNode:
    """Return the students' edition of a notebook, which stays as it is.

    `notebook`: of the teacher's edition.
    Raises UsageError if a solution cannot become a blank: it checks no exercise, or is no Python.
    """
    made = copy.deepcopy(notebook)
    made.cells = [_stripped(cell, place) for place, cell in enumerate(made.cells, 1) if TEACHER not in _tags(cell)]
    made.metadata.pop("widgets", None)
    return made


def strip_files(source: Path, target: Path, *, force: bool = False) -> list[Path]:
    """Write the students' edition of a notebook, or of all notebooks of a folder, and return what was written.

    `source`: a notebook or a folder of notebooks.
    `target`: a file for a notebook, a folder for a folder; made where it is missing. Never the source itself.
    `force`: whether existing files are replaced.
    Raises UsageError if the source is missing or no notebook, or the target may not be written. Nothing is written
    then, unless the disk fails.
    """
    pairs = _pairs(source, target)
    for origin, place in pairs:
        if place.resolve() == origin.resolve():
            raise UsageError(f"'{place}' is the teacher's edition itself; choose another place for the students'.")
        if place.exists() and not force:
            raise UsageError(f"'{place}' is already there; replace it with --force, or choose another place.")
    texts = [(place, students_edition(origin)) for origin, place in pairs]
    try:
        for place, text in texts:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{error.filename}': {error.strerror}; choose another place.") from error
    return [place for place, _ in texts]


def _pairs(source: Path, target: Path) -> list[tuple[Path, Path]]:
    if source.is_dir():
        found = sorted(source.glob("*.ipynb"))
        if not found:
            raise UsageError(f"the folder '{source}' holds no notebook; name one that does.")
        if target.is_file():
            raise UsageError(f"'{target}' is a file; name a folder for the {len(found)} notebooks of '{source}'.")
        return [(one, target / one.name) for one in found]
    if not source.is_file():
        raise UsageError(f"there is no notebook and no folder '{source}'; name the teacher's edition.")
    return [(source, target / source.name if target.is_dir() else target)]


def students_edition(path: Path) -> str:
    """Return the students' edition of a notebook file, as the text of a file; UsageError if it cannot be made."""
    require("report", "papermill")  # which brings nbformat
    load_jsonschema()
    nbformat: Any = importlib.import_module("nbformat")
    try:
        if (size := path.stat().st_size) <= _LARGEST:
            notebook = nbformat.read(path, 4)
            nbformat.validate(notebook)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UsageError(f"'{path}' is no notebook that can be read: {reason}; name a file that JupyterLab opens.") from error
    if size > _LARGEST:
        raise UsageError(f"the notebook '{path}' is larger than {_LARGEST} bytes; take its outputs out first.")
    try:
        return f"{nbformat.writes(strip(notebook))}\n"
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _stripped(cell: Any, place: int) -> Any:
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    if SOLUTION in _tags(cell):
        cell.source = _blank(cell.source, place) if cell.cell_type == "code" else _INVITATION
        cell.metadata.tags = [BLANK if tag == SOLUTION else tag for tag in _tags(cell)]
    return cell


def _blank(source: str, place: int) -> str:
    """Return the tasks and the checks of a solution, without the answers."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise UsageError(f"the solution in cell {place} is no Python: {error.msg}; mend it first.") from error
    tasks = [line for line in source.splitlines() if line.startswith(_TASK)]
    checks = list(_checks(tree))
    if not checks:
        raise UsageError(
            f"the solution in cell {place} checks no exercise, so its blank could not say what is missing; end it with "
            "a check, as in order.check('p')."
        )
    return "\n".join([*(tasks or [f"{_TASK} put your answer in place of the dots"]), *checks])


def _checks(tree: ast.Module) -> Iterator[str]:
    """Yield the checks that stand alone on a line; names in them stay, all else becomes dots."""
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "check":
            given = ", ".join(one.id if isinstance(one, ast.Name) else _DOTS for one in call.args)
            yield f"{ast.unparse(call.func)}({given})"
