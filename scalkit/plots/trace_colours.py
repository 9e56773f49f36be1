"""Colours of the classes of a timeline, which people tell apart whatever colours they see; waiting has one of its own."""

from __future__ import annotations

from typing import Final

from scalkit.trace.timeline import Timeline

__all__ = ["WAITING", "colours"]

WAITING: Final = "#D55E00"
_APART: Final = ("#56B4E9", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#F0E442")
_OUTSIDE: Final = {"light": "#d9dee3", "dark": "#3b434b"}
_OTHERS: Final = {"other calls": "#6b7280", "other regions": "#a58f78"}


def colours(timeline: Timeline, theme: str = "light") -> list[str]:
    """Return the colour of each of `Timeline.classes`, as in ``#56B4E9``; the first, of what is not recorded, is empty."""
    found = ["", _OUTSIDE[theme]]
    for k, name in enumerate(timeline.classes[2:]):
        found.append(_OTHERS.get(name) or _APART[k % len(_APART)])
    return found
