"""Text of the terminal: names come from files, and may hold what moves the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalkit.text import plain

if TYPE_CHECKING:
    from rich.text import Text


def printed(text: str, style: str = "") -> Text:
    """Return a text for rich, without markup and with control characters in words."""
    from rich.text import Text

    return Text(plain(text), style=style)
