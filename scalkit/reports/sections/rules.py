"""Cross-function rules: on the measurements, and on the models with the scale at which a violation begins."""

from __future__ import annotations

import math as m

import numpy as np

from scalkit import plots
from scalkit.reports.markup import details, esc, name, notes, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Piece, Plot, Section
from scalkit.validation import RuleResult

_BADGES = {
    "holds": ("total", "✓", "holds"),
    "violated": ("none", "✗", "violated"),
    "predicted": ("approximate", "⚠", "violation predicted"),
    "unknown": ("slower", "?", "unknown"),
}


def rules(page: Page) -> Section:
    """Return one card for each rule."""
    section = Section.of("" if page.result.rules else '<p class="soft">No rule was stated.</p>')
    for result in page.result.rules:
        section += _card(result)
    return section


def _card(result: RuleResult) -> Section:
    pieces: list[Piece | str] = ['<article class="sheet card">', _head(result)]
    if np.asarray(result.x).size:
        pieces += ['<div class="figure">', Plot(plots.rule(result)), "</div>", _data(result)]
    return Section.of(*pieces, "</article>")


def _head(result: RuleResult) -> str:
    kind, mark, word = _BADGES[result.status]
    shape = "" if result.decides else " open"
    reason = "; ".join(result.caveats) or "its measurements do not"
    silent = result.decides or result.status == "unknown"
    caveat = "" if silent else notes([f"Does not decide the exit status: {reason}."])
    return (
        f"<header><h3>{name(str(result.rule))}</h3>"
        f'<span class="badge {kind}{shape}"><span aria-hidden="true">{mark}</span>{word}</span></header>'
        f'<p class="sentence">{esc(result.sentence)}</p>{caveat}'
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
