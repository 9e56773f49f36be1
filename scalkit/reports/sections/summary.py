"""The table of all verdicts, in the form of the paper's Tables 2 and 3, and what could not be judged."""

from __future__ import annotations

from collections.abc import Sequence

from scalkit import plots
from scalkit.plots.style import metric_word
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import AnyVerdict

_HEAD = ("Function", "Expectation", "Model", "adj. R²", "Divergence δ", "Inside limits", "Answer")


_LEFT_OUT = {
    "unexpected": (
        "Measured, but without an expectation",
        "Nothing was concluded about these; state an expectation to have them judged.",
    ),
    "unjudged": ("Measured too little", "A model needs more settings; measure them and judge again."),
    "missing": ("Expected, but not measured", "No verdict without a measurement."),
}


def summary(page: Page) -> Section:
    """Return the table of verdicts, the caveats in words and the functions without a verdict.

    References
    ----------
    Exascaling Your Library, tables 2 and 3 (docs/references.md).
    """
    result, groups = page.result, []
    for metric in dict.fromkeys(v.metric for v in result.worst_first):
        verdicts = [v for v in result.worst_first if v.metric == metric]
        groups.append((f"{metric_word(verdicts[0])} [{verdicts[0].unit}]", verdicts))
    left_out = [(*words, getattr(result, which)) for which, words in _LEFT_OUT.items()]
    more = {"litmus": result.litmus, "caveats": _caveats(result.verdicts), "left_out": left_out}
    return Section.rendered("summary.html", page=page, head=_HEAD, groups=groups, **more)


def _caveats(verdicts: Sequence[AnyVerdict]) -> list[str]:
    """Return every caveat once, with the functions that it concerns."""
    lines = []
    for caveat in dict.fromkeys(c for v in verdicts for c in v.caveats):
        concerned = [v.function for v in verdicts if caveat in v.caveats]
        whom = "all functions" if len(concerned) == len(verdicts) else ", ".join(concerned)
        lines.append(f"{caveat[0].upper() + caveat[1:]}. This concerns {whom}.")
    return lines


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
