"""Assessments as notebooks show them."""

from html import escape
from typing import Any

import numpy as np

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.sentences import setting, shown_ratio, titled, warnings_of_data
from scalkit.markup import block, bullets, counted, details, marked, paragraph, table

_MOST = 20
_MOST_SIZES = 5
_RANKS = {"violated": "none", "compliant": "total", "inconclusive": "undecided", "undecidable": "undecided"}


def assessment_html(found: Any) -> str:
    """Return the headline, the table of violations, the largest violations, and what should be known."""
    limits = found.thresholds
    rule = f"Violated: q <= {limits.p:g} and a ratio of {limits.v:g} or more."
    if limits.adjust == "none":
        rule = rule.replace("q <=", "p <=")
    if found.data.exact:
        rule = f"Violated: a ratio of {limits.v:g} or more; times of the virtual clock repeat exactly, so one run decides."
    remarks = found.warnings[len(found.data.caveats) :]
    return block(
        paragraph(" ".join(warnings_of_data(found))),
        paragraph(found.headline + "."),
        _overview(found),
        details(f"{counted(found.counts['violated'], 'violation')}, by group", _violations(found), is_open=True)
        if found.counts["violated"]
        else "",
        paragraph(rule),
        details(counted(len(remarks), "remark"), bullets(remarks)),
    )


def _overview(found: Any) -> str:
    rows, titles, cells = [], [titled(one) for one in found.guidelines], found.table()
    for name, cell in zip(cells.index, cells.iloc[:, 0], strict=True):
        states = found.columns["state"][found.which == titles.index(name)]
        worst = next(state for state in _RANKS if state in states) if len(states) else "undecidable"
        shares = [f"{np.count_nonzero(states == s)} {s}" for s in list(_RANKS)[1:] if (states == s).any()]
        rows.append((escape(name), marked(_RANKS[worst], cell), escape(", ".join(shares))))
    head = ("guideline", "violated tests (groups)", "others")
    return table(head, rows) if rows else ""


def _violations(found: Any) -> str:
    """Return the groups with violations, the worst first: how much, at which values of the varied parameter, and where."""
    order = found.violations.index.to_numpy()
    groups = list(dict.fromkeys(found.groups[order].tolist()))
    constant = [name for name in found.data.parameters if len(found.data.levels[name]) == 1]
    tested = [found.guidelines[i].name or None for i in sorted(set(found.which.tolist()))]
    rows = []
    for group in groups[:_MOST]:
        tests = order[found.groups[order] == group]
        where = setting(found, tests[0], (found.varied, *constant))
        sizes = _sizes(found, tests, int(np.count_nonzero(found.groups == group)))
        guideline = found.guidelines[found.which[tests[0]]]
        title = guideline.name if tested.count(guideline.name) == 1 else titled(guideline)
        ratio, low, high = (found.columns[key][tests[0]] for key in ("effect", "ratio_low", "ratio_high"))
        rows.append(
            (escape(title), shown_ratio(ratio), f"{shown_ratio(low)} to {shown_ratio(high)}", escape(sizes), escape(where))
        )
    head = ("guideline", "largest ratio", f"{found.thresholds.confidence:.0%} interval", found.varied, "where")
    more = len(groups) - _MOST
    return table(head, rows) + paragraph(f"and {more} more groups, in to_frame('violated')" if more > 0 else "")


def _sizes(found: Any, tests: Any, n_all: int) -> str:
    """Return the values of the varied parameter at which a group is violated."""
    if found.varied not in found.data.parameters:
        return "-"
    codes = sorted(set(found.codes[tests, found.data.parameters.index(found.varied)].tolist()))
    levels = [str(found.data.level(found.varied, code)) for code in codes if code != MISSING]
    if len(levels) > 1 and len(tests) == n_all:
        return f"all, {levels[0]} to {levels[-1]}"
    return ", ".join(levels[:_MOST_SIZES]) + (f", ... ({len(levels)} of {n_all})" if len(levels) > _MOST_SIZES else "")
