"""The top of the page: title, the answer in a few sentences, counts of the ranks, what was measured where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scalkit.measure import fixed_parameters
from scalkit.measure.virtual_time import is_virtual, machine_of, numbers_in_words
from scalkit.plots.style import RANK_MARKS, rank_key
from scalkit.reports.markup import esc
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import RuleResult

__all__ = ["facts", "headline"]

_MOST_VALUES = 40

_TILES = (
    ("total", "total match", "grows exactly as expected"),
    ("approximate", "approximate", "within the deviation limits"),
    ("none", "no match", "outside the limits"),
    ("undecided", "undecided", "the data do not tell"),
)


def headline(page: Page) -> Section:
    """Return the top of the page."""
    return Section.of(
        '<p class="kicker">Scalability report</p>'
        f"<h1>{esc(page.title)}</h1>"
        f'<p class="answer">{esc(page.answer)}</p>'
        f'<ul class="tiles">{_tiles(page)}</ul>'
        f'<ul class="facts">{facts(page)}</ul>'
    )


def _tiles(page: Page) -> str:
    verdicts = page.result.verdicts
    items = []
    for rank, word, meaning in _TILES:
        mine = [v for v in verdicts if v.verdict == rank]
        if rank == "undecided" and not mine:
            continue
        better = sum(rank_key(v) == "slower" for v in mine)
        idle = sum(not v.decides for v in mine)
        extra = [f"{better} better than expected"] * bool(better) + [f"{idle} not deciding"] * bool(idle)
        count = f'<b><span aria-hidden="true">{RANK_MARKS[rank]} </span>{len(mine)}</b>'
        items.append(f'<li class="{rank}">{count}<span>{word}: {"; ".join([meaning, *extra])}</span></li>')
    rules = page.result.rules
    if rules:
        items.append(f"<li>{_rules(rules)}</li>")
    return "".join(items)


def _rules(rules: Sequence[RuleResult]) -> str:
    broken = sum(rule.status in ("violated", "predicted") for rule in rules)
    unknown = sum(rule.status == "unknown" for rule in rules)
    extra = f"; {unknown} not to be checked" if unknown else ""
    if broken:
        return f"<b>⚠ {broken}</b><span>of {len(rules)} rules violated, or predicted to be{extra}</span>"
    return f"<b>✓ {len(rules) - unknown}</b><span>rules hold, as measured and as predicted{extra}</span>"


def _settings(page: Page) -> Iterator[tuple[str, str]]:
    """Return the measured values of each parameter, and those of which one was selected."""
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


def facts(page: Page) -> str:
    """Return what was measured where, as items of a list."""
    attrs = page.data.attrs
    runs = int(page.data.sizes.get("run", 1))
    known = [
        ("measured on", attrs.get("measured_on")),
        ("library", page.library),
        *_settings(page),
        ("runs", runs),
        ("message", f"{int(attrs['message_size_B'])} B" if attrs.get("message_size_B") else None),
        ("measured", page.measured_at),
        ("report", page.made),
    ]
    shown = [f"<li>{esc(label)} <b>{esc(value)}</b></li>" for label, value in known if value not in (None, "")]
    if int(attrs.get("simulated", 0)):
        shown.append("<li><b>simulated, not measured</b></li>")
    if is_virtual(attrs):
        shown.append(f"<li>clock <b>virtual: {esc(numbers_in_words(machine_of(attrs)))}</b></li>")
    return "".join(shown)
