"""Tabs of Chromium that stay open from one test to the next, and what axe-core finds on a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S

AXE = Path(__file__).resolve().parent / "vendor" / "axe.min.js"
_FIND = """async (options) => {
  const found = await axe.run(document, { resultTypes: ["violations"], ...options });
  return {
    passed: found.passes.map((rule) => rule.id),
    violations: found.violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 160), nodes[0].failureSummary]),
  };
}"""


class Browser:
    """Chromium, which starts again if it has crashed, so that a test can run once more."""

    def __init__(self, launch: Callable[[], Any]) -> None:
        self._launch = launch
        self._running = launch()

    def new_page(self, **options: Any) -> Any:
        """Return a new page, as `Browser.new_page` of Playwright does."""
        return self._connected().new_page(**options)

    def new_context(self, **options: Any) -> Any:
        """Return a new context, as `Browser.new_context` of Playwright does."""
        return self._connected().new_context(**options)

    def close(self) -> None:
        """End the browser."""
        self._running.close()

    def _connected(self) -> Any:
        if not self._running.is_connected():
            self._running = self._launch()
        return self._running


class Tabs:
    """Pages that are used again: a new one costs a process of Chromium, an old one only what it shows.

    Each is given out blank, in a window of its own: nothing is left of what was shown or listened to before.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: list[Any] = []
        self._taken: list[tuple[Any, dict[str, Callable[..., Any]]]] = []

    def take(self, listeners: dict[str, Callable[..., Any]], width: int, height: int, scheme: str = "light") -> Any:
        """Return a blank page that calls `listeners`, each with what happened to it, until all tabs are given back."""
        self._idle = [page for page in self._idle if not page.is_closed()]
        page = self._idle.pop() if self._idle else self._browser.new_page()
        self._taken.append((page, listeners))
        for event, listener in listeners.items():
            page.on(event, listener)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.set_default_timeout(1000 * PATIENCE_S)
        return page

    def give_back(self) -> None:
        """Empty all tabs that were taken."""
        while self._taken:
            page, listeners = self._taken.pop()
            if page.is_closed():  # as all are after a crash
                continue
            for event, listener in listeners.items():
                page.remove_listener(event, listener)
            page.mouse.move(0, 0)
            page.goto("about:blank")
            self._idle.append(page)


def violations(page: Any, *must_pass: str, **options: Any) -> list[Any]:
    """Return what axe-core finds on a page: rule, element and what is wrong; `must_pass` are rules that it must have held."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(_FIND, {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"], **options})
    assert set(must_pass) <= set(found["passed"])
    return list(found["violations"])
