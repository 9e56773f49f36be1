"""`scalkit lab`: its first notebook has run when it is seen, with its code folded; one that has outputs is left alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer
from waiting import PATIENCE_S

from scalkit.cli.lab import command, copy_notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OPENED = "() => window.jupyterapp?.shell.currentWidget?.context?.path?.endsWith('00_quickstart.ipynb')"
DECIDED = """async () => {
  // The extension looks for the notebook every 100 ms. Timers come in their order, so that it has
  // seen the notebook before these end.
  for (let k = 0; k < 2; k++) await new Promise((done) => setTimeout(done, 200));
  const { context } = window.jupyterapp.shell.currentWidget;
  await Promise.all([context.ready, context.sessionContext.ready]);
  await new Promise((done) => setTimeout(done));
}"""


@pytest.fixture
def first(tmp_path: Path) -> Iterator[LabServer]:
    pytest.importorskip("jupyterlab")
    words = command(tmp_path, browser=False, port=None, runs_first=True)
    server = LabServer(tmp_path, *(word for word in words if "extra_labextensions" in word or "LabApp.news" in word))
    try:
        server.wait()
        copy_notebooks(server.root)
        yield server
    finally:
        server.stop()


def test_the_first_notebook_has_run(first: LabServer, chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(1000 * PATIENCE_S)
    outside: list[str] = []
    own = (first.url, first.url.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
    try:
        page.goto(f"{first.url}/lab/tree/00_quickstart.ipynb?token={first.token}")
        page.wait_for_selector(".sk-part .headline")
        assert page.locator(".jp-CodeCell").nth(1).locator(".jp-Editor, .cm-editor").locator("visible=true").count() == 0
        assert re.search(r"problem|fine", page.locator(".sk-part .headline").inner_text())
        assert page.locator(".jp-Notebook h2:text('The app')").is_visible()
        page.close()

        path = first.root / "00_quickstart.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        told = {"name": "stdout", "output_type": "stream", "text": ["mine"]}
        next(one for one in notebook["cells"] if one["cell_type"] == "code")["outputs"] = [told]
        path.write_text(json.dumps(notebook), encoding="utf-8")
        page = chromium.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        page.goto(f"{first.url}/lab/tree/00_quickstart.ipynb?token={first.token}")
        page.wait_for_selector(".jp-OutputArea-output:has-text('mine')")
        page.wait_for_function(OPENED)
        page.evaluate(DECIDED)
        assert page.locator(".jp-OutputArea-output:has-text('mine')").count() == 1, "a run would have emptied it at once"
        assert page.locator(".jp-InputPrompt", has_text="*").count() == 0
        assert page.locator(".sk-part").count() == 0
    finally:
        page.close()
    assert outside == []
