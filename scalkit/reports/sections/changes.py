"""The changes of each function since a baseline."""

import math as m
from collections.abc import Iterable
from typing import Any

from scalkit.judge.baseline.comparison import Change
from scalkit.judge.baseline.regression import named_values
from scalkit.plots.plot import plot
from scalkit.plots.style import METRIC_WORDS
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import badge, words_of

_ORDER = tuple(words_of("changes"))  # the most urgent kinds first


def _key(change: Change) -> str:
    """Return the kind of a change as ``words.toml`` names it: a factor rose, ``dearer``, or fell, ``cheaper``."""
    if change.kind == "factor":
        return "dearer" if change.ratio > 1 else "cheaper"
    return change.kind


def change_tiles(comparison: Iterable[Change]) -> list[tuple[str, str, object, str]]:
    """Return how many functions changed in which way."""
    keys = [_key(change) for change in comparison]
    tiles = words_of("change_tiles")["tiles"]
    return [
        (kind, mark, n, word) for names, kind, mark, word, is_always in tiles if (n := sum(map(keys.count, names))) or is_always
    ]


def changes(page: Page) -> dict[str, Any] | None:
    """Return the picture of the factors, a sentence for each function that changed, and the table of all changes."""
    comparison = page.result.comparison
    if comparison is None:
        return None
    rows = [
        (
            change,
            METRIC_WORDS.get(change.metric, change.metric),
            _ratio(change),
            named_values(change.place) or "–",
            badge(*words_of("changes")[_key(change)], is_open=not change.decides),
        )
        for change in sorted(comparison, key=lambda change: _ORDER.index(_key(change)))
    ]
    sentences = [change.sentence for change, *_ in rows if change.kind not in ("same", "new", "gone")]
    figure = plot(comparison) if any(m.isfinite(change.ratio) for change in comparison) else None
    return {"rows": rows, "sentences": sentences, "figure": figure, "tolerance": comparison.tolerance}


def _ratio(change: Change) -> str:
    if not m.isfinite(change.ratio):
        return "–"
    error = f" ± {200 * change.error:.2g} %" if change.error > 0 else ""
    return f"× {change.ratio:.3g}{error}"
