"""What a section of the report is made of: pieces of HTML and figures, shown one after the other."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from jinja2 import Environment
from markupsafe import Markup, escape

from scalkit import text
from scalkit.markup import environment
from scalkit.plots.style import ANSWER_KEYS, RANK_MARKS, RANK_WORDS, match_words, rank_key
from scalkit.reports.writer.content import Content
from scalkit.toml.tables import table_beside
from scalkit.validation import AnyVerdict

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


def words_of(table: str) -> dict[str, Any]:
    """Return a table of ``words.toml``."""
    found: dict[str, Any] = table_beside(__file__, "words.toml")[table]
    return found


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
        from scalkit.reports.pieces import templates

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


_FOLDER = "reports/templates/sections"

esc = escape


class _Formula(Protocol):
    def to_mathml(self) -> str: ...


@cache
def templates() -> Environment:
    """Return the templates of the sections, which call the functions of this module by name."""
    found = environment(_FOLDER)
    found.globals |= {one.__name__: one for one in (anchor, answer_badge, badge, big_o, match_words, math, name, notes, percent)}
    found.globals |= {"counted": text.counted, "r2": text.r2}
    return found


def piece(macro: str, *values: Any) -> Markup:
    """Return what a macro of ``pieces.html`` makes of values."""
    return Markup(getattr(templates().get_template("pieces.html").module, macro)(*values))


def name(function: str) -> Markup:
    """Return a function's name in the type of code."""
    return Markup('<code class="name">{}</code>').format(function)


def anchor(verdict: AnyVerdict) -> str:
    """Return the identifier of a verdict's card: metric and function in letters, digits and codes for everything else."""
    return f"f-{_coded(verdict.metric)}.{_coded(verdict.function)}"


def _coded(text: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"-{ord(c):x}-" for c in text)


def math(growth: _Formula) -> Markup:
    """Return a growth, or a model with its coefficients, as a formula that browsers draw themselves."""
    return Markup(f"<math>{growth.to_mathml()}</math>")


def big_o(growth: _Formula) -> Markup:
    """Return ``O(growth)`` as a formula."""
    inside = growth.to_mathml()
    return Markup(f'<math><mi>O</mi><mo stretchy="false">(</mo>{inside}<mo stretchy="false">)</mo></math>')


def badge(verdict: AnyVerdict, words: str = "") -> Markup:
    """Return mark and word of a verdict; dashed where it does not decide."""
    key = rank_key(verdict)
    return piece("badge", key, RANK_MARKS[key], words or RANK_WORDS[key], "" if verdict.decides else " open")


def answer_badge(verdict: AnyVerdict) -> Markup:
    """Return mark and word of the answer to a verdict; dashed where it does not decide."""
    key = ANSWER_KEYS[verdict.answer]
    return piece("badge", key, RANK_MARKS[key], verdict.answer, "" if verdict.decides else " open")


def heading(word: str) -> Markup:
    """Return the heading of a part of a section."""
    return Markup('<h3 class="metric">{}</h3>').format(word)


def soft(words: str) -> Markup:
    """Return a paragraph that says less than the others."""
    return piece("soft", words)


def steps(lines: Iterable[str]) -> Markup:
    """Return a sheet with a numbered list."""
    return piece("steps", list(lines))


def lines(facts: Iterable[tuple[str, object]]) -> list[tuple[str, Markup]]:
    """Return rows of names and texts that may have several lines; those without a text are left out."""
    return [(label, Markup('<span class="lines">{}</span>').format(value)) for label, value in facts if value]


def hashes(found: Iterable[tuple[str, str]]) -> list[tuple[str, Markup]]:
    """Return rows of files and their hashes."""
    return [(file, Markup('<span class="hash">{}</span>').format(digest)) for file, digest in found]


def percent(share: float) -> str:
    """Return a probability for a table."""
    return text.percent(share, short=True)


def notes(lines: Iterable[str]) -> Markup:
    """Return a highlighted list of remarks in plain text; nothing without a remark."""
    return piece("notes", list(lines))


def details(summary: str, body: Markup, *, prints: bool = False) -> Markup:
    """Return a folded block of markup. On paper it is open if it `prints`, else left out."""
    return piece("details", summary, body, prints)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], numeric: Sequence[int] = ()) -> Markup:
    """Return a table that scrolls in itself.

    `caption`: plain text. `head`: plain text of the column heads.
    `rows`: plain text or `Markup`; the first cell of a row is its head. `numeric`: columns to align right.
    """
    return piece("table", caption, head, list(rows), numeric)
