"""The templates of `scalkit report`: notebooks ``90_NAME.ipynb`` to ``92`` with one cell of typed, documented parameters."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path

from scalkit.bundled import bundled
from scalkit.errors import UsageError
from scalkit.extras import require

DEFAULT = "report"


@dataclass(frozen=True)
class TemplateParameter:
    """A parameter of a template.

    Attributes
    ----------
    name, type : str
        As declared in the notebook, such as ``runs`` and ``list``.
    default : str
        As Python.
    help : str
        The remark beside it.
    """

    name: str
    type: str
    default: str
    help: str


@dataclass(frozen=True)
class Template:
    """A notebook that papermill runs to make a report.

    Attributes
    ----------
    name : str
        As for ``scalkit report --template``.
    path : Path
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
        import papermill

        found = papermill.inspect_notebook(str(self.path))
        return tuple(
            TemplateParameter(name, one["inferred_type_name"], one["default"], one["help"])
            for name, one in found.items()
        )


def templates() -> tuple[Template, ...]:
    """Return all templates of `scalkit report`, in the order of their file names."""
    found = sorted(bundled("notebooks").glob("9[0-2]_*.ipynb"))
    return tuple(Template(path.stem.partition("_")[2], path) for path in found)


def named_template(name: str) -> Template:
    """Return the template of this name.

    Raises UsageError if there is none.
    """
    known = {one.name: one for one in templates()}
    if name in known:
        return known[name]
    if name == "guidelines":
        raise UsageError("a report about guidelines is written by 'scalkit guidelines SOURCE --report FILE'.")
    near = difflib.get_close_matches(str(name), known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"there is no template {name!r:.60} of a report; choose from {', '.join(known)}.{hint}")
