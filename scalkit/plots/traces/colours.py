"""Colours of the classes of a timeline: calls that people tell apart whatever colours they see, regions of the user pale."""

from __future__ import annotations

from typing import Final

from scalkit.colours import light
from scalkit.trace.views.timeline import Timeline
from scalkit.trace.waits.functions import is_library_call

WAITING: Final = light("trouble")
_CALLS: Final = (*map(light, ("slower", "model", "expected", "approximate", "undecided")), "#F0E442")
_REGIONS: Final = {
    "light": ("#cde0c4", "#dccfe6", "#f0e2bd", "#bfdcdc", "#ebcfc9", "#d6d6bd"),
    "dark": ("#46583e", "#564860", "#5e5431", "#375557", "#5f4640", "#4f4f3c"),
}
_OUTSIDE: Final = {"light": "#e6e9ec", "dark": "#33393f"}
_OTHERS: Final = {"other calls": "#6b7280", "other regions": "#a58f78"}


def colours(timeline: Timeline, theme: str = "light") -> list[str]:
    """Return the colour of each of `Timeline.classes`, as in ``#56B4E9``; the first, of what is not recorded, is empty."""
    left = {True: iter(_CALLS), False: iter(_REGIONS[theme])}
    found = ["", _OUTSIDE[theme]]
    for name in timeline.classes[2:]:
        found.append(_OTHERS.get(name) or next(left[is_library_call(name)]))
    return found
