"""The table of all verdicts, in the form of the paper's Tables 2 and 3, and what could not be judged."""

from __future__ import annotations

import math as m
from collections.abc import Sequence

from scalkit.plots.style import metric_word
from scalkit.reports.markup import anchor, badge, big_o, esc, formula, math, name, notes, percent
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import AnyVerdict

__all__ = ["summary"]

_HEAD = ("Function", "Expectation", "Model", "adj. R²", "Divergence δ", "Inside limits", "Match")


def summary(page: Page) -> Section:
    """Return the table of verdicts, the caveats in words and the functions without a verdict.

    References
    ----------
    Exascaling Your Library, tables 2 and 3 (docs/references.md).
    """
    metrics = list(dict.fromkeys(v.metric for v in page.result.verdicts))
    bodies = "".join(_group(page, metric) for metric in metrics)
    head = "".join(f'<th scope="col">{esc(text)}</th>' for text in _HEAD)
    table = (
        '<div class="sheet"><table class="stack"><caption>Expectation, model and verdict of each function; '
        "⚠ means that a verdict does not decide the exit status or that a rule about the function is broken.</caption>"
        f"<thead><tr>{head}</tr></thead>{bodies}</table></div>"
    )
    return Section.of(table, _litmus(page), _caveats(page), _left_out(page))


def _group(page: Page, metric: str) -> str:
    verdicts = [v for v in page.result.verdicts if v.metric == metric]
    title = f"{metric_word(verdicts[0])} [{verdicts[0].unit}]"
    rows = "".join(_row(page, v) for v in verdicts)
    return f'<tbody><tr class="group"><th colspan="{len(_HEAD)}" scope="rowgroup">{esc(title)}</th></tr>{rows}</tbody>'


def _row(page: Page, verdict: AnyVerdict) -> str:
    r2 = "–" if m.isnan(verdict.adjusted_r2) else f"{verdict.adjusted_r2:.3f}"
    cells = (
        (_HEAD[1], big_o(verdict.expectation.growth)),
        (_HEAD[2], formula(verdict.model)),
        (_HEAD[3], r2),
        (_HEAD[4], math(verdict.divergence)),
        (_HEAD[5], percent(1 - verdict.probability["none"]).replace(" ", "&nbsp;")),
        (_HEAD[6], f"{badge(verdict)} {_signs(page, verdict)}"),
    )
    body = "".join(f'<td data-label="{esc(label)}">{cell}</td>' for label, cell in cells)
    return f'<tr><th scope="row"><a href="#{anchor(verdict)}">{name(verdict.function)}</a></th>{body}</tr>'


def _signs(page: Page, verdict: AnyVerdict) -> str:
    signs = []
    if not verdict.decides:
        reason = "; ".join(verdict.caveats) or "does not decide"
        signs.append(f'<span class="caveat" title="{esc(reason)}">⚠ not deciding</span>')
    broken = page.broken_rules_of(verdict.function)
    if broken:
        signs.append(f'<a class="caveat" href="#rules" title="{esc("; ".join(broken))}">⚠ rule</a>')
    return " ".join(signs)


def _litmus(page: Page) -> str:
    litmus = page.result.litmus
    if litmus is None:
        return ""
    return f"<p>{esc(litmus.sentence)}</p>" if litmus.passed else notes([litmus.sentence])


def _caveats(page: Page) -> str:
    """Return every caveat once, with the functions that it concerns."""
    verdicts = page.result.verdicts
    lines = []
    for caveat in dict.fromkeys(c for v in verdicts for c in v.caveats):
        concerned = [v.function for v in verdicts if caveat in v.caveats]
        whom = "all functions" if len(concerned) == len(verdicts) else ", ".join(concerned)
        lines.append(f"{caveat[0].upper() + caveat[1:]}. This concerns {whom}.")
    return notes(lines)


def _left_out(page: Page) -> str:
    return _listing(
        "Measured, but without an expectation",
        "Nothing was concluded about these; state an expectation to have them judged.",
        page.result.unexpected,
    ) + (
        _listing(
            "Measured too little", "A model needs more settings; measure them and judge again.", page.result.unjudged
        )
        + _listing("Expected, but not measured", "No verdict without a measurement.", page.result.missing)
    )


def _listing(title: str, remark: str, functions: Sequence[str]) -> str:
    if not functions:
        return ""
    items = "".join(f"<li>{name(function)}</li>" for function in functions)
    return f'<h3>{esc(title)}</h3><p class="soft">{esc(remark)}</p><ul>{items}</ul>'
