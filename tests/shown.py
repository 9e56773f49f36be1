"""What a section of a report shows: its markup, its words and its figures."""

from __future__ import annotations

import html
import re

from scalkit.reports.content import Content
from scalkit.reports.pieces import Html, Piece, Plot


def pieces(page: Content, make: str) -> tuple[Piece, ...]:
    """Return the pieces of a section, named as in ``kinds.toml``, or of the ``top``; none if there is no such section."""
    if make == "top":
        return page.top
    section = page.section(make)
    return () if section is None else section.pieces


def markup(page: Content, make: str) -> str:
    return "".join(piece.text for piece in pieces(page, make) if isinstance(piece, Html))


def words(page: Content, make: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup(page, make))).split())


def figures(page: Content, make: str) -> list[Plot]:
    return [piece for piece in pieces(page, make) if isinstance(piece, Plot)]
