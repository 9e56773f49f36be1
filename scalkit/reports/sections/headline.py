"""The top of the page: title, the answer in a few sentences, counts of the answers, what was measured where."""

from __future__ import annotations

from collections.abc import Iterator

from scalkit.measure import fixed_parameters
from scalkit.measure.virtual_time import is_virtual, machine_of, numbers_in_words
from scalkit.plots.style import ANSWER_KEYS, RANK_MARKS, rank_key
from scalkit.reports.answer import details, headline_sentence
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section, Tile

_MOST_VALUES = 40

_MEANINGS = {
    "fix": "to fix: more than is claimed",
    "cannot tell": "cannot tell: the data do not decide",
    "fine": "fine: as claimed or better",
}


def headline(page: Page) -> Section:
    """Return the top of the page."""
    tiles = [*_tiles(page), *_rules(page)]
    return Section.top("Scalability report", page, facts(page), tiles, headline_sentence(page), details(page))


def _tiles(page: Page) -> Iterator[Tile]:
    """Yield kind, mark, number of verdicts and what they are, for each answer; the worst first."""
    for answer, count in page.result.answers.items():
        mine = [v for v in page.result.verdicts if v.answer == answer]
        better, idle = sum(rank_key(v) == "slower" for v in mine), sum(not v.decides for v in mine)
        extra = [f"{better} better"] * bool(better and answer == "fine")
        extra += [f"{idle} not deciding"] * bool(idle and answer == "cannot tell")
        if count or answer != "cannot tell":
            key = ANSWER_KEYS[answer] if count else ""
            yield key, RANK_MARKS[ANSWER_KEYS[answer]], count, "; ".join([_MEANINGS[answer], *extra])


def _rules(page: Page) -> Iterator[Tile]:
    found = [rule.status for rule in page.result.rules]
    broken, unknown = found.count("violated") + found.count("predicted"), found.count("unknown")
    extra = f"; {unknown} not to be checked" if unknown else ""
    if broken:
        yield "", "⚠", broken, f"of {len(found)} rules violated, or predicted to be{extra}"
    elif found:
        yield "", "✓", len(found) - unknown, f"rules hold, as measured and as predicted{extra}"


def _settings(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the measured values of each parameter, and the value of each parameter that is fixed."""
    found: dict[str, set[float]] = {}
    for verdict in page.result.verdicts:
        for name in verdict.parameters:
            found.setdefault(name, set()).update(verdict.series.shown_along(name).tolist())
    for name, values in found.items():
        shown = [f"{x:g}" for x in sorted(values)]
        yield (
            name,
            ", ".join(shown) if len(shown) <= _MOST_VALUES else f"{len(shown)} values, {shown[0]} to {shown[-1]}",
        )
    for name, value in fixed_parameters(page.data).items():
        yield name, f"{value:g}"


def facts(page: Page) -> list[tuple[str, object]]:
    """Return what was measured where, by name; what is unknown is empty."""
    attrs = page.data.attrs
    return [
        ("measured on", attrs.get("measured_on")),
        ("library", page.library),
        *_settings(page),
        ("runs", int(page.data.sizes.get("run", 1))),
        ("message", f"{int(attrs['message_size_B'])} B" if attrs.get("message_size_B") else ""),
        ("measured", page.measured_at),
        ("report", page.made),
        ("", "simulated, not measured" if int(attrs.get("simulated", 0)) else ""),
        ("clock", f"virtual: {numbers_in_words(machine_of(attrs))}" if is_virtual(attrs) else ""),
    ]
