"""What a section of the report is made of: pieces of HTML and figures, shown one after the other."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from scalkit.reports.writer.content import Content


_PLOTLY = "application/vnd.plotly.v1+json"
_MOST_PLAIN = 100
_FEWEST_PACKED = 8
_AXES = ("x", "y")


class Drawable(Protocol):
    """What `scalkit.plots` returns, as far as a report needs it."""

    def to_json(self) -> str:
        """Return the figure as JSON for plotly.js."""


@dataclass(frozen=True)
class Html:
    """A piece of markup. An element may be opened in one piece and closed in a later one."""

    text: str

    def bundle(self) -> dict[str, Any]:
        """Return the piece as Jupyter shows it: HTML, and the beginning of its bare text."""
        bare = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.text)).split())
        short = bare if len(bare) <= _MOST_PLAIN else f"{bare[: _MOST_PLAIN - 1]}…"
        return {"text/html": self.text, "text/plain": short}


@dataclass(frozen=True)
class Plot:
    """A figure; its sentence for screen readers travels in ``layout.meta["alt"]``."""

    figure: Drawable

    def bundle(self) -> dict[str, Any]:
        """Return the figure as Jupyter and the report's template show it: JSON for plotly, and the sentence."""
        figure = json.loads(self.figure.to_json())
        alt = str(figure["layout"]["meta"]["alt"])
        layout = {key: value for key, value in figure["layout"].items() if key != "template"}
        return {_PLOTLY: {"data": [_packed(trace) for trace in figure["data"]], "layout": layout}, "text/plain": alt}


def figure(drawn: Drawable, caption: str = "", heading: str = "") -> tuple[Piece, ...]:
    """Return a figure between markup: a heading above it and a sentence below it, both plain text."""
    above = Markup("<h4>{}</h4>").format(heading) if heading else ""
    below = Markup('<p class="figcaption">{}</p>').format(caption) if caption else ""
    return Html(f'<div class="figure">{above}'), Plot(drawn), Html(f"{below}</div>")


def _packed(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trace whose long lists of numbers are packed as plotly reads them: less than half of the letters."""
    return {key: _as_bytes(value) if key in _AXES else value for key, value in trace.items()}


def _as_bytes(values: Any) -> Any:
    if not isinstance(values, list) or len(values) < _FEWEST_PACKED:
        return values
    if not all(value is None or isinstance(value, int | float) for value in values):
        return values
    numbers = np.array([np.nan if value is None else value for value in values], dtype="<f4")
    return {"dtype": "f4", "bdata": base64.b64encode(numbers.tobytes()).decode("ascii")}


Piece = Html | Plot
Tile = tuple[str, str, object, str]


@dataclass(frozen=True)
class Section:
    """The pieces that one cell of a report shows, in order."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, *pieces: Piece | str) -> Section:
        """Return a section of pieces; text counts as markup, and empty text is left out."""
        return cls(tuple(Html(piece) if isinstance(piece, str) else piece for piece in pieces if piece))

    @classmethod
    def rendered(cls, template: str, **values: Any) -> Section:
        """Return what a template of the sections makes of values; a figure stands where it calls ``plot(figure)``."""
        from scalkit.reports.markup import templates

        figures: list[Piece] = []

        def plot(figure: Drawable) -> Markup:
            figures.append(Plot(figure))
            return Markup(f"\0{len(figures) - 1}\0")

        text = templates().get_template(template).render(plot=plot, **values)
        parts = text.split("\0")  # no value holds this letter: `environment` leaves it out
        return cls.of(*(figures[int(part)] if k % 2 else part.strip() for k, part in enumerate(parts)))

    @classmethod
    def sheet(cls, *pieces: Piece | str) -> Section:
        """Return pieces on one sheet of paper."""
        return cls.of('<div class="sheet">', *pieces, "</div>")

    @classmethod
    def top(
        cls,
        kicker: str,
        page: Content,
        facts: Iterable[tuple[str, object]],
        tiles: Iterable[Tile] = (),
        answer: str = "",
        details: str = "",
    ) -> Section:
        """Return the top of a page.

        `kicker`: what kind of report it is.
        `facts`: what was measured where; an empty value is left out.
        `tiles`: numbers to see first; `kind` is a match, which gives the colour, or empty.
        `answer`: by default that of the page.
        `details`: what stands behind it, in smaller letters.
        """
        words = {"kicker": kicker, "answer": answer, "details": details}
        return cls.rendered("top.html", page=page, facts=list(facts), tiles=list(tiles), **words)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def __add__(self, other: Section) -> Section:
        return Section(self.pieces + other.pieces)

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Callable[..., object] = display.display
        for piece in self.pieces:
            show(piece.bundle(), raw=True)
