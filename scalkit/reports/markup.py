"""Small pieces of markup that several sections use; everything that comes from data is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Protocol

from scalkit.plots.style import RANK_MARKS, RANK_WORDS, rank_key
from scalkit.validation import AnyVerdict

__all__ = ["anchor", "badge", "big_o", "details", "esc", "formula", "math", "name", "notes", "table"]


class _Formula(Protocol):
    def to_mathml(self) -> str: ...


def esc(text: object) -> str:
    """Return `text` such that a browser shows it letter by letter, also inside an attribute."""
    return html.escape(str(text), quote=True)


def name(function: str) -> str:
    """Return a function's name in the type of code."""
    return f'<code class="name">{esc(function)}</code>'


def anchor(verdict: AnyVerdict) -> str:
    """Return the identifier of a verdict's card: metric and function in letters, digits and codes for everything else."""
    return f"f-{_coded(verdict.metric)}.{_coded(verdict.function)}"


def _coded(text: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"-{ord(c):x}-" for c in text)


def math(growth: _Formula) -> str:
    """Return a growth as a formula that browsers draw themselves."""
    return f"<math>{growth.to_mathml()}</math>"


def formula(model: _Formula) -> str:
    """Return a model with its coefficients as a formula."""
    return f"<math>{model.to_mathml()}</math>"


def big_o(growth: _Formula) -> str:
    """Return ``O(growth)`` as a formula."""
    return f'<math><mi>O</mi><mo stretchy="false">(</mo>{growth.to_mathml()}<mo stretchy="false">)</mo></math>'


def badge(verdict: AnyVerdict) -> str:
    """Return mark and word of a verdict; dashed where it does not decide."""
    key = rank_key(verdict)
    shape = "" if verdict.decides else " open"
    return f'<span class="badge {key}{shape}"><span aria-hidden="true">{RANK_MARKS[key]}</span>{RANK_WORDS[key]}</span>'


def percent(share: float) -> str:
    """Return a probability for a table: 93 %, 99.8 %, > 99.9 %."""
    if share > 0.999:
        return "&gt; 99.9 %"
    if share < 0.001:
        return "&lt; 0.1 %"
    return f"{100 * share:.0f} %" if 0.01 <= share < 0.99 else f"{100 * share:.1f} %"


def notes(lines: Iterable[str]) -> str:
    """Return a highlighted list of remarks in plain text; nothing without a remark."""
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    return f'<ul class="note">{items}</ul>' if items else ""


def details(summary: str, body: str, *, prints: bool = False) -> str:
    """Return a folded block; `summary` is plain text, `body` markup. On paper it is open if it `prints`, else left out."""
    kind = ' class="print"' if prints else ""
    return f"<details{kind}><summary>{esc(summary)}</summary>{body}</details>"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """Return a table that scrolls in itself.

    Parameters
    ----------
    caption : str
        Plain text.
    head : sequence of str
        Plain text of the column heads.
    rows : iterable of sequences of str
        Markup; the first cell of a row is its head.
    numeric : sequence of int
        Columns to align right.
    """

    def kind(column: int) -> str:
        return ' class="num"' if column in numeric else ""

    heads = "".join(f'<th scope="col"{kind(k)}>{esc(text)}</th>' for k, text in enumerate(head))
    body = "".join(
        f'<tr><th scope="row"{kind(0)}>{row[0]}</th>'
        + "".join(f"<td{kind(k)}>{cell}</td>" for k, cell in enumerate(row[1:], start=1))
        + "</tr>"
        for row in rows
    )
    label = esc(caption)
    style = ' class="numbers"' if numeric else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}"><table{style}><caption>{label}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
