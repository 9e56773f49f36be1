"""The answer, the picture of all functions, and the table of the verdicts."""

from collections.abc import Iterator
from typing import Any

from scalkit import plots
from scalkit.judge import AnyVerdict
from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.measure.processes import HEAD as BANDWIDTH_HEAD
from scalkit.measure.processes import bandwidths
from scalkit.measure.schema import fixed_parameters
from scalkit.measure.virtual_time import is_virtual, machine_of, numbers_in_words
from scalkit.plots.plot import plot
from scalkit.plots.style import metric_word
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import KINDS, words_of
from scalkit.reports.sections.changes import change_tiles
from scalkit.support.text import capital, counted

_MOST_VALUES = 40  # of a parameter that are listed one by one

Tile = tuple[str, str, object, str]
"""Kind, which gives the colour, mark, number and meaning of a number to see first."""


def headline(page: Page) -> dict[str, Any]:
    """Return the numbers to see first, and what was measured where."""
    changed = page.result.comparison
    tiles = [*_answer_tiles(page), *_rule_tiles(page)] if changed is None else change_tiles(changed)
    return {"facts": [("baseline", page.baseline_name), *facts(page)], "tiles": tiles}


def _answer_tiles(page: Page) -> Iterator[Tile]:
    """Yield the number of verdicts with each answer, the worst first."""
    meanings = words_of("answers")
    for answer, count in page.result.answers.items():
        idle = sum(v.answer == answer and not v.decides for v in page.result.verdicts)
        extra = f"; {idle} not deciding" if idle and answer == "cannot tell" else ""
        if count or answer != "cannot tell":
            kind = KINDS[answer] if count else ""
            yield kind, ANSWER_SYMBOLS[answer], count, meanings[answer] + extra


def _rule_tiles(page: Page) -> Iterator[Tile]:
    """Yield the number of rules in each state."""
    states: list[str] = [rule.status for rule in page.result.rules]
    for state, (kind, mark, word) in words_of("rules").items():
        if n := states.count(state):
            yield kind, mark, n, f"of {counted(len(states), 'rule')}: {word}"


def facts(page: Page) -> list[tuple[str, object]]:
    """Return what was measured where, by name; what is unknown is empty."""
    attrs = page.data.attrs
    return [
        ("measured on", attrs.get("measured_on")),
        ("library", page.library),
        *_points(page),
        ("runs", int(page.data.sizes.get("run", 1))),
        ("message", f"{int(attrs['message_size_B'])} B" if attrs.get("message_size_B") else ""),
        ("measured", page.measured_at),
        ("report", page.made),
        ("", "simulated, not measured" if int(attrs.get("simulated", 0)) else ""),
        ("clock", f"virtual: {numbers_in_words(machine_of(attrs))}" if is_virtual(attrs) else ""),
    ]


def _points(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the measured values of each parameter, and the value of each parameter that is fixed."""
    found: dict[str, set[float]] = {}
    for verdict in page.result.verdicts:
        for name in verdict.parameters:
            found.setdefault(name, set()).update(verdict.series.shown_along(name).tolist())
    for name, values in found.items():
        shown = [f"{x:g}" for x in sorted(values)]
        yield (name, ", ".join(shown) if len(shown) <= _MOST_VALUES else f"{len(shown)} values, {shown[0]} to {shown[-1]}")
    for name, value in fixed_parameters(page.data).items():
        yield name, f"{value:g}"


def overview(page: Page) -> dict[str, Any]:
    """Return the divergences of all functions and one scaling figure per metric, or the effects of several parameters.

    As in Exascaling Your Library, figure 2 (docs/references.md).
    """
    if page.result.over_several:
        return {"effects": plot(page.result)}
    scaling = [
        (capital(metric_word(verdicts[0])), plots.scaling(page.result, metric))
        for metric, verdicts in by_metric(page).items()
        if len(verdicts) > 1
    ]
    return {"effects": None, "scaling": scaling, "divergence": plots.divergence(page.result)}


def verdicts(page: Page) -> dict[str, Any]:
    """Return the verdicts of each metric, the caveats in words and the functions without a verdict.

    The details are those of Exascaling Your Library, tables 2 and 3 (docs/references.md).
    """
    groups = [(f"{metric_word(found[0])} [{found[0].unit}]", found) for found in by_metric(page).values()]
    left_out = [(*words, getattr(page.result, which)) for which, words in words_of("left_out").items()]
    broken = {v.function: _broken_rules(page, v.function) for v in page.result.verdicts}
    values = {"groups": groups, "broken": broken, "caveats": caveats(page), "left_out": left_out}
    return {**values, "litmus": page.result.litmus, "moved": bandwidths(page.data), "moved_head": BANDWIDTH_HEAD}


def by_metric(page: Page) -> dict[str, list[AnyVerdict]]:
    """Return the verdicts on each metric, the worst first."""
    found: dict[str, list[AnyVerdict]] = {}
    for verdict in page.result.worst_first:
        found.setdefault(verdict.metric, []).append(verdict)
    return found


def _broken_rules(page: Page, function: str) -> list[str]:
    """Return the sentences of all rules about a function that are violated or predicted to be."""
    return [
        result.sentence
        for result in page.result.rules
        if result.status in ("violated", "predicted") and any(name == function for _, name in result.rule.left)
    ]


def caveats(page: Page) -> list[str]:
    """Return every caveat once, with the functions that it concerns."""
    functions: dict[str, list[str]] = {}
    for verdict in page.result.verdicts:
        for caveat in verdict.caveats:
            functions.setdefault(caveat, []).append(verdict.function)
    everything = len(page.result.verdicts)
    return [
        f"{capital(caveat)}. This concerns {'all functions' if len(found) == everything else ', '.join(found)}."
        for caveat, found in functions.items()
    ]
