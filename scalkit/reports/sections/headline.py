"""The top of the page: title, the answer in a few sentences, counts of the ranks, what was measured where."""

from __future__ import annotations

from collections.abc import Iterator

from scalkit.measure import fixed_parameters
from scalkit.measure.virtual_time import is_virtual, machine_of, numbers_in_words
from scalkit.plots.style import RANK_MARKS, rank_key
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section, Tile

_MOST_VALUES = 40

_TILES = (
    ("total", "total match", "grows exactly as expected"),
    ("approximate", "approximate", "within the deviation limits"),
    ("none", "no match", "outside the limits"),
    ("undecided", "undecided", "the data do not tell"),
)


def headline(page: Page) -> Section:
    """Return the top of the page."""
    return Section.top("Scalability report", page, facts(page), [*_tiles(page), *_rules(page)])


def _tiles(page: Page) -> Iterator[Tile]:
    """Yield rank, mark, number of verdicts, and what they are."""
    for rank, word, meaning in _TILES:
        mine = [v for v in page.result.verdicts if v.verdict == rank]
        better, idle = sum(rank_key(v) == "slower" for v in mine), sum(not v.decides for v in mine)
        extra = [f"{better} better than expected"] * bool(better) + [f"{idle} not deciding"] * bool(idle)
        if mine or rank != "undecided":
            yield rank, RANK_MARKS[rank], len(mine), f"{word}: {'; '.join([meaning, *extra])}"


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
