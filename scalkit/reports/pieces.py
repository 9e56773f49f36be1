"""What a section of the report is made of: pieces of HTML and figures, shown one after the other."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Drawable", "Html", "Piece", "Plot", "Section"]

_PLOTLY = "application/vnd.plotly.v1+json"


class Drawable(Protocol):
    """What `scalkit.plots` returns, as far as a report needs it."""

    def to_json(self) -> str:
        """Return the figure as JSON for plotly.js."""


@dataclass(frozen=True)
class Html:
    """A piece of markup. An element may be opened in one piece and closed in a later one."""

    text: str

    def bundle(self) -> dict[str, Any]:
        """Return the piece as Jupyter shows it: HTML, and its bare text."""
        bare = html.unescape(re.sub(r"<[^>]*>", " ", self.text))
        return {"text/html": self.text, "text/plain": " ".join(bare.split())}


@dataclass(frozen=True)
class Plot:
    """A figure; its sentence for screen readers travels in ``layout.meta["alt"]``."""

    figure: Drawable

    def bundle(self) -> dict[str, Any]:
        """Return the figure as Jupyter and the report's template show it: JSON for plotly, and the sentence."""
        figure = json.loads(self.figure.to_json())
        alt = str(figure["layout"]["meta"]["alt"])
        return {_PLOTLY: {"data": figure["data"], "layout": figure["layout"]}, "text/plain": alt}


Piece = Html | Plot


@dataclass(frozen=True)
class Section:
    """The pieces that one cell of a report shows, in order."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, *pieces: Piece | str) -> Section:
        """Return a section of pieces; text counts as markup, and empty text is left out."""
        return cls(tuple(Html(piece) if isinstance(piece, str) else piece for piece in pieces if piece))

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def __add__(self, other: Section) -> Section:
        return Section(self.pieces + other.pieces)

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Callable[..., object] = display.display
        for piece in self.pieces:
            show(piece.bundle(), raw=True)
