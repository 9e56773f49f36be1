"""The answer over everything: one sentence on all that is judged."""

from __future__ import annotations

from scalkit.markup import esc
from scalkit.plots.style import ANSWER_KEYS, RANK_COLOURS
from scalkit.validation.answer import ANSWER_SYMBOLS
from scalkit.widgets.base.part import Part
from scalkit.widgets.base.source import source


class Headline(Part):
    """Says what is to be fixed, and how much is fine or cannot be told; symbol and colour are those of the worst answer.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    _css = source("base/kernel.css", "base/part.css", "explorer/explorer.css")
    shown = frozenset({"result"})

    def _drawn(self) -> dict[str, str]:
        result = self.session.result
        answer = result.answer if result.verdicts else "cannot tell"
        mark = f'<b aria-hidden="true">{ANSWER_SYMBOLS[answer]}</b>'
        colour = RANK_COLOURS[ANSWER_KEYS[answer]]
        return {
            "said": f'<p class="headline" style="--rank: {colour}">{mark}<strong>{esc(result.headline)}</strong></p>'
        }
