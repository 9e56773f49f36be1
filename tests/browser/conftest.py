"""A page of Chromium that notes every request, error and dialog; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Visit:
    """An open page and what happened on it."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("html[data-figures]", state="attached", timeout=120_000)


@pytest.fixture
def visit(chromium: Any) -> Iterator[Any]:
    """Return a function that opens a file at a width and a colour scheme."""
    contexts = []

    def go(path: Path, width: int = 1280, scheme: str = "light") -> Visit:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        seen = Visit(page)
        page.on("request", lambda r: seen.requests.append(r.url))
        page.on("pageerror", lambda e: seen.errors.append(str(e)))
        page.on("console", lambda m: seen.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("dialog", lambda d: (seen.dialogs.append(d.message), d.dismiss()))
        seen.open(path)
        return seen

    yield go
    for context in contexts:
        context.close()
