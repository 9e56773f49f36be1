"""Small pieces of markup that several parts of the explorer use; everything that comes from data is escaped here."""

from markupsafe import Markup

from scalkit.judge import AnyVerdict
from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.plots.style import STATE_COLOURS
from scalkit.support.markup import esc


def answered(verdict: AnyVerdict) -> str:
    """Return the colour of the answer of a verdict as a style attribute."""
    return Markup(f'style="--rank: {STATE_COLOURS[verdict.answer]}"')


def mark(verdict: AnyVerdict) -> str:
    """Return the answer of a verdict, with its colour behind its symbol."""
    doubt = "" if verdict.decides else ' <span title="does not decide">⚠</span>'
    return (
        f'<span class="mark" {answered(verdict)}>'
        f'<b aria-hidden="true">{ANSWER_SYMBOLS[verdict.answer]}</b>'
        f"<span>{verdict.answer}{doubt}</span></span>"
    )


def state_mark(state: str, symbol: str, word: str, more: str = "") -> str:
    """Return a symbol on the colour of a state, a word beside it, and more below that."""
    below = f"<br>{esc(more)}" if more else ""
    return Markup(
        f'<span class="mark" style="--rank: {STATE_COLOURS[state]}"><b aria-hidden="true">{symbol}</b>'
        f"<span>{esc(word)}{below}</span></span>"
    )
