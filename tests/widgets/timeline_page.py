"""Answers what a page of a timeline asks for, as a kernel would."""

from __future__ import annotations

import base64
from typing import Any

from widget_page import at_rest

from scalkit.widgets import TimelineView

DELIVER = """([content, buffers]) => deliver(content, buffers.map((text) =>
  new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer)))"""


def asked(widget: TimelineView, content: Any) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Return what a widget sends when it is asked something."""
    sent: list[tuple[dict[str, Any], list[bytes]]] = []
    widget.send = lambda content, buffers=None: sent.append((content, list(buffers or [])))  # type: ignore[method-assign]
    widget._asked(widget, content, [])
    del widget.send
    return sent


def answer_all(page: Any, widget: TimelineView) -> list[dict[str, Any]]:
    """Answer until the page is content; return what it asked."""
    asked_for = []
    for _ in range(50):
        at_rest(page)
        waiting = page.evaluate("() => sent.splice(0)")
        if not waiting:
            return asked_for
        for content in waiting:
            asked_for.append(content)
            for told, buffers in asked(widget, content):
                page.evaluate(DELIVER, [told, [base64.b64encode(one).decode() for one in buffers]])
    raise AssertionError("the page asks without end")
