"""The top of a report about a candidate and its baseline."""

from __future__ import annotations

from scalkit.reports.answer import status_sentence
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.reports.sections.changes import key_of
from scalkit.reports.sections.headline import facts
from scalkit.text import counted

_TILES = (
    (("worse",), "none", "▲", "got worse: grows faster than before"),
    (("dearer",), "approximate", "×", "costs more, without growing faster"),
    (("better", "cheaper"), "total", "▼", "got better: grows slower or costs less"),
    (("same",), "", "=", "as before"),
)
_OTHER = (
    ("undecided", "undecided", "?", "undecided: the data do not tell"),
    ("gone", "undecided", "−", "gone"),
    ("new", "slower", "+", "new"),
)


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
