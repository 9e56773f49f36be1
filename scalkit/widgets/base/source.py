"""Reads the scripts and styles of the widgets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from scalkit.colours import CSS, SCRIPT

_HERE = Path(__file__).resolve().parents[1]


@cache
def source(*names: str) -> str:
    """Return files of `scalkit.widgets`, one after the other, after the table of colours: a script or a style."""
    table = SCRIPT if names[0].endswith(".js") else CSS
    return table + "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
