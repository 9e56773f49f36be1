"""What became of each function since a baseline."""

from __future__ import annotations

import math as m
from collections.abc import Sequence

from scalkit import plots
from scalkit.plots.style import METRIC_WORDS
from scalkit.reports.markup import esc, math, name, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Piece, Plot, Section
from scalkit.validation.baseline.comparison import Change

__all__ = ["ORDER", "before_after", "change_badge", "changes", "key_of"]

ORDER = ("worse", "dearer", "undecided", "gone", "cheaper", "better", "new", "same")
"""Kinds of changes, the most urgent first; ``dearer`` and ``cheaper`` are a factor that rose or fell."""

_BADGES = {
    "worse": ("none", "▲", "grows faster"),
    "dearer": ("approximate", "×", "costs more"),
    "undecided": ("undecided", "?", "undecided"),
    "gone": ("undecided", "−", "gone"),
    "cheaper": ("total", "÷", "costs less"),
    "better": ("slower", "▼", "grows slower"),
    "new": ("slower", "+", "new"),
    "same": ("plain", "=", "as before"),
}


def key_of(change: Change) -> str:
    """Return the kind of a change, one of `ORDER`."""
    if change.kind == "factor":
        return "dearer" if change.ratio > 1 else "cheaper"
    return change.kind


def change_badge(change: Change) -> str:
    """Return mark and word of a change; dashed where it does not decide."""
    kind, mark, word = _BADGES[key_of(change)]
    shape = "" if change.decides else " open"
    return f'<span class="badge {kind}{shape}"><span aria-hidden="true">{mark}</span>{word}</span>'


def changes(page: Page) -> Section:
    """Return the picture of the factors and the table of all changes; nothing without a baseline."""
    comparison = page.result.comparison
    if comparison is None:
        return Section.of()
    found = sorted(comparison, key=lambda change: ORDER.index(key_of(change)))
    caption = (
        f"Compared with {page.baseline_name}. Value now: over value then at the largest setting that both have, with two "
        f"standard errors; within {100 * comparison.tolerance:g} % nothing is said to have changed."
    )
    head = ("function", "metric", "growth then", "growth now", "value now", "at", "change")
    rows = [_row(change) for change in found]
    pieces: list[Piece | str] = ['<div class="sheet">']
    if any(m.isfinite(change.ratio) for change in found):
        pieces += [
            '<div class="figure">',
            Plot(plots.changes(comparison)),
            '<p class="figcaption">Values now over values then; bars are two standard errors, the shaded range counts as '
            "unchanged.</p></div>",
        ]
    return Section.of(*pieces, table(caption, head, rows, numeric=(4, 5)), "</div>")


def _row(change: Change) -> tuple[str, ...]:
    return (
        name(change.function),
        esc(METRIC_WORDS.get(change.metric, change.metric)),
        "–" if change.before is None else math(change.before),
        "–" if change.after is None else math(change.after),
        _ratio(change),
        f"{esc(change.parameter)} = {change.at:g}" if m.isfinite(change.at) else "–",
        change_badge(change),
    )


def _ratio(change: Change) -> str:
    if not m.isfinite(change.ratio):
        return "–"
    error = f" ± {200 * change.error:.2g} %" if change.error > 0 else ""
    return f"× {change.ratio:.3g}{error}"


def before_after(page: Page) -> Section:
    """Return a card for each function that changed, with what was measured before and now; the others by name."""
    comparison = page.result.comparison
    if comparison is None:
        return Section.of()
    found = sorted(comparison, key=lambda change: ORDER.index(key_of(change)))
    changed = [change for change in found if change.kind not in ("same", "new", "gone")]
    section = Section.of("" if changed else '<p class="soft">Nothing changed.</p>')
    for change in changed:
        section += _card(page, change)
    return section + Section.of(_unchanged([change for change in found if change.kind == "same"]))


def _card(page: Page, change: Change) -> Section:
    if page.baseline is None:
        return Section.of()
    key = (change.function, change.metric)
    entry = page.baseline[key]
    verdict = next(v for v in page.result.along_one if (v.function, v.metric) == key)
    before = plots.Overlaid("before", entry.x, entry.y, entry.model)
    after = plots.Overlaid.of(verdict, "now")
    word = METRIC_WORDS.get(change.metric, change.metric)
    return Section.of(
        f'<article class="sheet card"><header><h3>{name(change.function)}</h3> <span class="soft">{esc(word)}</span>'
        f'{change_badge(change)}</header><p class="sentence">{esc(change.sentence)}</p><div class="figure">',
        Plot(plots.overlay(change.function, [before, after], change.metric)),
        '<p class="figcaption">Measured values and models of both; thin beyond what was measured.</p></div></article>',
    )


def _unchanged(changes: Sequence[Change]) -> str:
    if not changes:
        return ""
    items = "".join(f"<li>{name(c.function)} ({esc(METRIC_WORDS.get(c.metric, c.metric))})</li>" for c in changes)
    return f'<h3>As before</h3><ul class="names">{items}</ul>'
