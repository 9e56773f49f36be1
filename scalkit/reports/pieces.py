"""Pieces of a section, rendered from templates: markup, and figures between it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from markupsafe import Markup

from scalkit.judge.answer import ANSWER_SYMBOLS, Answer
from scalkit.plots.style import growth_label
from scalkit.support import text
from scalkit.support.markup import environment
from scalkit.support.toml.tables import table_beside

if TYPE_CHECKING:
    from jinja2 import Environment

    from scalkit.judge import AnyVerdict

PLOTLY = "application/vnd.plotly.v1+json"
_MOST_PLAIN = 100  # characters of the plain text of a piece, which only tools without HTML show


class Drawable(Protocol):
    """A figure of `scalkit.plots`, as far as a report needs it."""

    def to_json(self) -> str:
        """Return the figure as JSON for plotly.js."""


@dataclass(frozen=True)
class Html:
    """A piece of markup. An element may be opened in one piece and closed in a later one."""

    text: str

    def bundle(self) -> dict[str, Any]:
        """Return the piece as Jupyter shows it: HTML, and the beginning of its plain text."""
        bare = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.text)).split())
        return {"text/html": self.text, "text/plain": text.cut(bare, _MOST_PLAIN)}


@dataclass(frozen=True)
class Plot:
    """A figure; its sentence for screen readers is in ``layout.meta["alt"]``."""

    figure: Drawable

    def bundle(self) -> dict[str, Any]:
        """Return the figure as Jupyter and the page show it: JSON for plotly, and the sentence."""
        figure = json.loads(self.figure.to_json())
        layout = {key: value for key, value in figure["layout"].items() if key != "template"}
        return {PLOTLY: {"data": figure["data"], "layout": layout}, "text/plain": str(layout["meta"]["alt"])}


Piece = Html | Plot


def rendered(template: str, **values: Any) -> tuple[Piece, ...]:
    """Return the pieces that a template makes of values; it calls ``plot(figure)`` where a figure belongs."""
    figures: list[Piece] = []

    def plot(figure: Drawable) -> Markup:
        figures.append(Plot(figure))
        return Markup(f"\0{len(figures) - 1}\0")

    # No value can forge a figure: `environment` removes the letter \0 from all of them.
    parts = templates().get_template(template).render(plot=plot, **values).split("\0")
    pieces = (figures[int(part)] if k % 2 else Html(part.strip()) for k, part in enumerate(parts))
    return tuple(piece for piece in pieces if not isinstance(piece, Html) or piece.text)


def words_of(table: str) -> dict[str, Any]:
    """Return a table of ``words.toml``."""
    found: dict[str, Any] = table_beside(__file__, "words.toml")[table]
    return found


@cache
def templates() -> Environment:
    """Return the templates, which call the functions below by name."""
    found = environment("reports/templates")
    helpers: tuple[Callable[..., object], ...] = (anchor, answer_badge, big_o, flattened, math, name, percent, raised)
    found.globals |= {one.__name__: one for one in helpers}
    found.globals |= {"capital": text.capital, "counted": text.counted, "r2": text.r2, "as_percent": text.as_percent}
    return found


class _Formula(Protocol):
    def to_mathml(self) -> str: ...


def name(function: object) -> Markup:
    """Return the name of a function in the type of code."""
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


def raised(growth: Any) -> Markup:
    """Return a growth as SVG text with raised exponents; the zero-width space brings the line down again."""
    label = growth_label(growth).replace("<sup>", '<tspan class="sup" dy="-4">')
    return Markup(label.replace("</sup>", '</tspan><tspan dy="4">&#8203;</tspan>'))


KINDS: dict[Answer, str] = {"fix": "fix", "cannot tell": "unclear", "fine": "fine"}
"""Class of the badge of each answer in the style sheet."""


def badge(kind: str, mark: str, word: str, *, is_open: bool = False) -> Markup:
    """Return a mark and a word in the colour of a kind; dashed if it `is_open`, as what does not decide."""
    shape = " open" if is_open else ""
    markup = '<span class="badge {}{}"><span aria-hidden="true">{}</span>{}</span>'
    return Markup(markup).format(kind, shape, mark, word)


def answer_badge(verdict: AnyVerdict) -> Markup:
    """Return mark and word of an answer; dashed where the verdict does not decide."""
    kind, mark = KINDS[verdict.answer], ANSWER_SYMBOLS[verdict.answer]
    return badge(kind, mark, verdict.answer, is_open=not verdict.decides)


def percent(share: float) -> str:
    """Return a probability for a table."""
    return text.percent(share, short=True)


def flattened(content: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield the leaves of nested mappings as (path, text), in their order."""
    for key, value in content.items():
        label = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{label} / ")
        elif value not in (None, "", []):
            yield label, _leaf(value)


def _leaf(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_leaf(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
