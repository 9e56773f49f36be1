"""Sessions inside an HTML page: script elements that hold JSON."""

from __future__ import annotations

import os
from html.parser import HTMLParser

from scalkit.errors import DataError

SCRIPT_ID = "scalkit-session"
"""``id`` of the script element that holds a session; those of further ones begin with it."""


def sessions_in(text: str, path: str | os.PathLike[str]) -> list[str]:
    """Return the JSON of all sessions in a page, in their order.

    `text`: the page.
    `path`: where it comes from, for a message.
    Raises DataError if there is none.
    """
    scripts = _Scripts()
    scripts.feed(text)
    if not scripts.found:
        raise DataError(f"the page '{os.fspath(path)}' holds no session; name a report of scalkit that has one.")
    return ["".join(parts) for parts in scripts.found]


class _Scripts(HTMLParser):
    """Collects the texts of the script elements with sessions."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[list[str]] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice a script element with a session."""
        if tag == "script" and str(dict(attrs).get("id") or "").startswith(SCRIPT_ID):
            self.found.append([])
            self._is_inside = True

    def handle_endtag(self, tag: str) -> None:
        """Notice its end."""
        self._is_inside = self._is_inside and tag != "script"

    def handle_data(self, data: str) -> None:
        """Take what stands inside."""
        if self._is_inside:
            self.found[-1].append(data)
