"""A page of Chromium that notes every request, error and dialog; nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs


@dataclass
class Visit:
    """An open page and what happened on it."""

    page: Any = None
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("html[data-figures]", state="attached")


@pytest.fixture
def visit(tabs: Tabs) -> Any:
    """Return a function that opens a file at a width and a colour scheme."""

    def go(path: Path, width: int = 1280, scheme: str = "light") -> Visit:
        seen = Visit()
        listeners = {
            "request": lambda r: seen.requests.append(r.url),
            "pageerror": lambda e: seen.errors.append(str(e)),
            "console": lambda m: seen.errors.append(m.text) if m.type in ("error", "warning") else None,
            "dialog": lambda d: (seen.dialogs.append(d.message), d.dismiss()),
        }
        seen.page = tabs.take(listeners, width, 900, scheme)
        seen.open(path)
        return seen

    return go
