"""The changes of each function since a baseline."""

import math as m
from collections.abc import Iterable
from typing import Any

from scalkit.judge import Verdict
from scalkit.judge.baseline import BaselineEntry
from scalkit.judge.baseline.comparison import Change, Comparison
from scalkit.judge.baseline.regression import named_values
from scalkit.plots.plot import plot
from scalkit.plots.style import METRIC_WORDS
from scalkit.plots.verdicts.overlay import Overlaid, overlay
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import Drawable, badge, words_of
from scalkit.support.units import format_quantity

_MOST_ROWS = 500
_ORDER = tuple(words_of("changes"))  # the most urgent kinds first


def _key(change: Change) -> str:
    """Return the kind of a change as ``words.toml`` names it: a factor rose, ``dearer``, or fell, ``cheaper``."""
    if change.kind == "factor":
        return "dearer" if change.ratio > 1 else "cheaper"
    return change.kind


def _sorted(comparison: Comparison) -> list[Change]:
    return sorted(comparison, key=lambda change: _ORDER.index(_key(change)))


def change_tiles(comparison: Iterable[Change]) -> list[tuple[str, str, object, str]]:
    """Return how many functions changed in which way."""
    keys = [_key(change) for change in comparison]
    tiles = words_of("change_tiles")["tiles"]
    return [
        (kind, mark, n, word) for names, kind, mark, word, is_always in tiles if (n := sum(map(keys.count, names))) or is_always
    ]


def changes(page: Page) -> dict[str, Any] | None:
    """Return the picture of the factors and the table of all changes."""
    comparison = page.result.comparison
    if comparison is None:
        return None
    rows = [
        (change, METRIC_WORDS.get(change.metric, change.metric), _ratio(change), *_shown(change))
        for change in _sorted(comparison)
    ]
    has_ratios = any(m.isfinite(change.ratio) for change in comparison)
    return {"rows": rows, "figure": plot(comparison) if has_ratios else None, "tolerance": comparison.tolerance}


def _shown(change: Change) -> tuple[str, object]:
    """Return the place of a change, and its badge, dashed where it does not decide."""
    return named_values(change.place) or "–", badge(*words_of("changes")[_key(change)], is_open=not change.decides)


def _ratio(change: Change) -> str:
    if not m.isfinite(change.ratio):
        return "–"
    error = f" ± {200 * change.error:.2g} %" if change.error > 0 else ""
    return f"× {change.ratio:.3g}{error}"


def before_after(page: Page) -> dict[str, Any] | None:
    """Return a card for each function that changed, with the values before and now; the others by name."""
    comparison = page.result.comparison
    if comparison is None or page.baseline is None:
        return None
    changed = [change for change in _sorted(comparison) if change.kind not in ("same", "new", "gone")]
    same = [(c.function, METRIC_WORDS.get(c.metric, c.metric)) for c in comparison if c.kind == "same"]
    return {"cards": [_card(page, change, page.baseline) for change in changed], "same": same}


def _card(page: Page, change: Change, baseline: Any) -> dict[str, Any]:
    entry: BaselineEntry = baseline[change.function, change.metric]
    verdict = page.result[change.function, change.metric]
    word = METRIC_WORDS.get(change.metric, change.metric)
    card = {"change": change, "word": word, "badge": _shown(change)[1], "figure": None, "rows": None}
    if isinstance(verdict, Verdict):
        return {**card, "figure": _overlaid(entry, verdict)}
    return {**card, **_points(change, entry)}


def _overlaid(entry: BaselineEntry, verdict: Verdict) -> Drawable | None:
    """Return the values and models before and now along the only parameter."""
    if len(entry.parameters) > 1:
        return None
    before = Overlaid("before", [x for (x,) in entry.points], entry.y, entry.model)
    drawn: Drawable = overlay(entry.function, [before, Overlaid.of(verdict, "now")], entry.metric)
    return drawn


def _points(change: Change, entry: BaselineEntry) -> dict[str, Any]:
    """Return the values now over those before at the points of several parameters; no rows if too few points are shared."""
    found = change.regression
    if found is None:
        return {"rows": []}
    before = entry.over(found.parameters)
    then = dict(zip(before.points, before.y, strict=True))
    unit = entry.model.unit
    rows = [
        (
            *(f"{x:g}" for x in point),
            format_quantity(then[tuple(point)], unit),
            format_quantity(then[tuple(point)] * ratio, unit),
            f"× {ratio:.3g}",
            "changed" if found.shape and is_concerned else "–",
        )
        for point, ratio, is_concerned in zip(
            found.points.tolist()[:_MOST_ROWS], found.ratio.tolist(), found.concerned.tolist(), strict=False
        )
    ]
    head = (*found.parameters, "before", "now", "now over before", "")
    return {"rows": rows, "head": head, "more": len(found.points) - len(rows)}
