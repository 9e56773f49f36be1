"""The verdict on what is selected: a sentence with symbol and word, never colour alone."""

from __future__ import annotations

from scalkit.plots.style import ANSWER_KEYS, METRIC_WORDS, RANK_COLOURS, metric_word
from scalkit.validation.answer import ANSWER_SYMBOLS
from scalkit.widgets.base.part import Part
from scalkit.widgets.base.source import source
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import answered, word_of


class VerdictBadge(Part):
    """Says what the verdict is, which way it misses and from which scale on, and what limits its meaning.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"selected", "result"})

    def _drawn(self) -> dict[str, str]:
        (_, metric), verdict = self.session.selected, self.session.verdict
        values = {"part": "verdict", "session": self.session, "verdict": verdict, "answered": answered}
        if verdict is None:
            return drawn("parts.html", **values, word=METRIC_WORDS.get(metric, metric), remarks=[])
        remarks = [line for line in (verdict.likelihood_sentence, verdict.hidden_sentence, *verdict.caveats) if line]
        symbol, match = ANSWER_SYMBOLS[verdict.answer], word_of(verdict)
        return drawn("parts.html", **values, word=metric_word(verdict), remarks=remarks, symbol=symbol, match=match)


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
        symbol, colour = ANSWER_SYMBOLS[answer], RANK_COLOURS[ANSWER_KEYS[answer]]
        return drawn("parts.html", part="headline", symbol=symbol, colour=colour, headline=result.headline)
