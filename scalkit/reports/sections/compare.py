"""The sections of a report about several data sets: one column for each."""

import shlex
from collections.abc import Sequence

from scalkit.errors import UsageError
from scalkit.options import Judging
from scalkit.plots.style import METRIC_WORDS, RANK_MARKS
from scalkit.plots.verdicts.overlay import Overlaid, overlay
from scalkit.reports.columns import Columns
from scalkit.reports.pieces import Piece, Section, big_o, figure, heading, name, soft, table
from scalkit.reports.sections.models import default_targets, predicted
from scalkit.reports.sections.provenance import provenance
from scalkit.reports.sections.quality import quality
from scalkit.reports.sections.reopen import as_path, shared_options
from scalkit.reports.sections.summary import facts
from scalkit.validation import Verdict

_RANKS = (("total", "total"), ("approximate", "approximate"), ("none", "no match"), ("undecided", "undecided"))


def compare_headline(columns: Columns) -> Section:
    """Return the top of the page: the answer, the counts of each data set, and what was measured where."""
    sets = []
    for label, page in zip(columns.labels, columns.pages, strict=True):
        found = page.result.counts
        shown = [(rank, RANK_MARKS[rank], found[rank], word) for rank, word in _RANKS if found[rank] or rank != "undecided"]
        sets.append((label, shown, facts(page)))
    return Section.rendered("compare.html", columns=columns, sets=sets)


def compare_summary(columns: Columns) -> Section:
    """Return the table of models, divergences and verdicts, the data sets beside each other.

    As in Exascaling Your Library, table 2 (docs/references.md).
    """
    groups = []
    for metric in dict.fromkeys(metric for metric, _ in columns.names):
        rows = []
        for function in [function for each, function in columns.names if each == metric]:
            found = columns.verdicts(metric, function)
            expected = dict.fromkeys(big_o(v.expectation.growth) for v in found if v is not None)
            rows.append((function, list(expected), found))
        groups.append((METRIC_WORDS.get(metric, metric), rows))
    caption = "Model, divergence δ and match of each function in each data set; dashed does not decide the exit status."
    return Section.rendered("columns.html", caption=caption, labels=columns.labels, groups=groups)


def compare_functions(columns: Columns) -> Section:
    """Return a figure for each function that has a verdict in a data set, all data sets in it."""
    section = Section.of()
    names = [
        (metric, function)
        for metric, function in columns.names
        if "[" not in function and not columns.is_over_several(metric, function)
    ]
    for metric in dict.fromkeys(metric for metric, _ in names):
        word = METRIC_WORDS.get(metric, metric)
        drawn = [piece for each, function in names if each == metric for piece in _figure(columns, metric, function)]
        section += Section.of(heading(word[0].upper() + word[1:]), '<div class="sheet pair">', *drawn, "</div>")
    if len(names) < len(columns.names):
        section += Section.of(soft("Variants of a function and functions of several parameters are in the table only."))
    return section


def _figure(columns: Columns, metric: str, function: str) -> tuple[Piece, ...]:
    found = zip(columns.labels, columns.verdicts(metric, function), strict=True)
    sets = [Overlaid.of(v, label) for label, v in found if isinstance(v, Verdict)]
    return figure(overlay(function, sets, metric, columns.labels), heading=name(function))


def compare_prediction(columns: Columns) -> Section:
    """Return what the models of all data sets say at one target."""
    if any(page.result.over_several for page in columns.pages):
        return Section.of()
    every = [v for page in columns.pages for v in page.result.along_one]
    if not every:
        return Section.of()
    targets = columns.pages[0].targets
    if len(targets) > 1:
        raise UsageError(f"a comparison predicts at one target, got {len(targets)}; give one of them.")
    target = (targets or default_targets(every))[-1]
    tables = []
    for metric in dict.fromkeys(metric for metric, _ in columns.names):
        rows = [
            (name(function), *("–" if v is None else predicted(v, target) for v in columns.verdicts(metric, function)))
            for each, function in columns.names
            if each == metric
        ]
        word = METRIC_WORDS.get(metric, metric)
        where = f"{every[0].parameter} = {target:g}"
        caption = f"{word[0].upper()}{word[1:]} at {where} by the models, if nothing new begins on the way."
        tables.append(table(caption, ("function", *columns.labels), rows, numeric=range(1, 1 + len(columns.labels))))
    return Section.sheet(*tables)


def compare_quality(columns: Columns) -> Section:
    """Return the data quality of each data set under its label."""
    return _each(columns, [quality(page) for page in columns.pages])


def compare_provenance(columns: Columns) -> Section:
    """Return the provenance of each data set under its label."""
    return _each(columns, [provenance(page) for page in columns.pages])


def _each(columns: Columns, sections: Sequence[Section]) -> Section:
    found = Section.of()
    for label, section in zip(columns.labels, sections, strict=True):
        found += Section.of(heading(label)) + section
    return found


def compare_reopen(columns: Columns) -> Section:
    """Return how to open each column as a session, and the command that makes the page again."""
    lines = [
        "import scalkit as sk",
        "from scalkit.reports import sessions_of",
        "",
        'session = sk.Session.load("compare.html")  # the first column; the name of this file',
        'sessions = sessions_of("compare.html")  # all columns',
    ]
    judged = [page for page in columns.pages if page.session is None]
    first = (judged or columns.pages)[0]
    runs = [as_path(page.named[0]) for page in columns.pages]
    named = ([f"--label={one}"] if one.startswith("-") else ["--label", one] for one in columns.labels)
    labels = [word for words in named for word in words]
    expect = [] if not judged or first.expectations_name == "mpi" else ["--expect", first.expectations_name]
    targets = ["--target-p", f"{first.targets[0]:g}"] if first.targets else []
    # Sessions say themselves how they are judged.
    how = (first.judging, first.read_along) if judged else (Judging(), "")
    options = [*expect, *shared_options(first.fail_on, *how), *targets]
    command = ["scalkit", "report", "--template", "compare", *runs, *labels, *options, "--out", "compare.html"]
    is_in_files = all(len(page.named) == 1 and not page.is_in_memory for page in columns.pages)
    is_for_commands = is_in_files and (not judged or (bool(first.expectations_name) and not first.rules))
    holds_all = all(page.session_values["data"]["netcdf"] is not None for page in columns.pages)
    commands = [shlex.join(command)] if is_for_commands else []
    return Section.rendered("compare_reopen.html", opening=lines, commands=commands, holds_all=holds_all)
