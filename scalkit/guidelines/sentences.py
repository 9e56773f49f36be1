"""An assessment in plain words, and as notebooks show it."""

from collections.abc import Collection
from html import escape
from typing import Any

import numpy as np

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.guideline import Guideline
from scalkit.stats.rank_tests import least_rank_sum_p, least_signed_rank_p, runs_needed
from scalkit.support.markup import block, bullets, counted, details, marked, paragraph, table
from scalkit.support.text import as_percent

CONFIDENCE = 0.95
"""Confidence of the intervals of ratios."""

_MOST_UNTESTED = 3


def headline(found: Any) -> str:
    """Return how many tests there were, and what they found."""
    if not len(found):
        return "no guideline could be tested"
    counts = found.counts
    violated = sorted({int(i) for i in found.which[found.columns["state"] == "violated"]})
    names = list(dict.fromkeys(found.guidelines[i].family for i in violated))
    clock = " in virtual time" if found.data.machine else ""
    said = f"{counts['violated']} of {counted(len(found), 'test')} violated{clock}"
    if names:
        said += f" ({', '.join(names[:6])}{', ...' if len(names) > 6 else ''})"
    others = [f"{counts[state]} {state}" for state in ("compliant", "inconclusive", "undecidable") if counts[state]]
    return "; ".join([said, ", ".join(others)] if others else [said])


def setting(found: Any, test: int, leave_out: Collection[str] = ()) -> str:
    """Return where a test stands: its parameters and their levels, but for some."""
    data = found.data
    shown = [
        f"{name}={data.level(name, int(code))}"
        for name, code in zip(data.parameters, found.codes[test], strict=True)
        if code != MISSING and name not in leave_out
    ]
    if found.against[test] != MISSING and not leave_out:
        name = found.guidelines[found.which[test]].parameter
        shown.append(f"against {name}={data.level(name, int(found.against[test]))}")
    return ", ".join(shown)


def sentence(found: Any, test: int) -> str:
    """Return what one test found."""
    columns, guideline = found.columns, found.guidelines[found.which[test]]
    where = setting(found, test)
    at = f" at {where}" if where else ""
    title = titled(guideline)
    state = columns["state"][test]
    if state == "undecidable":
        n, m, needed = columns["n_left"][test], columns["n_right"][test], columns["runs_needed"][test]
        runs = f"{n} and {m} runs" if n != m else counted(int(n), "run")
        return (
            f"{title} cannot be decided{at}: no values of {runs} reach p = {found.thresholds.p:g}; measure {needed} runs of "
            "each side."
        )
    ratio, low, high = (columns[key][test] for key in ("effect", "ratio_low", "ratio_high"))
    if found.data.exact:
        how = "is violated" if state == "violated" else "holds"
        return f"{title} {how}{at}: the left side takes {shown_ratio(ratio)} times the right, in virtual time."
    sure = as_percent(CONFIDENCE)
    size = f"{shown_ratio(ratio)} times the right ({sure}: {shown_ratio(low)} to {shown_ratio(high)})"
    if state == "violated":
        return f"{title} is violated{at}: the left side takes {size}, q = {columns['q_value'][test]:.2g}."
    if state == "compliant":
        return f"{title} holds{at}: the left side takes {size}."
    return f"{title} is inconclusive{at}: the left side takes {size}; more runs would tell."


def warnings(found: Any) -> tuple[str, ...]:
    """Return what a reader should know."""
    said = warnings_of_data(found)
    said += [*_incomplete(found), *_too_few(found)]
    return (*said, *_untested(found))


def _untested(found: Any) -> list[str]:
    without = found.not_tested
    if len(without) > _MOST_UNTESTED:
        names = ", ".join(dict.fromkeys(found.guidelines[i].family for i in without))
        return [f"{len(without)} guidelines were not tested for lack of measurements ({names}); not_tested says why."]
    return [f"{titled(found.guidelines[i])} was not tested: {why}." for i, why in without.items()]


