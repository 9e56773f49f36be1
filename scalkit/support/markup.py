"""HTML of values as notebooks show them: escaped, foldable without a script, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from markupsafe import Markup

from scalkit.support.colours import light
from scalkit.support.text import counted

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["HasMathml", "block", "bullets", "counted", "details", "environment", "esc", "formula", "marked", "paragraph", "table"]

_COLOURS = {
    "fine": "expected",
    "fix": "trouble",
    "cannot tell": "cannot-tell",
    "total": "expected",
    "approximate": "warning",
    "none": "trouble",
}
"""Colour of each answer and match, as a name of the table of colours."""


def environment(folder: str, *, escape: bool = True) -> Environment:
    """Return the templates in a folder of the package: what is put in is escaped unless it is `Markup`.

    `folder`: from the folder of scalkit, such as ``reports/templates/sections``.
    `escape`: not for text that is no markup, such as C.
    """
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).resolve().parents[1] / folder),
        autoescape=escape,
        keep_trailing_newline=not escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else str(value).replace("\0", ""),
    )


class HasMathml(Protocol):
    """What has a formula."""

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""


def block(*pieces: str) -> str:
    """Return pieces of markup as one output of a cell, with the style that they need."""
    return f'<style>{_style()}</style><div class="sk-shown">{"".join(pieces)}</div>'


@cache
def _style() -> str:
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8").replace("\n", "")


def esc(thing: object) -> str:
    """Return a thing's text such that a browser shows it letter by letter, also inside an attribute."""
    return escape(str(thing), quote=True)


def paragraph(text: object) -> str:
    """Return plain text as a paragraph; nothing if there is none."""
    return f"<p>{esc(text)}</p>" if text else ""


def formula(thing: HasMathml, *, big_o: bool = False) -> str:
    """Return a growth or a model as a formula that browsers draw themselves; within ``O(...)`` if asked."""
    inside = thing.to_mathml()
    if big_o:
        inside = f'<mrow><mi>O</mi><mo stretchy="false">(</mo>{inside}<mo stretchy="false">)</mo></mrow>'
    return f"<math>{inside}</math>"


def marked(key: str, text: str) -> str:
    """Return plain text beside a bar in the colour of an answer or a match; the text says everything that the colour says."""
    colour = light(_COLOURS.get(key, "quiet"))
    return f'<span class="sk-mark" style="--sk-rank:{colour}">{esc(text)}</span>'


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a folded block; `summary` is plain text, `body` markup. Nothing if there is no body."""
    if not body:
        return ""
    unfolded = ' open=""' if is_open else ""
    return f"<details{unfolded}><summary>{esc(summary)}</summary>{body}</details>"


def bullets(lines: Iterable[object]) -> str:
    """Return a list of plain texts; nothing without one."""
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table that scrolls in itself.

    `head`: plain text of the column heads; none for a table of names and values.
    `rows`: markup; the first cell of a row is its head.
    `caption`: plain text.
    """
    heads = "".join(f'<th scope="col">{esc(text)}</th>' for text in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    label = esc(caption or ", ".join(head) or "values")
    above = f"<caption>{esc(caption)}</caption>" if caption else ""
    inside = f"{above}{f'<thead><tr>{heads}</tr></thead>' if head else ''}<tbody>{body}</tbody>"
    kind = "sk-t" if head else "sk-t sk-facts"
    return f'<div class="sk-wide" tabindex="0" role="group" aria-label="{label}"><table class="{kind}">{inside}</table></div>'
