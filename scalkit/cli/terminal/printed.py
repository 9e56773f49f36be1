"""Text of the terminal: JSON, tables, and names from files, which may hold what moves the cursor."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from scalkit.text import plain


def printed(text: str, style: str = "") -> Text:
    """Return a text for rich, without markup and with control characters in words."""
    return Text(plain(text), style=style)


def print_json(value: Any) -> None:
    """Print a value as JSON, for programs."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def say(text: str, *, as_json: bool = False) -> None:
    """Print a line at once; to standard error where the output is JSON."""
    (sys.stderr if as_json else sys.stdout).write(text + "\n")
    sys.stdout.flush()


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