def warnings_of_data(found: Any) -> list[str]:
    """Return what the measurements say of themselves, as sentences."""
    return [f"{_begun(text)}." for text in found.data.caveats]


def _begun(text: str) -> str:
    """Return a text as a sentence begins; the name of a file stays as it is."""
    return f"{text[:1].upper()}{text[1:]}" if text.partition(" ")[0].isalpha() else text


def shown_ratio(ratio: float) -> str:
    """Return a ratio with two decimals, or three digits from 10 on."""
    return f"{ratio:.2f}" if abs(ratio) < 9.995 else f"{ratio:.3g}"


def _incomplete(found: Any) -> list[str]:
    """Return a remark if some runs lack what another one has measured in full."""
    lacking = np.count_nonzero(found.data.rows == MISSING, axis=0)
    if lacking.min() > 0 or not lacking.any():
        return []
    n, first = int(np.count_nonzero(lacking)), int(np.argmax(lacking > 0))
    example = f"run {found.data.runs[first]}, which lacks {lacking[first]} of {len(found.data.rows)}"
    return [f"{n} of {counted(len(lacking), 'run')} lack experiments, as {example}; each test takes the runs that there are."]


def titled(guideline: Guideline) -> str:
    """Return a guideline with its name."""
    return f"{guideline.name}: {guideline}" if guideline.name else str(guideline)


def _too_few(found: Any) -> list[str]:
    columns = found.columns
    undecidable = columns["state"] == "undecidable"
    said = []
    if undecidable.any():
        needed = int(columns["runs_needed"][undecidable].max())
        said.append(
            f"{counted(int(undecidable.sum()), 'test')} had too few runs to ever reach p = {found.thresholds.p:g}; "
            f"{needed} runs of each side are needed. More repetitions do not help."
        )
    if found.thresholds.strictness == "paper":
        return said
    families = np.array([found.guidelines[i].family for i in found.which.tolist()], dtype=object)
    for family in dict.fromkeys(families.tolist()):
        mine = (families == family) & columns["can_decide"]
        n = int(mine.sum())
        if n and (columns["least_p"][mine].max() > found.thresholds.p / n):
            is_paired = (columns["test"][mine] == "paired").all()
            least = least_signed_rank_p if is_paired else lambda n: least_rank_sum_p(n, n)
            needed = runs_needed(found.thresholds.p / n, least)
            said.append(
                f"{family}: among {counted(n, 'test')} a single violation may go unseen with so few runs; {needed} would show it."
            )
    return said


_ANSWERS = {"violated": "fix", "compliant": "fine", "inconclusive": "cannot tell", "undecidable": "cannot tell"}


def assessment_html(found: Any) -> str:
    """Return the headline, the table of violations, and what should be known."""
    limits = found.thresholds
    rule = f"Violated: q <= {limits.p:g} and a ratio of {limits.v:g} or more."
    if limits.strictness == "paper":
        rule = rule.replace("q <=", "p <=")
    if found.data.exact:
        rule = f"Violated: a ratio of {limits.v:g} or more; times of the virtual clock repeat exactly, so one run decides."
    remarks = found.warnings[len(found.data.caveats) :]
    return block(
        paragraph(" ".join(warnings_of_data(found))),
        paragraph(found.headline + "."),
        _overview(found),
        paragraph(rule),
        details(counted(len(remarks), "remark"), bullets(remarks)),
    )


def _overview(found: Any) -> str:
    rows, titles, cells = [], [titled(one) for one in found.guidelines], found.table()
    for name, cell in zip(cells.index, cells.iloc[:, 0], strict=True):
        states = found.columns["state"][found.which == titles.index(name)]
        worst = next(state for state in _ANSWERS if state in states) if len(states) else "undecidable"
        shares = [f"{np.count_nonzero(states == s)} {s}" for s in list(_ANSWERS)[1:] if (states == s).any()]
        rows.append((escape(name), marked(_ANSWERS[worst], cell), escape(", ".join(shares))))
    head = ("guideline", "violated tests (groups)", "others")
    return table(head, rows) if rows else ""
