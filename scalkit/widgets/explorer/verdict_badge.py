"""The verdict on what is selected: a sentence with symbol and word, never colour alone."""

from __future__ import annotations

from scalkit.markup import bullets, esc
from scalkit.plots.style import METRIC_WORDS, metric_word
from scalkit.validation.answer import ANSWER_SYMBOLS
from scalkit.widgets.base.part import Part
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
