"""The template as it ran, for people to open: small, without times, and with parameters that work where it lies."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.validation.catalogue import CATALOGUES

if TYPE_CHECKING:
    from nbformat import NotebookNode


MOST_BYTES = 200_000
"""Of the notebook. Beyond it folded tables are left out, then figures, the last ones first."""

_PLOTLY = "application/vnd.plotly.v1+json"
_INJECTED = "injected-parameters"
_FOLDED = re.compile(r"<details[^>]*><summary>[^<]*</summary>(?:(?!<details).)*?</details>", re.DOTALL)


def notebook_text(done: NotebookNode, parameters: Mapping[str, Any]) -> str:
    """Return an executed notebook as text that the same input gives again.

    `done`: as papermill returns it.
    `parameters`: as they are from the folder of the notebook; they take the place of those that papermill injected.
    """
    kept = copy.deepcopy(done)
    for key in ("papermill", "widgets"):
        kept.metadata.pop(key, None)
    for number, cell in enumerate(kept.cells):
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        cell["id"] = f"cell-{number:02d}"
        if _INJECTED in cell.metadata.get("tags", []):
            cell["source"] = "\n".join(["# Parameters", *(f"{key} = {value!r}" for key, value in parameters.items())])
        if cell.cell_type == "code":
            cell["outputs"] = list(_merged(cell.outputs))
    for make_smaller in (_without_folded, _without_figure):
        for output in reversed(list(_shown(kept))):
            if len(_text(kept).encode()) <= MOST_BYTES:
                return _text(kept)
            make_smaller(output)
    return _text(kept)


def parameters_there(parameters: Mapping[str, Any], page: Path) -> dict[str, Any]:
    """Return the parameters of a run as they are from the folder of its page: paths from there, none of temporary files.

    `parameters`: as the notebook ran with them.
    `page`: the report, which stands for measurements that no file holds.
    """
    named = parameters["named"]

    def there(name: str) -> str:
        return os.path.relpath(name, page.parent)

    def runs_of(one: Mapping[str, Any]) -> list[str]:
        return [page.name] if one["in_memory"] else [there(run) for run in one["runs"]]

    shown = {key: value for key, value in parameters.items() if key not in ("named", "outcome")}
    shown["runs"] = [runs_of(one) for one in named["sets"]] if "sets" in named else runs_of(named)
    if isinstance(shown["expectations"], str) and shown["expectations"] not in CATALOGUES:
        shown["expectations"] = there(shown["expectations"])
    if "baseline" in shown:
        shown["baseline"] = there(named["baseline"])
    return shown


def _text(notebook: NotebookNode) -> str:
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"


def _merged(outputs: Sequence[Any]) -> Iterator[Any]:
    """Yield outputs, pieces of markup that follow each other as one: elements may begin in one and end in the next."""
    markup: list[str] = []
    for output in outputs:
        if "text/html" in output.get("data", {}):
            markup.append(output.data["text/html"])
            continue
        yield from _markup(markup)
        markup = []
        yield output
    yield from _markup(markup)


def _markup(pieces: Sequence[str]) -> Iterator[Any]:
    import nbformat

    if pieces:
        make: Any = nbformat.v4.new_output
        yield make("display_data", data={"text/html": "".join(pieces), "text/plain": "markup of a report"})


def _shown(notebook: NotebookNode) -> Iterator[Any]:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from (output for output in cell.outputs if "data" in output)


def _without_figure(output: Any) -> None:
    if _PLOTLY in output.data:
        sentence = output.data["text/plain"]
        output.data = {
            "text/plain": f"A figure, left out to keep the notebook small; run the cell to see it. {sentence}"
        }


def _without_folded(output: Any) -> None:
    if "text/html" in output.data:
        output.data["text/html"] = _FOLDED.sub("", output.data["text/html"])
