"""Markup that several sections use: templates with autoescape, so plain text is escaped and only `Markup` passes."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol

from jinja2 import Environment
from markupsafe import Markup, escape

from scalkit import text
from scalkit.markup import environment
from scalkit.plots.style import ANSWER_KEYS, RANK_MARKS, RANK_WORDS, match_words, rank_key
from scalkit.validation import AnyVerdict

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
