"""Make the students' edition of notebooks: blanks in place of solutions, no remarks for teachers, no outputs.

A code cell tagged ``solution`` keeps its comments that begin with ``# Task:`` and the checks of exercises, in which the
answers become dots; the rest of it goes. A text cell tagged ``solution`` becomes an invitation to write, a cell tagged
``teacher`` goes. The package ``exercises`` is copied with the notebooks that import it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat

from scalkit.errors import UsageError

HERE = Path(__file__).resolve().parent

SOLUTION, TEACHER, BLANK = "solution", "teacher", "blank"
"""Tags: what is taken out, what only teachers see, and what stands in place of a solution."""

_TASK = "# Task:"
_DOTS = '"..."'
_INVITATION = "*Your notes:*"


def strip(notebook: Any) -> Any:
    """Return the students' edition of a notebook, which stays as it is.

    `notebook`: of the teacher's edition.
    Raises UsageError if a solution cannot become a blank: it checks no exercise, or is no Python.
    """
    made = copy.deepcopy(notebook)
    made.cells = [_stripped(cell, place) for place, cell in enumerate(made.cells, 1) if TEACHER not in _tags(cell)]
    made.metadata.pop("widgets", None)
    return made


def strip_folder(source: Path, target: Path) -> list[Path]:
    """Write the students' edition of all notebooks of a folder, and return their paths.

    Parameters
    ----------
    source : Path
        Folder of the teacher's edition.
    target : Path
        Folder that does not exist yet.

    Raises
    ------
    UsageError
        If there is no notebook, the target exists, or a solution cannot become a blank. Nothing is written then.
    """
    notebooks = sorted(source.glob("*.ipynb"))
    if not notebooks:
        raise UsageError(f"the folder '{source}' holds no notebook; name the teacher's edition.")
    if target.exists():
        raise UsageError(f"'{target}' is already there; remove it, or choose another place.")
    texts = {target / path.name: _students_edition(path) for path in notebooks}
    target.mkdir(parents=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    shutil.copytree(HERE / "exercises", target / "exercises", ignore=shutil.ignore_patterns("__pycache__"))
    return list(texts)


def _students_edition(path: Path) -> str:
    try:
        notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
        return f"{nbformat.writes(strip(notebook))}\n"  # type: ignore[no-untyped-call]
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UsageError(f"'{path}' is no notebook: {reason}; name a folder of notebooks.") from error


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


def main(words: Sequence[str] | None = None) -> int:
    """Write the students' edition of a folder, and return 0, or 2 if that is impossible."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", type=Path, default=HERE, help="folder of the teacher's edition (default: this one)")
    parser.add_argument("target", type=Path, help="new folder for the students' edition")
    args = parser.parse_args(words)
    try:
        written = strip_folder(args.source, args.target)
    except (UsageError, OSError) as error:
        print(f"strip.py: {error}", file=sys.stderr)
        return 2
    for path in written:
        print(f"students' edition: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
