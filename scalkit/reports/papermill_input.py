"""Parameters as papermill passes them on: a text for a list, and names that no template has."""

from __future__ import annotations

import ast
import difflib
import os
import sys
from collections.abc import Sequence
from typing import Any

from scalkit.errors import UsageError

__all__ = ["listed", "require_known_parameters"]

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
    targets = [
        t for one in body for t in (one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)])
    ]
    return [target.id for target in targets if isinstance(target, ast.Name)]
