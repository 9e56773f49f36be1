"""Executes a notebook with the Python that runs now, apart from the user's Jupyter settings, through papermill."""

from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit import errors
from scalkit.errors import ReportError
from scalkit.support.extras import require
from scalkit.support.schema_errors import load_jsonschema
from scalkit.support.text import shortened

if TYPE_CHECKING:
    from nbformat import NotebookNode


_KERNEL = "scalkit"
_LOG = "kernel.log"
_MOST_SHOWN = 200
_START = (
    "import os; "
    "os.dup2(os.open(os.environ['SCALKIT_KERNEL_LOG'], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2); "
    "from ipykernel.kernelapp import launch_new_instance; "
    "os.stat(os.environ['SCALKIT_KERNEL_LOG']); "
    "launch_new_instance()"
)
"""What the kernel's process runs. Its standard error goes to a file of the working folder, not among our messages. Where that
folder is gone, because the report was given up meanwhile, it ends before it makes files there again."""


def execute(
    notebook: Path, parameters: Mapping[str, Any], folder: Path, cwd: Path | None = None, timeout_s: float = 600.0
) -> NotebookNode:
    """Return the notebook with its outputs after a run with these parameters.

    `notebook`: with one cell tagged ``parameters``.
    `parameters`: replace the defaults of that cell.
    `folder`: for the kernel's specification, its settings and its standard error.
    `cwd`: the kernel's current folder, by default `folder`. It is not searched for modules.
    `timeout_s` in s: for each cell.
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
                cwd=str(cwd or folder),
                progress_bar=False,
                log_output=False,
                store_widget_state=False,
                execution_timeout=timeout_s,
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


def _last_words(folder: Path) -> str:
    """Return the last line that the kernel wrote to its standard error, for a message; empty if there is none."""
    try:
        lines = (folder / _LOG).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    said = [line for line in map(_one_line, lines) if line]
    return f", its last words are: {said[-1]}" if said else ""


def _one_line(text: str) -> str:
    return shortened(" ".join(text.split()).rstrip("."), _MOST_SHOWN)


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
    search = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    launcher = ("-P", "-c", _START, "-f", "{connection_file}")
    quiet = ("--HistoryManager.enabled=False", "--IPKernelApp.log_level=40", "--IPKernelApp.ignore_cwd=True")
    content = {
        "argv": [sys.executable, *launcher, *quiet],
        "display_name": "scalkit",
        "language": "python",
        "env": {
            "PYTHONPATH": os.pathsep.join(search),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "SCALKIT_KERNEL_LOG": str(folder / _LOG),
        },
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


_INJECTED = "injected-parameters"


def notebook_text(done: NotebookNode, parameters: Mapping[str, Any]) -> str:
    """Return an executed notebook as text that the same input gives again.

    `done`: as papermill returns it.
    `parameters`: in place of those that papermill injected.
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
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"
