"""The app and the explorer of a store as pages: Voila runs a notebook and shows what it shows, without its code."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lab_server import end_server, free_port, settle
from waiting import PATIENCE_S, wait_until

from scalkit.reports import bundled

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LISTENS = re.compile(r"is running at:\s+http://[^/]*:(\d+)/")
"""Voila says where it listens: at another port than it was told, if somebody else was faster."""


@contextlib.contextmanager
def served(folder: Path, words: Sequence[object], **environment: str) -> Iterator[str]:
    """Provide the address of a Voila of this test alone: `words` start it, without browser and port."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_", "SCALKIT_STORE"))}
    own |= {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1", **environment}
    port, said = free_port(), folder / "voila.log"
    command = [sys.executable, "-m", *map(str, words), "--no-browser", f"--port={port}"]
    with said.open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=own, stdout=log, stderr=subprocess.STDOUT)
        try:
            try:
                wait_until(lambda: LISTENS.search(said.read_text()), "Voila", server)
            except (RuntimeError, TimeoutError) as error:
                raise RuntimeError(f"{error}:\n{said.read_text()[-3000:]}") from error
            text = said.read_text()
            told = re.search(rf"http://127.0.0.1:{port}/(\?token=\S+)(?=;)", text)
            listens = LISTENS.search(text)
            assert told
            assert listens
            yield f"http://127.0.0.1:{listens[1]}/{told[1]}"
        finally:
            end_server(server)


def test_the_app_as_a_page(tmp_path: Path, chromium: Any) -> None:
    """``scalkit explore``: the answer, its culprit selected, and nothing asked of another server."""
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    page.set_default_timeout(1000 * PATIENCE_S)
    outside: list[str] = []
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        with served(tmp_path, ["scalkit", "explore", bundled("data/regression")]) as address:
            home = address.partition("/?")[0]
            with urllib.request.urlopen(home, timeout=PATIENCE_S) as answer:
                assert "/login" in answer.url, "nobody else on the machine gets at the kernel"
            own = (home, home.replace("http", "ws"), "data:", "blob:")
            page.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
            page.goto(address)
            page.wait_for_selector(".sk-part h3:text('MPI_Comm_dup')")
            assert "1 problem: MPI_Comm_dup" in page.locator(".headline").inner_text()
            page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length >= 2")
            settle(page)
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
