"""The sections of a report about guidelines."""

from typing import Any

import numpy as np

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.sentences import CONFIDENCE, setting, shown_ratio, titled
from scalkit.measure.virtual_time import LEFT_OUT, machine_in_words, numbers_in_words
from scalkit.plots.guidelines.overview import guideline_focus, guideline_overview, guideline_ratios
from scalkit.plots.guidelines.sides import group_of
from scalkit.plots.plot import plot
from scalkit.reports.content import made_with
from scalkit.reports.pages.guidelines import GuidelinePage
from scalkit.reports.pieces import badge, words_of
from scalkit.support.text import as_percent

_STATES = words_of("guideline_states")  # the worst first
_MOST_CARDS = 12
_MOST_ROWS = 200
_MOST_LEVELS = 12  # of a parameter that are listed one by one
_NUMBERS = ("ratio", "interval", "adjusted p", "state")


def _badge(state: str) -> str:
    return badge(*_STATES[state][:3])


def headline(page: GuidelinePage) -> dict[str, Any]:
    """Return the number of tests with each outcome, and what was measured."""
    counts, data = page.found.counts, page.found.data
    tiles = [
        (kind, mark, counts[state], f"{word}: {meaning}")
        for state, (kind, mark, word, meaning) in _STATES.items()
        if counts[state] or state in ("violated", "compliant")
    ]
    facts = [
        ("measurements", ", ".join(page.named)),
        ("experiments", len(data.codes)),
        ("runs", len(data.runs)),
        ("guidelines", f"{len(page.found.guidelines)}, {len(page.found.not_tested)} of them without measurements"),
        ("report", page.made),
        ("run times", machine_in_words(data.machine) if data.machine else ""),
        ("", "simulated, not measured" if any("simulated" in caveat for caveat in data.caveats) else ""),
    ]
    return {"facts": facts, "tiles": tiles}


def summary(page: GuidelinePage) -> dict[str, Any]:
    """Return the map of guidelines by size, and their table: violated tests of all, groups of all, and the other states."""
    found, cells, rows = page.found, page.found.table(), []
    for number, guideline in enumerate(found.guidelines):
        if number in found.not_tested:
            continue
        states = found.columns["state"][found.which == number].tolist()
        worst = next(state for state in _STATES if state in states)
        others = [f"{states.count(state)} {state}" for state in _STATES if state != "violated" and state in states]
        rows.append((titled(guideline), cells.loc[titled(guideline)].iloc[0], _badge(worst), ", ".join(others)))
    return {"rows": rows, "map": plot(found) if rows else None}


def remedy(page: GuidelinePage) -> dict[str, Any]:
    """Return what to use where a guideline is violated."""
    return {"sentences": [one.sentence for one in page.remedies[:_MOST_ROWS]]}


def cards(page: GuidelinePage) -> dict[str, Any]:
    """Return a card for each group with a violation: those that decide first, the largest ratio first."""
    found = page.found
    order = found.violations.index.to_numpy().tolist()
    worst: dict[int, int] = {}
    for test in order:
        worst.setdefault(int(found.groups[test]), test)
    tests = list(worst.values())
    rows = [
        (titled(found.guidelines[int(found.which[test])]), setting(found, test), *_numbers(page, test)[:3])
        for test in order[:_MOST_ROWS]
    ]
    shown = {"more": len(tests) - _MOST_CARDS, "rows": rows, "total": len(order), "head": ("guideline", "where", *_NUMBERS[:3])}
    return {"cards": [_card(page, test) for test in tests[:_MOST_CARDS]], **shown}


def _card(page: GuidelinePage, test: int) -> dict[str, Any]:
    found = page.found
    guideline = found.guidelines[int(found.which[test])]
    others = [name for name in found.data.parameters if name != found.varied]
    rows = [(setting(found, one, others) or "all", *_numbers(page, one)) for one in group_of(found, test).tolist()]
    return {
        "title": titled(guideline),
        "badge": _badge("violated"),
        "sentence": found.sentence(test),
        "decides": bool(found.columns["decides"][test]),
        "meaning": guideline.meaning,
        "overview": guideline_overview(found, test),
        "ratios": guideline_ratios(found, test),
        "focus": guideline_focus(found, test),
        "where": setting(found, test, (found.varied,)),
        "at": setting(found, test, others),
        "head": ("at", *_NUMBERS),
        "rows": rows,
    }


def _numbers(page: GuidelinePage, test: int) -> tuple[object, ...]:
    columns = page.found.columns
    ratio, low, high, q = (float(columns[key][test]) for key in ("effect", "ratio_low", "ratio_high", "q_value"))
    interval = f"{shown_ratio(low)} to {shown_ratio(high)}" if np.isfinite([low, high]).all() else "–"
    return shown_ratio(ratio), interval, f"{q:.2g}" if np.isfinite(q) else "–", _badge(str(columns["state"][test]))


def remarks(page: GuidelinePage) -> dict[str, Any] | None:
    """Return what a reader should know, and which guidelines lack measurements."""
    found = page.found
    without = [(titled(found.guidelines[i]), why) for i, why in found.not_tested.items()]
    return {"warnings": found.warnings, "without": without} if found.warnings or without else None


def method(page: GuidelinePage) -> dict[str, Any]:
    """Return the thresholds of this page."""
    return {"limits": page.found.thresholds, "confidence": as_percent(CONFIDENCE), "exact": page.found.data.exact}


def provenance(page: GuidelinePage) -> dict[str, Any]:
    """Return where the numbers come from."""
    data, load = page.found.data, page.facts.get("foreign_load")
    machine = data.machine
    clock = f"virtual: {machine_in_words(machine)}, {numbers_in_words(machine)}; {LEFT_OUT}" if machine else ""
    lacking = int((data.rows == MISSING).sum())
    return {
        "clock": clock,
        "load": as_percent(load) if isinstance(load, float) and np.isfinite(load) else "",
        "parameters": "; ".join(f"{key}: {_levels(data.levels[key])}" for key in data.parameters),
        "missing": f"{lacking} of {data.rows.size} experiments of runs" if lacking else "",
        "versions": made_with("numpy", "scipy", "pandas", "plotly"),
    }


def _levels(levels: tuple[object, ...]) -> str:
    shown = [str(level) for level in levels]
    return ", ".join(shown) if len(shown) <= _MOST_LEVELS else f"{len(shown)} values, {shown[0]} to {shown[-1]}"
