"""All functions in three pictures: run time, memory, and divergence towards larger scales."""

from __future__ import annotations

from scalkit import plots
from scalkit.plots.style import metric_word
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section


def overview(page: Page) -> Section:
    """Return the divergences of all functions, and folded below one scaling figure per metric beside each other.

    Over several parameters it is one figure of their effects.

    References
    ----------
    Exascaling Your Library, figure 2 (docs/references.md).
    """
    result, verdicts = page.result, page.result.verdicts
    if result.over_several:
        return Section.rendered("overview.html", effects=plots.effects(result))
    mine = {metric: [v for v in verdicts if v.metric == metric] for metric in dict.fromkeys(v.metric for v in verdicts)}
    words = {metric: metric_word(several[0]) for metric, several in mine.items() if len(several) > 1}
    scaling = [(word[0].upper() + word[1:], plots.scaling(result, metric)) for metric, word in words.items()]
    return Section.rendered("overview.html", effects=None, scaling=scaling, divergence=plots.divergence(result))
