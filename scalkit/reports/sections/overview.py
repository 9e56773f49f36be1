"""All functions in three pictures: run time, memory, and divergence towards larger scales."""

from __future__ import annotations

from scalkit import plots
from scalkit.plots.style import metric_word
from scalkit.reports.markup import esc
from scalkit.reports.page import Page
from scalkit.reports.pieces import Piece, Plot, Section


def overview(page: Page) -> Section:
    """Return one scaling figure per metric beside each other, and the divergences of all functions below.

    Over several parameters it is one figure of their effects.

    References
    ----------
    Exascaling Your Library, figure 2 (docs/references.md).
    """
    verdicts = page.result.verdicts
    if page.result.over_several:
        return _over_several(page)
    pieces: list[Piece | str] = ['<div class="sheet"><div class="pair">']
    for metric in dict.fromkeys(v.metric for v in verdicts):
        mine = [v for v in verdicts if v.metric == metric]
        if len(mine) < 2:
            continue
        caption = f"{metric_word(mine[0])}: measurements (symbols) and models (lines)"
        pieces += ['<div class="figure">', Plot(plots.scaling(page.result, metric)), _caption(caption)]
    pieces += ["</div></div>", '<div class="sheet"><div class="figure">', Plot(plots.divergence(page.result))]
    pieces += [
        _caption(
            "how many times more than expected each function grows if its model holds; shaded: what the limits allow; "
            "hollow symbols do not decide"
        ),
        "</div>",
    ]
    return Section.of(*pieces)


def _over_several(page: Page) -> Section:
    """Return what each parameter contributes to each function."""
    caption = (
        "how much of the value at the largest measured point is due to each parameter; grey: there at the smallest"
    )
    return Section.of(
        '<div class="sheet"><div class="figure">', Plot(plots.effects(page.result)), _caption(caption), "</div>"
    )


def _caption(text: str) -> str:
    return f'<p class="figcaption">{esc(text[0].upper() + text[1:])}.</p></div>'
