"""Cross-function rules: on the measurements, and on the models with the scale at which a violation begins."""

import math as m

import numpy as np

from scalkit import plots
from scalkit.reports.markup import details, soft, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import RuleResult

_BADGES = {
    "holds": ("total", "✓", "holds"),
    "violated": ("none", "✗", "violated"),
    "predicted": ("approximate", "⚠", "violation predicted"),
    "unknown": ("slower", "?", "unknown"),
}


def rules(page: Page) -> Section:
    """Return one card for each rule."""
    section = Section.of("" if page.result.rules else soft("No rule was stated."))
    for result in page.result.rules:
        section += _card(result)
    return section


def _card(result: RuleResult) -> Section:
    kind, mark, word = _BADGES[result.status]
    reason = "; ".join(result.caveats) or "its measurements do not"
    is_silent = result.decides or result.status == "unknown"
    is_measured = bool(np.asarray(result.x).size)
    return Section.rendered(
        "rule_card.html",
        rule=str(result.rule),
        badge=(kind, mark, word, "" if result.decides else " open"),
        sentence=result.sentence,
        doubts=[] if is_silent else [f"Does not decide the exit status: {reason}."],
        drawn=plots.rule(result) if is_measured else None,
        data=_data(result) if is_measured else "",
    )


def _data(result: RuleResult) -> str:
    broken = {float(x) for x in result.violated_at}
    rows = [
        (f"{float(x):g}", "–" if m.isnan(float(r)) else f"{float(r):.3f}", _word(float(r), float(x) in broken))
        for x, r in zip(result.x, result.ratio, strict=True)
    ]
    caption = f"Left side over right side of {result.rule}; above 1 the left side is slower."
    return details("Data", table(caption, (result.parameter, "ratio", "measured"), rows, numeric=(0, 1)))


def _word(ratio: float, is_broken: bool) -> str:
    if is_broken:
        return "✗ violated"
    return "✓ holds" if ratio <= 1 else "slower, but not clearly in every run"
