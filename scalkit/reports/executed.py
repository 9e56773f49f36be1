"""The template as it ran, for people to open: no times, no names of this machine's folders for temporary files."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["notebook_text"]

_OF_A_RUN = ("papermill", "widgets")
_OF_A_CELL = ("papermill", "execution")
_INJECTED = "injected-parameters"


def notebook_text(done: NotebookNode) -> str:
    """Return an executed notebook as text that the same input gives again.

    Parameters
    ----------
    done : NotebookNode
        As papermill returns it. Its cell of injected parameters, whose paths are gone, and times are left out.
    """
    kept = copy.deepcopy(done)
    for key in _OF_A_RUN:
        kept.metadata.pop(key, None)
    kept.cells = [cell for cell in kept.cells if _INJECTED not in cell.metadata.get("tags", [])]
    for number, cell in enumerate(kept.cells):
        for key in _OF_A_CELL:
            cell.metadata.pop(key, None)
        cell["id"] = f"cell-{number:02d}"
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"
