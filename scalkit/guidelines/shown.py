"""Assessments as notebooks show them."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from scalkit.guidelines.sentences import setting
from scalkit.markup import block, bullets, counted, details, marked, paragraph, table

__all__ = ["assessment_html"]

_MOST = 20
_RANKS = {"violated": "none", "compliant": "total", "inconclusive": "undecided", "undecidable": "undecided"}


def assessment_html(found: Any) -> str:
    """Return the headline, the table of violations, the largest violations, and what should be known."""
    limits = found.thresholds
    rule = f"Violated: q <= {limits.p:g} and a ratio of {limits.v:g} or more."
    if limits.adjust == "none":
        rule = rule.replace("q <=", "p <=")
    return block(
        paragraph(found.headline + "."),
        bullets(found.data.caveats),
        _overview(found),
        details(counted(found.counts["violated"], "violation"), _violations(found), is_open=True)
        if found.counts["violated"]
        else "",
        paragraph(rule),
        details(counted(len(found.warnings), "remark"), bullets(found.warnings)),
    )


def _overview(found: Any) -> str:
    rows = []
    for name, cell in zip(found.table().index, found.table().iloc[:, 0], strict=True):
        i = _place(found, name)
        states = found.columns["state"][found.which == i]
        worst = next(state for state in _RANKS if state in states) if len(states) else "undecidable"
        shares = [f"{np.count_nonzero(states == s)} {s}" for s in list(_RANKS)[1:] if (states == s).any()]
        rows.append((escape(name), marked(_RANKS[worst], cell), escape(", ".join(shares))))
    head = ("guideline", "violated tests (groups)", "others")
    return table(head, rows) if rows else ""


def _place(found: Any, name: str) -> int:
    titles = [f"{one.name}: {one}" if one.name else str(one) for one in found.guidelines]
    return titles.index(name)


def _violations(found: Any) -> str:
    order = found.violations.index.tolist()
    columns = found.columns
    rows = []
    for test in order[:_MOST]:
        guideline = found.guidelines[found.which[test]]
        rows.append(
            (
                escape(guideline.name or str(guideline)),
                escape(setting(found, test)),
                f"{columns['effect'][test]:.3g}",
                f"{columns['ratio_low'][test]:.3g} to {columns['ratio_high'][test]:.3g}",
                f"{columns['q_value'][test]:.2g}",
            )
        )
    head = ("guideline", "where", "ratio", f"{found.thresholds.confidence:.0%} interval", "q")
    more = len(order) - _MOST
    return table(head, rows) + paragraph(f"and {more} more, in to_frame('violated')" if more > 0 else "")
