"""Small pieces of markup that several parts of the explorer use; everything that comes from data is escaped here."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from scalkit.plots.style import RANK_COLOURS, RANK_WORDS, answer_key, rank_key
from scalkit.validation.answer import ANSWER_SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scalkit.validation import Verdict
    from scalkit.validation.several.verdict import SeveralVerdict

__all__ = ["Judged", "bullets", "esc", "formula", "key_of", "mark", "percent", "r2", "ranked", "state_mark", "word_of"]

Judged: TypeAlias = "Verdict | SeveralVerdict"


def esc(text: object) -> str:
    """Return `text` such that a browser shows it letter by letter, also inside an attribute."""
    return html.escape(str(text), quote=True)


def formula(thing: Any) -> str:
    """Return a growth, a sum of growths or a model as a formula that browsers draw themselves."""
    return f"<math>{thing.to_mathml()}</math>"


def key_of(verdict: Judged) -> str:
    """Return the key of a verdict in the tables of `scalkit.plots.style`."""
    return rank_key(cast("Verdict", verdict))


def ranked(verdict: Judged) -> str:
    """Return the colour of a verdict as a style attribute."""
    return f'style="--rank: {RANK_COLOURS[key_of(verdict)]}"'


def word_of(verdict: Judged) -> str:
    """Return a verdict in a few words."""
    return RANK_WORDS[key_of(verdict)]


def mark(verdict: Judged) -> str:
    """Return answer and match of a verdict, with the colour of the answer behind its symbol."""
    doubt = "" if verdict.decides else ' <span title="does not decide">⚠</span>'
    return (
        f'<span class="mark" style="--rank: {RANK_COLOURS[answer_key(cast("Verdict", verdict))]}">'
        f'<b aria-hidden="true">{ANSWER_SYMBOLS[verdict.answer]}</b>'
        f"<span>{verdict.answer}: {esc(word_of(verdict))}{doubt}</span></span>"
    )


def state_mark(rank: str, symbol: str, word: str, more: str = "") -> str:
    """Return a symbol on the colour of a rank, a word beside it, and more below that."""
    below = f"<br>{esc(more)}" if more else ""
    return (
        f'<span class="mark" style="--rank: {RANK_COLOURS[rank]}"><b aria-hidden="true">{symbol}</b>'
        f"<span>{esc(word)}{below}</span></span>"
    )


def percent(share: float) -> str:
    """Return a probability for a table, as markup: 93 %, 99.8 %, > 99.9 %; a dash where there is none."""
    if math.isnan(share):
        return "–"
    if share > 0.999:
        return "&gt; 99.9 %"
    if share < 0.001:
        return "&lt; 0.1 %"
    return f"{100 * share:.0f} %" if 0.01 <= share < 0.99 else f"{100 * share:.1f} %"


def r2(value: float) -> str:
    """Return a coefficient of determination for a table; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.4f}"


def bullets(lines: Iterable[str]) -> str:
    """Return a list of remarks in plain text; nothing without a remark."""
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
