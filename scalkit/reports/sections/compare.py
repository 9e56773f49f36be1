"""The sections of a report about several data sets: one column for each."""

from typing import Any

from scalkit.judge import Verdict
from scalkit.plots.style import METRIC_WORDS
from scalkit.plots.verdicts.overlay import Overlaid, overlay
from scalkit.reports.pages.columns import Columns
from scalkit.reports.sections import provenance as of_page
from scalkit.reports.sections.prediction import default_targets, predicted
from scalkit.reports.sections.quality import quality as quality_of
from scalkit.reports.sections.summary import caveats, facts
from scalkit.support.text import capital


def headline(columns: Columns) -> dict[str, Any]:
    """Return what was measured where, for each data set."""
    return {"facts": (), "sets": {label: facts(page) for label, page in columns.pages.items()}}


def verdicts(columns: Columns) -> dict[str, Any]:
    """Return models and answers, the data sets next to each other.

    As in Exascaling Your Library, table 2 (docs/references.md).
    """
    groups: dict[str, list[Any]] = {}
    for metric, function in columns.names:
        found = columns.verdicts(metric, function)
        expected = dict.fromkeys(v.expectation.growth for v in found if v is not None)
        groups.setdefault(METRIC_WORDS.get(metric, metric), []).append((function, list(expected), found))
    return {"groups": groups, "labels": list(columns.pages)}


def functions(columns: Columns) -> dict[str, Any]:
    """Return a figure for each function of one parameter that has a verdict in a data set, all data sets in it."""
    labels, left_out = list(columns.pages), False
    groups: dict[str, list[Any]] = {}
    for metric, function in columns.names:
        verdicts = columns.verdicts(metric, function)
        if "[" in function or not all(v is None or isinstance(v, Verdict) for v in verdicts):
            left_out = True
            continue
        sets = [Overlaid.of(v, label) for label, v in zip(labels, verdicts, strict=True) if isinstance(v, Verdict)]
        figures = groups.setdefault(capital(METRIC_WORDS.get(metric, metric)), [])
        figures.append((function, overlay(function, sets, metric, labels)))
    return {"groups": groups, "left_out": left_out}


def prediction(columns: Columns) -> dict[str, Any] | None:
    """Return the values of the models of all data sets at 256 times the largest measured point."""
    if any(page.result.over_several for page in columns.pages.values()):
        return None
    every = [v for page in columns.pages.values() for v in page.result.along_one]
    if not every:
        return None
    target = default_targets(every)[-1]
    groups: dict[str, list[Any]] = {}
    for metric, function in columns.names:
        cells = ("–" if v is None else predicted(v, target) for v in columns.verdicts(metric, function))
        groups.setdefault(capital(METRIC_WORDS.get(metric, metric)), []).append((function, *cells))
    return {"groups": groups, "where": f"{every[0].parameter} = {target:g}", "head": ("function", *columns.pages)}


def quality(columns: Columns) -> dict[str, Any]:
    """Return the caveats and the data quality of each data set under its label."""
    each = [(label, caveats(page), quality_of(page)["quality"]) for label, page in columns.pages.items()]
    return {"each": each}


def provenance(columns: Columns) -> dict[str, Any]:
    """Return the provenance of each data set under its label."""
    return {"each": [(label, of_page.provenance(page)["known"]) for label, page in columns.pages.items()]}
