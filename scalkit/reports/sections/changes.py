"""What became of each function since a baseline."""

import math as m
from collections.abc import Sequence

from markupsafe import Markup

from scalkit.fit.several.model import SeveralModel
from scalkit.plots.plot import plot
from scalkit.plots.style import METRIC_WORDS
from scalkit.plots.verdicts.overlay import Overlaid, overlay
from scalkit.reports.answer import status_sentence
from scalkit.reports.page import Page
from scalkit.reports.pieces import Drawable, Section, details, figure, math, name, piece, soft, table, words_of
from scalkit.reports.sections.summary import facts
from scalkit.text import as_percent, counted
from scalkit.units import format_quantity
from scalkit.validation import Verdict
from scalkit.validation.baseline import BaselineEntry
from scalkit.validation.baseline.comparison import Change
from scalkit.validation.baseline.regression import named_values

_MOST_ROWS = 500

ORDER = ("worse", "dearer", "undecided", "gone", "cheaper", "better", "new", "same")
"""Kinds of changes, the most urgent first; ``dearer`` and ``cheaper`` are a factor that rose or fell."""

_BADGES = words_of("changes")


def key_of(change: Change) -> str:
    """Return the kind of a change, one of `ORDER`."""
    if change.kind == "factor":
        return "dearer" if change.ratio > 1 else "cheaper"
    return change.kind


def change_badge(change: Change) -> Markup:
    """Return mark and word of a change; dashed where it does not decide."""
    return piece("badge", *_BADGES[key_of(change)], "" if change.decides else " open")


def changes(page: Page) -> Section:
    """Return the picture of the factors and the table of all changes; nothing without a baseline."""
    comparison = page.result.comparison
    if comparison is None:
        return Section.of()
    found = sorted(comparison, key=lambda change: ORDER.index(key_of(change)))
    caption = (
        f"Compared with {page.baseline_name}. Value now: over value then where it changed, else at the largest point, with "
        f"two standard errors; within {as_percent(comparison.tolerance, 'g')} nothing is said to have changed."
    )
    head = ("function", "metric", "growth then", "growth now", "value now", "at", "change")
    rows = [_row(change) for change in found]
    said = "Values now over values then; bars are two standard errors, the shaded range counts as unchanged."
    has_ratios = any(m.isfinite(change.ratio) for change in found)
    drawn = figure(plot(comparison), said) if has_ratios else ()
    return Section.sheet(*drawn, table(caption, head, rows, numeric=(4, 5)))


def _row(change: Change) -> tuple[object, ...]:
    return (
        name(change.function),
        METRIC_WORDS.get(change.metric, change.metric),
        "–" if change.before is None else math(change.before),
        "–" if change.after is None else math(change.after),
        _ratio(change),
        named_values(change.place) or "–",
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
    section = Section.of("" if changed else soft("Nothing changed."))
    for change in changed:
        section += _card(page, change)
    return section + _unchanged([change for change in found if change.kind == "same"])


def _card(page: Page, change: Change) -> Section:
    if page.baseline is None:
        return Section.of()
    key = (change.function, change.metric)
    entry = page.baseline[key]
    verdict = next(v for v in page.result.verdicts if (v.function, v.metric) == key)
    drawn = _overlaid(entry, verdict) if isinstance(verdict, Verdict) else None
    data = "" if isinstance(verdict, Verdict) else _points_of(change, entry)
    word = METRIC_WORDS.get(change.metric, change.metric)
    return Section.rendered("change.html", change=change, word=word, badge=change_badge(change), figure=drawn, data=data)


def _overlaid(entry: BaselineEntry, verdict: Verdict) -> Drawable | None:
    """Return the values and models before and now along the only parameter."""
    if isinstance(entry.model, SeveralModel):
        return None
    before = Overlaid("before", [x for (x,) in entry.points], entry.y, entry.model)
    drawn: Drawable = overlay(entry.function, [before, Overlaid.of(verdict, "now")], entry.metric)
    return drawn


def _points_of(change: Change, entry: BaselineEntry) -> Markup:
    """Return the table of the values now over those before at the points of several parameters."""
    found = change.regression
    if found is None:
        return soft("Too few points are shared to compare the values.")
    before = entry.over(found.parameters)
    then = dict(zip(before.points, before.y, strict=True))
    shown = zip(found.points.tolist()[:_MOST_ROWS], found.ratio.tolist(), found.concerned.tolist(), strict=False)
    rows = [
        (
            *(f"{x:g}" for x in point),
            format_quantity(then[tuple(point)], entry.model.unit),
            format_quantity(then[tuple(point)] * ratio, entry.model.unit),
            f"× {ratio:.3g}",
            "changed" if found.shape and is_concerned else "–",
        )
        for point, ratio, is_concerned in shown
    ]
    head = (*found.parameters, "before", "now", "now over before", "")
    more = len(found.points) - len(rows)
    left = f" {counted(more, 'more point')} left out." if more else ""
    caption = f"Values of {change.function} before and now.{left}"
    return details("Data", table(caption, head, rows, numeric=range(len(head) - 1)))


def _unchanged(changes: Sequence[Change]) -> Section:
    names = [Markup("{} ({})").format(name(c.function), METRIC_WORDS.get(c.metric, c.metric)) for c in changes]
    return Section.of(Markup("<h3>As before</h3>") + piece("bullets", names, "names") if names else "")


_TILES = words_of("regression")["tiles"]
_OTHER = words_of("regression")["other"]


def regression_headline(page: Page) -> Section:
    """Return the top of the page: the answer, and how many functions changed in which way."""
    keys = [key_of(change) for change in page.result.comparison or ()]
    tiles = [(kind, mark, sum(map(keys.count, each)), word) for each, kind, mark, word in _TILES]
    tiles += [(kind, mark, keys.count(key), word) for key, kind, mark, word in _OTHER if key in keys]
    known = [("baseline", page.baseline_name), *facts(page)]
    return Section.top("Regression report", page, known, tiles, _answer(page))


def _answer(page: Page) -> str:
    comparison = page.result.comparison
    if comparison is None:
        return page.answer
    found = sorted(comparison, key=lambda change: ("worse", "dearer").index(key_of(change)) if change.is_slower else 2)
    worse = [change.sentence for change in found if change.is_slower]
    sentences = [f"{counted(len(comparison), 'function')} compared with {page.baseline_name}."]
    sentences += worse[:3] if worse else ["Nothing got worse."]
    sentences += [f"{len(worse) - 3} more got worse."] * (len(worse) > 3)
    return " ".join([*sentences, status_sentence(page.status)])
