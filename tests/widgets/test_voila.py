"""The app and the explorer of a store as pages: Voila runs a notebook and shows what it shows, without its code."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import scalkit as sk
from scalkit.reports import bundled

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextlib.contextmanager
def served(folder: Path, words: Sequence[object], **environment: str) -> Iterator[str]:
    """Provide the address of a Voila of this test alone: `words` start it, without browser and port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_", "SCALKIT_STORE"))}
    own |= {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1", **environment}
    command = [sys.executable, "-m", *map(str, words), "--no-browser", f"--port={port}"]
    with (folder / "voila.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=own, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(f"http://127.0.0.1:{port}/voila/static/voila.js", server, folder / "voila.log")
            said = re.search(rf"http://127.0.0.1:{port}/\?token=\S+(?=;)", (folder / "voila.log").read_text())
            assert said
            yield said[0]
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


def test_the_app_as_a_page(tmp_path: Path, chromium: Any) -> None:
    """``scalkit explore``: the answer, its culprit selected, and nothing asked of another server."""
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    page.set_default_timeout(120_000)
    outside: list[str] = []
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        with served(tmp_path, ["scalkit.cli", "explore", bundled("data/regression")]) as address:
            home = address.partition("/?")[0]
            with urllib.request.urlopen(home, timeout=30) as answer:
                assert "/login" in answer.url, "nobody else on the machine gets at the kernel"
            own = (home, home.replace("http", "ws"), "data:", "blob:")
            page.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
            page.goto(address)
            page.wait_for_selector(".sk-part h3:text('MPI_Comm_dup')")
            assert "1 problem: MPI_Comm_dup" in page.locator(".headline").inner_text()
            page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length >= 2")
            below = page.locator(".sk-ruler .tick").first.bounding_box()
            assert below["y"] < 800, "verdict, picture and ruler are seen at once"
            assert page.locator(".sk-plot:visible").count() == 1
            page.get_by_role("button", name="Divergence", exact=True).click()
            page.wait_for_selector(".sk-second .sk-plot:last-child:visible")
            page.set_viewport_size({"width": 1400, "height": 800})
            page.wait_for_function("() => document.querySelector('.sk-which').clientWidth === 0")
            assert page.locator(".sk-plot:visible").count() == 2
            page.get_by_role("button", name="MPI_Win_create", exact=True).click()
            page.wait_for_selector(".sk-part h3:text('MPI_Win_create')")
            assert page.get_by_text("import Explorer").count() == 0
            folder = os.environ.get("SCALKIT_PICTURES")
            if folder:
                page.screenshot(path=Path(folder) / "voila.png")
    finally:
        page.close()
    assert outside == []
    assert errors == []


def test_a_zipped_store_as_a_page(tmp_path: Path, chromium: Any) -> None:
    """``scalkit store explore``: three panes, a plot of two suites, downloads of it and of the report of a run."""
    store = sk.store.open(tmp_path / "results")
    for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 1.5)):
        for run in range(3):
            y = [[slower * (1 + run / 100) * k * 1e-6] * 3 for k in (1, 2, 4)]
            store.put(sk.measurements([2, 4, 8], y, name=op), machine="vm")
    archive = shutil.make_archive(str(tmp_path / "results"), "zip", store.path)
    before = Path(archive).read_bytes()
    page = chromium.new_page(viewport={"width": 1280, "height": 1400})
    page.set_default_timeout(120_000)
    outside: list[str] = []
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        with served(tmp_path, ["scalkit.cli", "store", "explore", archive]) as address:
            home = address.partition("/?")[0]
            own = (home, home.replace("http", "ws"), "data:", "blob:")
            page.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
            page.goto(address)
            page.wait_for_selector(".sk-plot[data-drawn]")
            assert page.get_by_text("6 runs, 6 chosen").count() == 1
            suites = page.locator("table[role=grid][aria-label='Suites']")
            suites.locator("button[role=checkbox]", has_text="Gather_send_recv").click()
            page.wait_for_function("() => document.querySelectorAll('.sk-plot .legend .traces').length === 2")
            page.get_by_text("Gather_send_recv takes 1.5 times as much as MPI_Gather").wait_for()
            with page.expect_download() as saved:
                page.locator("button[data-key=csv]").click()
            assert Path(saved.value.path()).read_text().startswith("label,op,platform,")
            with page.expect_download() as saved:
                page.locator("button[data-key=report]").click()
            assert saved.value.suggested_filename.startswith("run-")
            assert "Result data base: one run" in Path(saved.value.path()).read_text(encoding="utf-8")
            assert page.get_by_text("import StoreExplorer").count() == 0
            folder = os.environ.get("SCALKIT_PICTURES")
            if folder:
                page.screenshot(path=Path(folder) / "voila_store.png")
    finally:
        page.close()
    assert Path(archive).read_bytes() == before
    assert outside == []
    assert errors == []
