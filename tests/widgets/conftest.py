"""Widgets in two halves: Python with a comm that only notes, and the script in a bare page with a model that only holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm
from lab_server import LabServer
from tabs import Tabs, violations
from waiting import PATIENCE_S
from widget_page import DARK, HARNESS, LIGHT, state_of


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the messages (kind, widget, data) that widgets send from now on."""
    log: list[tuple[str, str, dict[str, Any]]] = []

    class NotingComm(BaseComm):
        def publish_msg(self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any) -> None:
            log.append((msg_type, self.comm_id, data))

    monkeypatch.setattr(comm, "create_comm", lambda **options: NotingComm(**options))
    return log


@pytest.fixture
def show(tabs: Tabs) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a widget's script and style in a bare page, with the state the widget has."""
    errors: list[str] = []
    listeners = {
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda said: errors.append(said.text) if said.type == "error" else None,
        "request": lambda asked: errors.append(asked.url) if asked.url.startswith("http") else None,
    }

    def go(widget: Any, width: int = 1000, theme: str = "light", scheme: str = "light", **changes: Any) -> Any:
        page = tabs.take(listeners, width, 700, scheme)
        page.set_content(
            HARNESS
            % {
                "page": DARK if theme == "dark" else LIGHT,
                "css": widget._css,
                "body": f'data-jp-theme-light="{str(theme == "light").lower()}"' if theme != "none" else "",
                "state": json.dumps(state_of(widget) | changes),
                "esm": json.dumps(widget._esm).replace("</", "<\\/"),
            }
        )
        page.wait_for_function("() => window.isReady")
        return page

    yield go
    assert errors == []


@pytest.fixture
def axe() -> Callable[[Any], list[Any]]:
    """Return a function that lists what axe-core finds on a page."""
    return lambda page: violations(page, "target-size", "color-contrast", rules={"target-size": {"enabled": True}})


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Return a JupyterLab server of this run alone."""
    pytest.importorskip("jupyterlab")
    server = LabServer(tmp_path_factory.mktemp("lab"))
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def lab_visitor(chromium: Any) -> Iterator[Any]:
    """Return one visitor of JupyterLab: what its pages load, they load once."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    yield context
    context.close()


@pytest.fixture
def lab_page(lab_visitor: Any, lab: LabServer) -> Iterator[Any]:
    """Return a page whose `outside` and `errors` list foreign requests and messages of the console."""
    page = lab_visitor.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    page.outside, page.errors = [], []
    own = (lab.url, lab.url.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else page.outside.append(asked.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: page.errors.append(said.text[:500]) if said.type == "error" else None)
    yield page
    page.close()
