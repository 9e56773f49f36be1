"""Texts that come from elsewhere: which characters a name may have, and how a text goes into a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NAMES = frozenset(
    (
        "campaign label title site machine mpi_impl mpi_version mpi_standard mapping sync rank_reduction "
        "parameter user contributor licence tool tool_version host program op variant datatype x_name definition "
        "status"
    ).split()
)
"""Fields that are shown as names of something, in tables, plots and menus."""

FREE = frozenset(
    {"mpi_library", "notes", "remarks", "why", "flags", "compiler", "os", "kernel", "environment", "switches"}
)
"""Fields that may have several lines."""

_MARKUP = re.compile(r"[<>\"`]|&[#\w]+;|javascript:", re.I)
_FORMULA = re.compile(r"\s*[=+@|%-]")
_LINES = "\n\t\r"


def text_problem(text: str, longest: int, *, is_free: bool) -> tuple[str, str] | None:
    """Return code and words for what is wrong with a text; None if nothing is."""
    if len(text) > longest:
        return "text-long", f"has {len(text)} characters; at most {longest} are allowed"
    if text != unicodedata.normalize("NFC", text):
        return "text-not-nfc", "is not in Unicode's normal form C"
    for character in text:
        kind = unicodedata.category(character)
        if kind in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and not (is_free and character in _LINES):
            return "text-control", f"has the control character U+{ord(character):04X}"
    return None


def name_problem(text: str) -> tuple[str, str] | None:
    """Return code and words for what no name may have: markup, or a beginning that spreadsheets take for a formula."""
    if _MARKUP.search(text):
        return "markup-in-name", "has markup in it"
    if _FORMULA.match(text):
        return "formula-in-name", "begins like a formula of a spreadsheet"
    return None


def retraction_problem(entries: Iterable[Mapping[str, str]], longest: int) -> tuple[str, str] | None:
    """Return code and sentence of the first text of a retraction that may not be; None if all may."""
    for key, text in ((key, text) for one in entries for key, text in one.items()):
        is_free = key == "reason"
        found = text_problem(text, longest, is_free=is_free) or (None if is_free else name_problem(text))
        if found is not None:
            return found[0], f"{key} {text.encode('unicode_escape').decode()[:40]!r} {found[1]}."
    return None


def texts_in(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a record, keys of objects included, each with the field that it belongs to."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield field, str(key)
            yield from texts_in(inner, field if field in FREE else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner, field)


def csv_cell(value: object) -> str:
    """Return a value as a cell of CSV that no spreadsheet takes for a formula."""
    text = str(value)
    if isinstance(value, str) and _FORMULA.match(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\n\r]', text) else text
