"""The verdict on what is selected: a sentence with symbol and word, never colour alone."""

import math
from typing import Any

import traitlets as t

from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.plots.style import METRIC_WORDS, STATE_COLOURS, metric_word, plain, quantity
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
        answer = result.answer if result.verdicts else "cannot tell"
        symbol, colour = ANSWER_SYMBOLS[answer], STATE_COLOURS[answer]
        return drawn("parts.html", part="headline", symbol=symbol, colour=colour, headline=result.headline)


_MOST = 8
_BEYOND = 4
_ALIKE, _HUGE = 1.05, 1e6
_BAR = 60


class HypothesisList(Part):
    """The best model and its rivals: probability, adjusted R², match, and what speaks against each rival.

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
        rows = [_row(verdict, model, k) for k, model in enumerate(models[:_MOST])] if verdict is not None else []
        return drawn("hypothesis_list.html", rows=rows)


def _row(verdict: AnyVerdict, model: Any, k: int) -> dict[str, Any]:
    weight = float(model.weight)
    return {
        "term": term_of(model),
        "formula": model.growth if isinstance(verdict, Verdict) else model,
        "weight": weight,
        "width": 0 if math.isnan(weight) else round(_BAR * weight),
        "fit": r2(float(model.adjusted_r2)),
        "match": verdict.expectation.match(model.growth),
        "why": why_not(verdict, model) if k else "",
    }


def why_not(verdict: Verdict | Any, rival: Any) -> str:
    """Return what speaks against a rival of the best model, in plain words. `rival`: one of its rivals."""
    best = verdict.model
    said = [_residuals(best, rival), _odds(best, rival)]
    if isinstance(verdict, Verdict):
        said.append(_parting(verdict, rival))
    return " ".join(one for one in said if one)


def _residuals(best: Any, rival: Any) -> str:
    if not (best.rss > 0 and math.isfinite(rival.rss)):
        return "The best model meets the values exactly, this one does not." if rival.rss > 0 else ""
    ratio = math.sqrt(rival.rss / best.rss)
    if ratio > _ALIKE:
        return f"It misses the values by {_times(ratio)} times as much as the best model."
    if ratio < 1 / _ALIKE:
        return "It follows the values more closely, but noise explains the difference."
    return "It follows the values as closely as the best model."


def _odds(best: Any, rival: Any) -> str:
    if not (best.weight > 0 and rival.weight >= 0):
        return ""
    odds = best.weight / rival.weight if rival.weight else math.inf
    if odds >= _ALIKE:
        return f"The best one is {_times(odds)} times as probable."
    if odds > 1 / _ALIKE:
        return "It is as probable as the best model."
    return f"It is {_times(1 / odds)} times as probable, but does not agree with the answer."


def _times(factor: float) -> str:
    """Return a factor with three digits and without an exponent, as in ``3,940``; what is huge is called so."""
    if factor > _HUGE:
        return "more than a million"
    return f"{factor:.3g}" if factor < 1000 else f"{float(f'{factor:.3g}'):,.0f}"


def _parting(verdict: Verdict, rival: Any) -> str:
    """Return what the two predict beyond the measured range, where a measurement would tell them apart."""
    at = _BEYOND * float(verdict.series.x[-1])
    one, other = float(verdict.model(at)), float(rival(at))
    if not (math.isfinite(one) and math.isfinite(other)):
        return ""
    unit = verdict.unit
    return (
        f"At {verdict.parameter} = {at:g} it would be {quantity(other, unit)}, the best model says "
        f"{quantity(one, unit)} ({plain(verdict.model.growth)})."
    )
