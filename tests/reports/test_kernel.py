"""Running a notebook: with this Python, without a trace in the user's home, errors kept as they are."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

from scalkit.errors import DataError, ReportError
from scalkit.reports.kernel import execute


def _notebook(folder: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell('word: str = "default"  # a word', metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(source) for source in sources]
    path = folder / "small.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    return path


def test_same_python_own_folder_and_typed_parameters(tmp_path: Path) -> None:
    notebook = _notebook(
        tmp_path, "import sys, os; print(sys.executable, os.getcwd(), word, os.environ['IPYTHONDIR'], sep='\\n')"
    )
    before = dict(os.environ)
    done = execute(notebook, {"word": "<b>'\"{x}"}, tmp_path)
    text = done.cells[-1].outputs[0].text.splitlines()
    assert text == [sys.executable, str(tmp_path), "<b>'\"{x}", str(tmp_path / "ipython")]
    assert dict(os.environ) == before


def test_error_of_ours_comes_back_as_itself(tmp_path: Path) -> None:
    notebook = _notebook(tmp_path, "from scalkit.errors import DataError\nraise DataError('needs 5 values, got 3.')")
    with pytest.raises(DataError, match=r"^needs 5 values, got 3\.$"):
        execute(notebook, {}, tmp_path)


def test_other_error_names_cell_and_cause(tmp_path: Path) -> None:
    notebook = _notebook(tmp_path, "1 / 0")
    message = (
        "cell 3 of small.ipynb failed with ZeroDivisionError: division by zero. Open the notebook in JupyterLab with "
        "the same parameters to see the whole trace."
    )
    with pytest.raises(ReportError, match=f"^{re.escape(message)}$"):
        execute(notebook, {"word": "x"}, tmp_path)


def test_dead_kernel_is_an_error(tmp_path: Path) -> None:
    notebook = _notebook(tmp_path, "import os; os.write(2, b'out of luck\\n'); os._exit(3)")
    message = (
        "the Python process of the notebook small.ipynb died, its last words are: out of luck; try the notebook in "
        "JupyterLab to see where."
    )
    with pytest.raises(ReportError, match=f"^{re.escape(message)}$"):
        execute(notebook, {}, tmp_path)


def test_kernel_that_does_not_start_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(execute.__globals__, "_START", "raise SystemExit('no luck')")
    start = "the Python process of the notebook small.ipynb did not start: "
    with pytest.raises(ReportError, match=f"^{start}.*; check ipykernel, for example with 'python -m ipykernel --version'"):
        execute(_notebook(tmp_path, "1"), {}, tmp_path)


def test_cell_that_takes_too_long_is_an_error(tmp_path: Path) -> None:
    message = "a cell of small.ipynb took more than 1 s; try the notebook in JupyterLab to see which."
    with pytest.raises(ReportError, match=f"^{re.escape(message)}$"):
        execute(_notebook(tmp_path, "import time; time.sleep(6000)"), {}, tmp_path, timeout_s=1)


def test_noise_of_the_kernel_stays_in_the_working_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    notebook = _notebook(tmp_path, "import os; os.write(2, b'noise')", "raise KeyboardInterrupt")
    with pytest.raises(ReportError, match="KeyboardInterrupt"):
        execute(notebook, {}, tmp_path)
    assert capfd.readouterr().err == ""
    assert "noise" in (tmp_path / "kernel.log").read_text()
