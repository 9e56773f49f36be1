"""Small pieces of markup that several parts of the explorer use; everything that comes from data is escaped here."""

from markupsafe import Markup

from scalkit.markup import esc
from scalkit.plots.style import ANSWER_KEYS, RANK_COLOURS, match_words
from scalkit.validation import AnyVerdict
from scalkit.validation.answer import ANSWER_SYMBOLS


def answered(verdict: AnyVerdict) -> str:
    """Return the colour of the answer of a verdict as a style attribute."""
    return Markup(f'style="--rank: {RANK_COLOURS[ANSWER_KEYS[verdict.answer]]}"')


def mark(verdict: AnyVerdict) -> str:
    """Return answer and match of a verdict, with the colour of the answer behind its symbol."""
    doubt = "" if verdict.decides else ' <span title="does not decide">⚠</span>'
    return (
        f'<span class="mark" {answered(verdict)}>'
        f'<b aria-hidden="true">{ANSWER_SYMBOLS[verdict.answer]}</b>'
        f'<span>{verdict.answer}<span class="wide">: {esc(match_words(verdict))}</span>{doubt}</span></span>'
    )


def state_mark(rank: str, symbol: str, word: str, more: str = "") -> str:
    """Return a symbol on the colour of a rank, a word beside it, and more below that."""
    below = f"<br>{esc(more)}" if more else ""
    return Markup(
        f'<span class="mark" style="--rank: {RANK_COLOURS[rank]}"><b aria-hidden="true">{symbol}</b>'
        f"<span>{esc(word)}{below}</span></span>"
    )
