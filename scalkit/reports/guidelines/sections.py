"""The sections of a report about guidelines; each takes a `GuidelinePage` and returns what a notebook cell shows."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator

import numpy as np

from scalkit import __version__, plots
from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.sentences import setting, shown_ratio, titled
from scalkit.guidelines.snippet import c_snippet
from scalkit.markup import counted
from scalkit.measure.virtual_time import LEFT_OUT, machine_in_words, numbers_in_words
from scalkit.plots.guidelines.sides import group_of
from scalkit.reports.guidelines.page import GuidelinePage
from scalkit.reports.markup import details, esc, name, notes, table
from scalkit.reports.pieces import Piece, Plot, Section

__all__ = ["guideline_cards", "headline", "method", "prediction", "provenance", "remarks", "remedy", "summary"]

_TILES = (
    ("none", "violated", "✗", "violated", "the left side clearly takes longer"),
    ("total", "compliant", "✓", "compliant", "at most as slow as the threshold allows"),
    ("undecided", "inconclusive", "?", "inconclusive", "more runs would tell"),
    ("undecided", "undecidable", "?", "undecidable", "so few runs can never tell"),
)
_BADGES = {state: (rank, mark, word) for rank, state, mark, word, _ in _TILES}
_FROM_WORST = ("violated", "inconclusive", "undecidable", "compliant")
_MOST_CARDS = 12
_MOST_ROWS = 200


def headline(page: GuidelinePage) -> Section:
    """Return the top of the page."""
    counts = page.found.counts
    tiles = "".join(
        f'<li class="{rank}"><b><span aria-hidden="true">{mark} </span>{counts[state]}</b><span>{word}: {meaning}</span></li>'
        for rank, state, mark, word, meaning in _TILES
        if counts[state] or state in ("violated", "compliant")
    )
    data = page.found.data
    facts = {
        "measurements": ", ".join(page.named),
        "experiments": len(data.codes),
        "runs": len(data.runs),
        "guidelines": f"{len(page.found.guidelines)}, {len(page.found.not_tested or {})} of them without measurements",
        "report": page.made,
    }
    shown = "".join(f"<li>{esc(label)} <b>{esc(value)}</b></li>" for label, value in facts.items())
    if data.machine:
        shown += f"<li>run times <b>{esc(machine_in_words(data.machine))}</b></li>"
    if page.is_simulated:
        shown += "<li><b>simulated, not measured</b></li>"
    return Section.of(
        '<p class="kicker">Performance guidelines</p>'
        f"<h1>{esc(page.title)}</h1>"
        f'<p class="answer">{esc(page.answer)}</p>'
        f'<ul class="tiles">{tiles}</ul><ul class="facts">{shown}</ul>'
    )


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
        rows.append((name(title), esc(cells.loc[title].iloc[0]), _badge(worst), esc(", ".join(others))))
    if not rows:
        return Section.of('<p class="soft">No guideline could be tested with these measurements.</p>')
    head = ("guideline", "violated tests/tests (groups/groups)", "worst", "others")
    caption = f"A group is all values of {found.varied} at one setting of all other parameters."
    return Section.of(
        '<div class="sheet"><div class="figure">',
        Plot(plots.guideline_map(found)),
        '<p class="figcaption">Violated tests/tests of each guideline by '
        f"{esc(found.varied)}; the colour is the largest ratio. In parentheses: violations that do not decide.</p></div></div>",
        f'<div class="sheet">{table(caption, head, rows)}</div>',
    )


def remedy(page: GuidelinePage) -> Section:
    """Return what to use where a guideline is violated, and the C that does so."""
    if not page.remedies:
        return Section.of('<p class="soft">Nothing is violated that could be replaced.</p>')
    items = "".join(f"<li>{esc(one.sentence)}</li>" for one in page.remedies[:_MOST_ROWS])
    code = f"<pre>{esc(c_snippet(page.found))}</pre>"
    return Section.of(f'<div class="sheet"><ul>{items}</ul>{details("As C", code)}</div>')


def guideline_cards(page: GuidelinePage) -> Section:
    """Return a card for each group with a violation: those that decide first, the largest ratio first."""
    found = page.found
    order = found.violations.index.to_numpy()
    worst: dict[int, int] = {}
    for test in order.tolist():
        worst.setdefault(int(found.groups[test]), test)
    tests = list(worst.values())
    if not tests:
        return Section.of('<p class="soft">No guideline is violated, so there is nothing to look at closely.</p>')
    section = Section(())
    for test in tests[:_MOST_CARDS]:
        section += _card(page, test)
    more = len(tests) - _MOST_CARDS
    if more > 0:
        said = f"{counted(more, 'more group')} with violations: the table of all violations below has them."
        section += Section.of(f'<p class="soft">{said}</p>')
    return section + Section.of(_violations(page, order.tolist()))


def _card(page: GuidelinePage, test: int) -> Section:
    found = page.found
    guideline = found.guidelines[int(found.which[test])]
    where = setting(found, test, (found.varied,))
    at = [n for n in found.data.parameters if n != found.varied]
    focus = setting(found, test, at)
    doubt = (
        ""
        if found.columns["decides"][test]
        else notes(["Does not decide: more processes than cores, or other programs beside them."])
    )
    pieces: list[Piece | str] = [
        f'<article class="sheet card"><header><h3>{name(titled(guideline))}</h3>{_badge("violated")}</header>',
        f'<p class="sentence">{esc(found.sentence(test))}</p>{doubt}',
        f'<p class="soft">{esc(guideline.meaning)}</p><div class="pair"><div class="figure">',
        Plot(plots.guideline_overview(found, test)),
        f'<p class="figcaption">Both sides{esc(f" at {where}" if where else "")}.</p></div><div class="figure">',
        Plot(plots.guideline_ratios(found, test)),
        '<p class="figcaption">Left over right; the shaded range counts as equal.</p></div></div><div class="figure">',
        Plot(plots.guideline_focus(found, test)),
        f'<p class="figcaption">Within each run{esc(f", {focus}" if focus else "")}.</p></div>',
        _data(page, test),
        "</article>",
    ]
    return Section.of(*pieces)


def _data(page: GuidelinePage, test: int) -> str:
    found, rows = page.found, []
    for one in group_of(found, test).tolist():
        level = setting(found, one, [n for n in found.data.parameters if n != found.varied])
        rows.append((esc(level or "all"), *_numbers(page, one)))
    return details("Data", table("Tests of this group.", ("at", *_HEADS), rows, numeric=(1, 2, 3)))


_HEADS = ("ratio", "interval", "adjusted p", "state")


def _numbers(page: GuidelinePage, test: int) -> tuple[str, str, str, str]:
    columns = page.found.columns
    ratio, low, high, q = (float(columns[key][test]) for key in ("effect", "ratio_low", "ratio_high", "q_value"))
    interval = f"{shown_ratio(low)} to {shown_ratio(high)}" if np.isfinite([low, high]).all() else "–"
    return shown_ratio(ratio), interval, f"{q:.2g}" if np.isfinite(q) else "–", _badge(str(columns["state"][test]))


def _violations(page: GuidelinePage, order: list[int]) -> str:
    found = page.found
    rows = [
        (name(titled(found.guidelines[int(found.which[test])])), esc(setting(found, test)), *_numbers(page, test)[:3])
        for test in order[:_MOST_ROWS]
    ]
    more = (
        f"{_MOST_ROWS} of {len(order)} violations: those that decide first, the largest ratio first."
        if len(order) > _MOST_ROWS
        else "All violations: those that decide first, the largest ratio first."
    )
    head = ("guideline", "where", *_HEADS[:3])
    return f'<div class="sheet">{details("All violations", table(more, head, rows, numeric=(2, 3, 4)))}</div>'


def _badge(state: str) -> str:
    rank, mark, word = _BADGES[state]
    return f'<span class="badge {rank}"><span aria-hidden="true">{mark}</span>{word}</span>'


def prediction(page: GuidelinePage) -> Section:
    """Return what models say of larger scales; nothing where none were asked for."""
    if not page.predicted_along:
        return Section.of()
    if not page.predictions:
        said = f"No setting has five values of {page.predicted_along} to fit a model to."
        return Section.of(f'<p class="soft">{esc(said)}</p>')
    shown = [one for one in page.predictions if one.is_violation]
    rows = [
        (
            name(titled(one.guideline)),
            esc(", ".join(f"{key}={level}" for key, level in one.where.items()) or "everywhere"),
            f"{one.begins:.3g}",
            f"{one.low:.3g} to {one.high:.3g}" if np.isfinite([one.low, one.high]).all() else f"{one.low:.3g} or later",
            f"{100 * one.probability:.0f} %",
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
        f"{asked.level:.0%} interval",
        "probability in the end",
        "measured, too",
    )
    listing = table("Violations that models predict.", head, rows, numeric=(2, 3, 4)) if rows else ""
    return Section.of(f'<div class="sheet"><p>{esc(said)}</p>{listing}</div>')


def remarks(page: GuidelinePage) -> Section:
    """Return what a reader should know, and which guidelines lack measurements."""
    found = page.found
    without = [(name(titled(found.guidelines[i])), esc(why)) for i, why in (found.not_tested or {}).items()]
    listing = details(
        f"{counted(len(without), 'guideline')} without a test", table("Not tested.", ("guideline", "why"), without)
    )
    return Section.of(notes(found.warnings), f'<div class="sheet">{listing}</div>' if without else "")


def method(page: GuidelinePage) -> Section:
    """Return how a violation comes about, with the thresholds of this page."""
    limits = page.found.thresholds
    which = "p" if limits.adjust == "none" else "adjusted p"
    how = {"bh": "after Benjamini and Hochberg", "by": "after Benjamini and Yekutieli", "none": "not adjusted"}[
        limits.adjust
    ]
    steps: tuple[str, ...] = (
        "The median of each run, without values beyond Tukey's fence, is what counts; repetitions of one launch are never the "
        "sample.",
        "A one-sided rank test for each setting compares these medians: signed ranks run by run where enough runs are shared to "
        "show a single violation among all tests of a guideline, else the Wilcoxon rank sum. Guidelines of similarity are tested "
        "on two sides.",
        f"p-values of a guideline's tests are {how if limits.adjust == 'none' else f'adjusted {how}'}.",
        f"Violated: {which} up to {limits.p:g} and a ratio of at least {limits.v:g}. Compliant: the whole "
        f"{limits.confidence:.0%} interval of the ratio lies below that. Undecidable: so few runs can never reach that p.",
        "Measurements with more processes than cores, or beside other programs that used more than 10 % of them, do not "
        "decide the exit status.",
    )
    if page.found.data.exact:
        steps = (
            "The run times are those of a virtual clock: they repeat to the nanosecond, whatever else the machine does. So one "
            "run is enough, there is no chance to test for, and every test decides.",
            f"Violated: the left side takes at least {limits.v:g} times the right.",
        )
    items = "".join(f"<li>{esc(step)}</li>" for step in steps)
    return Section.of(f'<div class="sheet"><ol>{items}</ol></div>')


def provenance(page: GuidelinePage) -> Section:
    """Return where the numbers come from."""
    rows = [(esc(label), f'<span class="lines">{esc(value)}</span>') for label, value in _facts(page)]
    hashes = [(esc(file), f'<span class="hash">{esc(digest)}</span>') for file, digest in page.hashes.items()]
    listing = table(f"{counted(len(hashes), 'input file')}.", ("file", "SHA-256"), hashes)
    return Section.of(
        f'<div class="sheet">{table("Of the measurements and of this report.", ("what", "value"), rows)}',
        details("Input files and their hashes", listing) if hashes else "",
        "</div>",
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
        yield "load of other programs", f"{100 * load:.0f} %"
    yield "experiments", f"{len(data.codes)} in {counted(len(data.runs), 'run')}"
    yield "parameters", "; ".join(f"{key}: {_levels(data.levels[key])}" for key in data.parameters)
    lacking = int((data.rows == MISSING).sum())
    if lacking:
        yield "missing", f"{lacking} of {data.rows.size} experiments of runs"
    yield "varied", found.varied
    yield "scalkit", __version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "packages", ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("numpy", "scipy", "pandas", "plotly"))
    yield "report written", page.made


def _levels(levels: tuple[object, ...]) -> str:
    shown = [str(level) for level in levels]
    return ", ".join(shown) if len(shown) <= 12 else f"{len(shown)} values, {shown[0]} to {shown[-1]}"
