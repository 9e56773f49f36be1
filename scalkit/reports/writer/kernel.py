"""Executes a notebook with the Python that runs now, apart from the user's Jupyter settings, through papermill."""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit import errors
from scalkit.errors import ReportError
from scalkit.extras import require
from scalkit.schema_errors import load_jsonschema
from scalkit.validation.catalogue import CATALOGUES

if TYPE_CHECKING:
    from nbformat import NotebookNode


_KERNEL = "scalkit"
_LOG = "kernel.log"
_MOST_SHOWN = 200
_START = (
    "import os, runpy; "
    f"os.dup2(os.open({_LOG!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2); "
    "runpy.run_module('ipykernel_launcher', run_name='__main__', alter_sys=True)"
)
"""What the kernel's process runs: its standard error goes to a file of the working folder, not among our messages."""


def execute(
    notebook: Path,
    parameters: Mapping[str, Any],
    folder: Path,
    timeout_s: float = 600.0,
    progress: Callable[[int, int], object] | None = None,
) -> NotebookNode:
    """Return the notebook with its outputs after a run with these parameters.

    `notebook`: with one cell tagged ``parameters``.
    `parameters`: replace the defaults of that cell.
    `folder`: working folder: the kernel's current folder, its specification, its settings and its standard error live
    here.
    `timeout_s` in s: for each cell.
    `progress`: called with the number of cells that ran and of all that will.
    Raises what a cell raised, as the same class with the same text; ReportError if a cell failed
    otherwise, or the kernel did not start or died.
    """
    require("report")
    load_jsonschema()
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    with _private_kernel(folder):
        try:
            done: NotebookNode = papermill.execute_notebook(
                str(notebook),
                None,
                parameters=dict(parameters),
                kernel_name=_KERNEL,
                language="python",
                cwd=str(folder),
                progress_bar=False,
                log_output=False,
                store_widget_state=False,
                execution_timeout=timeout_s,
                on_cell_complete=_counting(notebook, progress),
            )
            return done
        except papermill.PapermillExecutionError as error:
            raise _as_own(notebook, error.ename, error.evalue, error.exec_count) from error
        except CellTimeoutError as error:
            raise ReportError(
                f"a cell of {notebook.name} took more than {timeout_s:g} s; try the notebook in JupyterLab to see which."
            ) from error
        except DeadKernelError as error:
            raise ReportError(
                f"the Python process of the notebook {notebook.name} died{_last_words(folder)}; try the notebook in "
                "JupyterLab to see where."
            ) from error
        except RuntimeError as error:
            raise ReportError(
                f"the Python process of the notebook {notebook.name} did not start: {_one_line(str(error))}"
                f"{_last_words(folder)}; check ipykernel, for example with 'python -m ipykernel --version'."
            ) from error


def _counting(notebook: Path, progress: Callable[[int, int], object] | None) -> Callable[..., object] | None:
    """Return what nbclient calls after each cell that ran; papermill adds one, with the parameters."""
    if progress is None:
        return None
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    total = 1 + sum(one["cell_type"] == "code" and bool("".join(one["source"]).strip()) for one in cells)
    count = iter(range(1, total + 1))
    return lambda cell, cell_index: progress(next(count), total)


def _last_words(folder: Path) -> str:
    """Return the last line that the kernel wrote to its standard error, for a message; empty if there is none."""
    try:
        lines = (folder / _LOG).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    said = [line for line in map(_one_line, lines) if line]
    return f", its last words are: {said[-1]}" if said else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}..."


def _as_own(notebook: Path, name: str, text: str, cell: int) -> Exception:
    """Return the error that a cell raised: of scalkit's own class where it is one, else a ReportError that names it."""
    own = getattr(errors, name, None)
    if isinstance(own, type) and issubclass(own, errors.ScalkitError):
        return own(text)
    return ReportError(
        f"cell {cell} of {notebook.name} failed with {name}: {text}. Open the notebook in JupyterLab with the same "
        "parameters to see the whole trace."
    )


@contextmanager
def _private_kernel(folder: Path) -> Iterator[None]:
    """Make Jupyter find one kernel, this very Python, and keep its files in `folder`, until the context ends."""
    spec = folder / "kernels" / _KERNEL
    spec.mkdir(parents=True, exist_ok=True)
    search = [str(Path(__file__).resolve().parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    launcher = ("-c", _START, "-f", "{connection_file}")
    quiet = ("--HistoryManager.enabled=False", "--IPKernelApp.log_level=40")
    content = {
        "argv": [sys.executable, *launcher, *quiet],
        "display_name": "scalkit",
        "language": "python",
        "env": {"PYTHONPATH": os.pathsep.join(search), "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
    }
    (spec / "kernel.json").write_text(json.dumps(content), encoding="utf-8")
    changed = {
        "JUPYTER_PATH": str(folder),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(folder / "ipython"),
        "TMPDIR": str(folder),
    }
    before = {name: os.environ.get(name) for name in changed}
    directory = tempfile.tempdir
    os.environ.update(changed)
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = directory
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


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
    shown = [one for cell in kept.cells if cell.cell_type == "code" for one in cell.outputs if "data" in one]
    for make_smaller in (_without_folded, _without_figure):
        for output in reversed(shown):
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
    import nbformat

    make: Any = nbformat.v4.new_output
    for is_markup, some in groupby(outputs, key=lambda one: "text/html" in one.get("data", {})):
        if is_markup:
            whole = "".join(one.data["text/html"] for one in some)
            yield make("display_data", data={"text/html": whole, "text/plain": "markup of a report"})
        else:
            yield from some


def _without_figure(output: Any) -> None:
    if _PLOTLY in output.data:
        sentence = output.data["text/plain"]
        output.data = {"text/plain": f"A figure, left out to keep the notebook small; run the cell to see it. {sentence}"}


def _without_folded(output: Any) -> None:
    if "text/html" in output.data:
        output.data["text/html"] = _FOLDED.sub("", output.data["text/html"])
