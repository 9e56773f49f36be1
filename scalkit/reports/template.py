"""The templates of `scalkit report`: notebooks ``90_NAME.ipynb`` to ``92`` with one cell of typed, documented parameters."""

import ast
import difflib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bundled import bundled
from scalkit.errors import UsageError
from scalkit.extras import require
from scalkit.schema_errors import load_jsonschema

DEFAULT = "report"


@dataclass(frozen=True)
class TemplateParameter:
    """A parameter of a template.

    `name`, `type`: as declared in the notebook, such as ``runs`` and ``list``.
    `default`: as Python.
    `help`: the remark beside it.
    """

    name: str
    type: str
    default: str
    help: str


@dataclass(frozen=True)
class Template:
    """A notebook that papermill runs to make a report.

    `name`: as for ``scalkit report --template``.
    """

    name: str
    path: Path

    @property
    def purpose(self) -> str:
        """What its reports show, in one line: the heading of its first cell."""
        cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        return "".join(cells[0]["source"]).splitlines()[0].removeprefix("# ").strip()

    @property
    def parameters(self) -> tuple[TemplateParameter, ...]:
        """What stands in the cell tagged ``parameters``, as papermill reads it."""
        require("report")
        load_jsonschema()
        import papermill

        found = papermill.inspect_notebook(str(self.path))
        return tuple(
            TemplateParameter(name, one["inferred_type_name"], one["default"], one["help"]) for name, one in found.items()
        )


def templates() -> tuple[Template, ...]:
    """Return all templates of `scalkit report`, in the order of their file names."""
    found = sorted(bundled("notebooks").glob("9[0-2]_*.ipynb"))
    return tuple(Template(path.stem.partition("_")[2], path) for path in found)


def named_template(name: str) -> Template:
    """Return the template of this name. Raises UsageError if there is none."""
    known = {one.name: one for one in templates()}
    if name in known:
        return known[name]
    if name == "guidelines":
        raise UsageError("a report about guidelines is written by 'scalkit guidelines SOURCE --report FILE'.")
    near = difflib.get_close_matches(str(name), known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"there is no template {name!r:.60} of a report; choose from {', '.join(known)}.{hint}")


_INJECTED = "# Parameters\n"
"""Begin of the cell that papermill puts behind that of the defaults."""


def listed(value: Any) -> list[Any]:
    """Return a list; a text or a path, as ``papermill -p runs PATH`` passes it, is its only member."""
    return [value] if isinstance(value, str | os.PathLike) else list(value)


def require_known_parameters(cells: Sequence[str] | None = None) -> None:
    """Return nothing if what papermill injected into this notebook has names that the cells before it assign.

    `cells`: sources in order of execution; by default those of this IPython, if it is one.
    Raises UsageError, naming the first parameter that is unknown.
    """
    if cells is None:
        cells = list(getattr(sys.modules.get("__main__"), "In", []))
    known: set[str] = set()
    for cell in cells:
        names = _assigned(cell)
        if cell.startswith(_INJECTED):
            for name in names:
                if known and name not in known:
                    near = difflib.get_close_matches(name, known, 1)
                    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(known))}."
                    raise UsageError(f"this notebook has no parameter {name!r}; {hint}")
            return
        known |= set(names)


def _assigned(cell: str) -> list[str]:
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError):  # a magic command
        return []
    targets = [t for one in body for t in (one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)])]
    return [target.id for target in targets if isinstance(target, ast.Name)]
