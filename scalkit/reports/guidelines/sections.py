"""The sections of a report about guidelines; each takes a `GuidelinePage` and returns what a notebook cell shows."""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.sentences import setting, shown_ratio, titled
from scalkit.guidelines.snippet import c_snippet
from scalkit.markup import counted
from scalkit.measure.virtual_time import LEFT_OUT, machine_in_words, numbers_in_words
from scalkit.plots.guidelines.overview import guideline_focus, guideline_overview, guideline_ratios
from scalkit.plots.guidelines.sides import group_of
from scalkit.plots.plot import plot
from scalkit.reports.guidelines.page import GuidelinePage
from scalkit.reports.pieces import Section, details, figure, hashes, lines, name, notes, piece, soft, table, words_of
from scalkit.reports.writer.content import made_with
from scalkit.text import as_percent, percent

_TILES = words_of("guidelines")["tiles"]
_BADGES = {state: (rank, mark, word) for rank, state, mark, word, _ in _TILES}
_FROM_WORST = ("violated", "inconclusive", "undecidable", "compliant")
_DOUBT = "Does not decide: more processes than cores, or other programs beside them."
_MOST_CARDS = 12
_MOST_ROWS = 200


def headline(page: GuidelinePage) -> Section:
    """Return the top of the page."""
    counts, data = page.found.counts, page.found.data
    tiles = [
        (rank, mark, counts[state], f"{word}: {meaning}")
        for rank, state, mark, word, meaning in _TILES
        if counts[state] or state in ("violated", "compliant")
    ]
    facts = [
        ("measurements", ", ".join(page.named)),
        ("experiments", len(data.codes)),
        ("runs", len(data.runs)),
        ("guidelines", f"{len(page.found.guidelines)}, {len(page.found.not_tested or {})} of them without measurements"),
        ("report", page.made),
        ("run times", machine_in_words(data.machine) if data.machine else ""),
        ("", "simulated, not measured" if page.is_simulated else ""),
    ]
    return Section.top("Performance guidelines", page, facts, tiles)


def summary(page: GuidelinePage) -> Section:
    """Return the map of guidelines by size, and their table: violated tests of all, groups of all, and the other states."""
    found, cells = page.found, page.found.table()
    rows = []
    for number, guideline in enumerate(found.guidelines):
        title = titled(guideline)
        if number in (found.not_tested or {}):
            continue
        states = found.columns["state"][found.which == number]
        worst = next(state for state in _FROM_WORST if state in states)
        others = [f"{np.count_nonzero(states == s)} {s}" for s in list(_BADGES)[1:] if (states == s).any()]
        rows.append((name(title), cells.loc[title].iloc[0], _badge(worst), ", ".join(others)))
    if not rows:
        return Section.of(soft("No guideline could be tested with these measurements."))
    head = ("guideline", "violated tests/tests (groups/groups)", "worst", "others")
    caption = f"A group is all values of {found.varied} at one setting of all other parameters."
    said = (
        f"Violated tests/tests of each guideline by {found.varied}; the colour is the largest ratio. In parentheses: violations "
        "that do not decide."
    )
    return Section.sheet(*figure(plot(found), said)) + Section.sheet(table(caption, head, rows))


def remedy(page: GuidelinePage) -> Section:
    """Return what to use where a guideline is violated, and the C that does so."""
    if not page.remedies:
        return Section.of(soft("Nothing is violated that could be replaced."))
    code = Markup("<pre>{}</pre>").format(c_snippet(page.found))
    listed = piece("bullets", [one.sentence for one in page.remedies[:_MOST_ROWS]])
    return Section.sheet(listed, details("As C", code))


def guideline_cards(page: GuidelinePage) -> Section:
    """Return a card for each group with a violation: those that decide first, the largest ratio first."""
    found = page.found
    order = found.violations.index.to_numpy()
    worst: dict[int, int] = {}
    for test in order.tolist():
        worst.setdefault(int(found.groups[test]), test)
    tests = list(worst.values())
    if not tests:
        return Section.of(soft("No guideline is violated, so there is nothing to look at closely."))
    section = Section(())
    for test in tests[:_MOST_CARDS]:
        section += _card(page, test)
    more = len(tests) - _MOST_CARDS
    if more > 0:
        said = f"{counted(more, 'more group')} with violations: the table of all violations below has them."
        section += Section.of(soft(said))
    return section + _violations(page, order.tolist())


def _card(page: GuidelinePage, test: int) -> Section:
    found = page.found
    guideline = found.guidelines[int(found.which[test])]
    doubts = [] if found.columns["decides"][test] else [_DOUBT]
    return Section.rendered(
        "guideline_card.html",
        title=titled(guideline),
        badge=_badge("violated"),
        sentence=found.sentence(test),
        doubts=doubts,
        meaning=guideline.meaning,
        overview=guideline_overview(found, test),
        ratios=guideline_ratios(found, test),
        focus=guideline_focus(found, test),
        where=setting(found, test, (found.varied,)),
        at=setting(found, test, [n for n in found.data.parameters if n != found.varied]),
        data=_data(page, test),
    )


def _data(page: GuidelinePage, test: int) -> Markup:
    found, rows = page.found, []
    for one in group_of(found, test).tolist():
        level = setting(found, one, [n for n in found.data.parameters if n != found.varied])
        rows.append((level or "all", *_numbers(page, one)))
    return details("Data", table("Tests of this group.", ("at", *_HEADS), rows, numeric=(1, 2, 3)))


