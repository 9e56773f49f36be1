"""The quick start as a page: Voila runs the notebook and shows what it shows, without its code."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalkit.reports import bundled

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def voila(tmp_path: Path) -> Iterator[str]:
    """Return the address of a Voila of this test alone, on a copy of the quick start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    notebook = tmp_path / "00_quickstart.ipynb"
    shutil.copy(bundled("notebooks/00_quickstart.ipynb"), notebook)
    own = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))}
    own |= {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"IPYTHONDIR": str(tmp_path / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    words = [sys.executable, "-m", "voila", str(notebook), "--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}"]
    with (tmp_path / "voila.log").open("w") as log:
        server = subprocess.Popen(words, cwd=tmp_path, env=own, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(f"http://127.0.0.1:{port}/voila/static/voila.js", server, tmp_path / "voila.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(60)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"Voila did not start:\n{log.read_text()[-3000:]}")


def test_quick_start_as_a_page(voila: str, chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 1400})
    page.set_default_timeout(120_000)
    outside: list[str] = []
    errors: list[str] = []
    own = (voila, voila.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(voila)
        page.wait_for_selector(".sk-part h3:text('MPI_Win_create')")
        page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length >= 2")
        page.get_by_role("button", name="MPI_Comm_dup", exact=True).click()
        page.wait_for_selector(".sk-part h3:text('MPI_Comm_dup')")
        assert page.get_by_text("import scalkit as sk").count() <= 1  # the code that the app shows, not the cells
        assert page.get_by_text("exit status").count() >= 1
        folder = os.environ.get("SCALKIT_PICTURES")
        if folder:
            page.screenshot(path=Path(folder) / "voila.png")
    finally:
        page.close()
    assert [url for url in outside if "fontawesome" not in url] == []  # Voila's own icons, which nothing here needs
    assert errors == []
