"""The verdict on what is selected: a sentence with symbol and word, never colour alone."""

from __future__ import annotations

from scalkit.markup import bullets, esc
from scalkit.plots.style import ANSWER_KEYS, METRIC_WORDS, RANK_COLOURS, metric_word
from scalkit.validation.answer import ANSWER_SYMBOLS
from scalkit.widgets.base.part import Part
from scalkit.widgets.base.source import source
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
        function, metric = self.session.selected
        verdict = self.session.verdict
        word = METRIC_WORDS.get(metric, metric) if verdict is None else metric_word(verdict)
        head = f"<h3>{esc(function)}, {esc(word)}</h3>"
        if verdict is None:
            said = f'<p class="trouble">{esc(self.session.problem)}</p>'
            return {"head": head, "said": said, "remarks": ""}
        shape = "verdict" if verdict.decides else "verdict open"
        doubt = "" if verdict.decides else " · ⚠ does not decide"
        said = (
            f'<div class="{shape}" {answered(verdict)}><b aria-hidden="true">{ANSWER_SYMBOLS[verdict.answer]}</b>'
            f"<div><strong>{verdict.answer}: {esc(word_of(verdict))}{doubt}</strong>{esc(verdict.sentence)}</div></div>"
        )
        remarks = [line for line in (verdict.likelihood_sentence, verdict.hidden_sentence, *verdict.caveats) if line]
        return {"head": head, "said": said, "remarks": bullets(remarks)}


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
