"""Reads the scripts and styles of the widgets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["source"]

_HERE = Path(__file__).resolve().parents[1]


@cache
def source(*names: str) -> str:
    """Return the named files of `scalkit.widgets` one after the other, as one text for a widget's script or style."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
