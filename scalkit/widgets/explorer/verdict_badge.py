"""The verdict on what is selected: a sentence with symbol and word, never colour alone."""

import math
from typing import Any

import traitlets as t

from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.plots.style import METRIC_WORDS, STATE_COLOURS, metric_word
from scalkit.plots.verdicts.rival_curves import term_of
from scalkit.support.text import r2
from scalkit.widgets.base.part import Part
from scalkit.widgets.base.templates import drawn, source
from scalkit.widgets.base.wording import answered


class VerdictBadge(Part):
    """Says what the verdict is, which way it misses and from which scale on, and what limits its meaning."""

    shown = frozenset({"selected", "result"})

    def _drawn(self) -> dict[str, str]:
        (_, metric), verdict = self.session.selected, self.session.verdict
        values = {"part": "verdict", "session": self.session, "verdict": verdict, "answered": answered}
        if verdict is None:
            return drawn("parts.html", **values, word=METRIC_WORDS.get(metric, metric), remarks=[])
        remarks = verdict.caveats
        values |= {"symbol": ANSWER_SYMBOLS[verdict.answer], "word": metric_word(verdict)}
        return drawn("parts.html", **values, remarks=remarks)


class Headline(Part):
    """Says what is to be fixed, and how much is fine or cannot be told; symbol and colour are those of the worst answer."""

    _css = source("base/kernel.css", "base/part.css", "explorer/explorer.css")
    shown = frozenset({"result"})

    def _drawn(self) -> dict[str, str]:
        result = self.session.result
        symbol, colour = ANSWER_SYMBOLS[result.answer], STATE_COLOURS[result.answer]
        return drawn("parts.html", part="headline", symbol=symbol, colour=colour, headline=result.headline)


_MOST = 8
_BAR = 60


class HypothesisList(Part):
    """The best model and its rivals: probability, adjusted R² and match.

    `hover`, `term`: the term below the pointer and the one that was chosen, as text; empty if there is none. To be linked with
    those of other views by `ipywidgets.jslink`, without the kernel.
    """

    hover = t.Unicode("").tag(sync=True, echo_update=False)
    term = t.Unicode("").tag(sync=True, echo_update=False)

    shown = frozenset({"selected", "result"})

    def _told(self, changed: frozenset[str]) -> None:
        if "selected" in changed:
            self.hover = self.term = ""
        super()._told(changed)

    def _drawn(self) -> dict[str, str]:
        verdict = self.session.verdict
        models = (verdict.model, *verdict.rivals) if verdict is not None else ()
        rows = [_row(verdict, model) for model in models[:_MOST]] if verdict is not None else []
        return drawn("hypothesis_list.html", rows=rows)


def _row(verdict: AnyVerdict, model: Any) -> dict[str, Any]:
    weight = float(model.weight)
    return {
        "term": term_of(model),
        "formula": model.growth if isinstance(verdict, Verdict) else model,
        "weight": weight,
        "width": 0 if math.isnan(weight) else round(_BAR * weight),
        "fit": r2(float(model.adjusted_r2)),
        "match": verdict.expectation.match(model.growth),
    }