_HEADS = ("ratio", "interval", "adjusted p", "state")


def _numbers(page: GuidelinePage, test: int) -> tuple[object, ...]:
    columns = page.found.columns
    ratio, low, high, q = (float(columns[key][test]) for key in ("effect", "ratio_low", "ratio_high", "q_value"))
    interval = f"{shown_ratio(low)} to {shown_ratio(high)}" if np.isfinite([low, high]).all() else "–"
    return shown_ratio(ratio), interval, f"{q:.2g}" if np.isfinite(q) else "–", _badge(str(columns["state"][test]))


def _violations(page: GuidelinePage, order: list[int]) -> Section:
    found = page.found
    rows = [
        (name(titled(found.guidelines[int(found.which[test])])), setting(found, test), *_numbers(page, test)[:3])
        for test in order[:_MOST_ROWS]
    ]
    more = (
        f"{_MOST_ROWS} of {len(order)} violations: those that decide first, the largest ratio first."
        if len(order) > _MOST_ROWS
        else "All violations: those that decide first, the largest ratio first."
    )
    head = ("guideline", "where", *_HEADS[:3])
    return Section.sheet(details("All violations", table(more, head, rows, numeric=(2, 3, 4))))


def _badge(state: str) -> Markup:
    return piece("badge", *_BADGES[state])


def prediction(page: GuidelinePage) -> Section:
    """Return what models say of larger scales; nothing where none were asked for."""
    if not page.predicted_along:
        return Section.of()
    if not page.predictions:
        said = f"No setting has five values of {page.predicted_along} to fit a model to."
        return Section.of(soft(said))
    shown = [one for one in page.predictions if one.is_violation]
    rows = [
        (
            name(titled(one.guideline)),
            ", ".join(f"{key}={level}" for key, level in one.where.items()) or "everywhere",
            f"{one.begins:.3g}",
            f"{one.low:.3g} to {one.high:.3g}" if np.isfinite([one.low, one.high]).all() else f"{one.low:.3g} or later",
            percent(one.probability, short=True),
            "yes" if one.is_measured else "no",
        )
        for one in shown
    ]
    asked = page.predictions[0]
    said = (
        f"{len(shown)} of {counted(len(page.predictions), 'prediction')} up to {asked.parameter} = {asked.highest:g} "
        f"{'is' if len(shown) == 1 else 'are'} a violation. Nothing here is measured."
    )
    head = (
        "guideline",
        "where",
        f"from {asked.parameter}",
        f"{as_percent(asked.level)} interval",
        "probability in the end",
        "measured, too",
    )
    listing = table("Violations that models predict.", head, rows, numeric=(2, 3, 4)) if rows else ""
    return Section.sheet(Markup("<p>{}</p>").format(said), listing)


def remarks(page: GuidelinePage) -> Section:
    """Return what a reader should know, and which guidelines lack measurements."""
    found = page.found
    without = [(name(titled(found.guidelines[i])), why) for i, why in (found.not_tested or {}).items()]
    listing = details(f"{counted(len(without), 'guideline')} without a test", table("Not tested.", ("guideline", "why"), without))
    return Section.of(notes(found.warnings)) + (Section.sheet(listing) if without else Section.of())


def method(page: GuidelinePage) -> Section:
    """Return how a violation comes about, with the thresholds of this page."""
    found = page.found
    return Section.rendered("guideline_method.html", limits=found.thresholds, exact=found.data.exact)


def provenance(page: GuidelinePage) -> Section:
    """Return where the numbers come from."""
    files = hashes(page.hashes.items())
    listing = table(f"{counted(len(files), 'input file')}.", ("file", "SHA-256"), files)
    return Section.sheet(
        table("Of the measurements and of this report.", ("what", "value"), lines(_facts(page))),
        details("Input files and their hashes", listing) if files else "",
    )


def _facts(page: GuidelinePage) -> Iterator[tuple[str, str]]:
    found = page.found
    data = found.data
    yield "measurements", ", ".join(page.named) + (" (simulated, not measured)" if page.is_simulated else "")
    facts = page.facts
    for key, label in (("host", "host"), ("mpi_library", "MPI library"), ("started", "measured")):
        if facts.get(key):
            yield label, str(facts[key])
    if data.machine:
        yield "clock", f"virtual: {machine_in_words(data.machine)}, {numbers_in_words(data.machine)}; {LEFT_OUT}"
    if isinstance(load := facts.get("foreign_load"), float) and np.isfinite(load):
        yield "load of other programs", as_percent(load)
    yield "experiments", f"{len(data.codes)} in {counted(len(data.runs), 'run')}"
    yield "parameters", "; ".join(f"{key}: {_levels(data.levels[key])}" for key in data.parameters)
    lacking = int((data.rows == MISSING).sum())
    if lacking:
        yield "missing", f"{lacking} of {data.rows.size} experiments of runs"
    yield "varied", found.varied
    yield from made_with("numpy", "scipy", "pandas", "plotly").items()
    yield "report written", page.made


def _levels(levels: tuple[object, ...]) -> str:
    shown = [str(level) for level in levels]
    return ", ".join(shown) if len(shown) <= 12 else f"{len(shown)} values, {shown[0]} to {shown[-1]}"
