"""A result as plain text: a table that fits its width, the worst verdict first, and the answer below it."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from scalkit.judge.answer import ANSWER_SYMBOLS, resolution_in_words
from scalkit.judge.measured import AnyVerdict
from scalkit.support.text import capital, counted, joined, plain

if TYPE_CHECKING:
    from scalkit.judge.result import Validation

_HEADS = ("Answer", "Function", "Metric", "Expectation", "Excludes faster than", "Model", "Divergence")
_LEAST_NEEDED = ("Excludes faster than", "Divergence", "Metric", "Model", "Expectation")
"""Columns in the order in which a narrow table loses them."""
_NAME = 24  # letters of a function's name that stay on one line
_GAP = "  "
_MOST_ROWS = 30  # a table that scrolls hides its worst rows
_MOST_NOTES = 3


def listing(verdicts: Sequence[AnyVerdict], width: int) -> tuple[list[str], list[str]]:
    """Return the lines of a table with a row for each verdict, and the columns that do not fit, the least needed ones.

    `width`: in letters; long names and models continue on further lines.
    """
    if not verdicts:
        return [], []
    columns = dict(zip(_HEADS, zip(*map(_cells, verdicts), strict=True), strict=True))
    full = {head: max(map(len, (head, *cells))) for head, cells in columns.items()}
    least = {
        **full,
        "Function": min(full["Function"], _NAME),
        "Model": max(len(part) for cell in ("Model", *columns["Model"]) for part in _terms(cell)),
    }
    kept = list(_HEADS)
    for head in _LEAST_NEEDED:
        if _total(least, kept) <= width:
            break
        kept.remove(head)
    widths = {head: least[head] for head in kept}
    for head in ("Function", "Model"):
        if head in kept:
            room = width - _total(widths, kept)
            widths[head] = max(8, min(full[head], widths[head] + room))
    rows = [kept, *zip(*(columns[head] for head in kept), strict=True)]
    return [line for row in rows for line in _lines(row, widths)], [head for head in _HEADS if head not in kept]


def result_text(result: Validation, width: int) -> str:
    """Return the verdicts as a table, notes and the answer; what is not shown is counted.

    `width`: of the terminal, in letters.
    """
    shown = result.worst_first[:_MOST_ROWS]
    lines, missing = listing(shown, width)
    below = [*legend(shown), *_left_out(result, missing), *_conclusion(result)]
    wide = max(width, _NAME)
    wrapped = (line for text in below for line in textwrap.wrap(plain(text), wide, break_long_words=False))
    return "\n".join([*lines, *wrapped])


def legend(verdicts: Sequence[AnyVerdict]) -> list[str]:
    """Return the meaning of the sign next to an answer, if it is in a table of these verdicts."""
    return [] if all(verdict.decides for verdict in verdicts) else ["⚠ does not decide the exit status"]


def closing_sentence(result: Validation) -> str:
    """Return the answer and sentence of the only verdict, or the headline of several; without a full stop."""
    if len(result) != 1 or result.comparison is not None:
        return capital(result.headline)
    (verdict,) = result.verdicts
    return f"{verdict.answer}: {(verdict.problem or verdict.sentence).removesuffix('.')}"


def _cells(verdict: AnyVerdict) -> tuple[str, ...]:
    series, doubt = verdict.series, "" if verdict.decides else " ⚠"
    origin = ", virtual" if series.virtual else ", simulated" if series.simulated else ""
    cells = (
        f"{ANSWER_SYMBOLS[verdict.answer]} {verdict.answer}{doubt}",
        verdict.function,
        f"{verdict.metric}{origin}",
        str(verdict.expectation.growth),
        "-" if verdict.evidence.against else resolution_in_words(verdict.resolution),
        str(verdict.model),
        str(verdict.divergence),
    )
    return tuple(" ".join(plain(cell).split()) for cell in cells)


def _terms(model: str) -> list[str]:
    """Return the terms of a model, each with the sign before it."""
    return re.split(r" (?=[+-] )", model)


def _total(widths: dict[str, int], heads: Sequence[str]) -> int:
    return sum(widths[head] for head in heads) + len(_GAP) * (len(heads) - 1)


def _lines(row: Sequence[str], widths: dict[str, int]) -> Iterator[str]:
    """Return the lines of one row; a model continues with a whole term."""
    cells = []
    for (head, width), cell in zip(widths.items(), row, strict=True):
        words = " ".join(part.replace(" ", "\0") for part in _terms(cell)) if head == "Model" else cell
        wrapped = textwrap.wrap(words, width, break_on_hyphens=False) or [""]
        cells.append([line.replace("\0", " ") for line in wrapped])
    for parts in zip_longest(*cells, fillvalue=""):
        padded = (part.ljust(width) for part, width in zip(parts, widths.values(), strict=True))
        yield _GAP.join(padded).rstrip()


def _left_out(result: Validation, missing: Sequence[str]) -> list[str]:
    """Return the sentence on rows and columns that are not shown; none if all are."""
    hidden = result.worst_first[_MOST_ROWS:]
    answers = Counter(verdict.answer for verdict in hidden)
    counts = ", ".join(f"{n} {answer}" for answer, n in answers.items())
    rows = [f"{counted(len(hidden), 'more verdict')} ({counts})"] if hidden else []
    parts = [*rows, *([joined(missing)] if missing else [])]
    return [f"Not shown: {'; '.join(parts)}. .to_frame() has all."] if parts else []


def _conclusion(result: Validation) -> Iterator[str]:
    """Return notes on the data, the changes since a baseline, the number of other remarks, and the answer."""
    closing = f"{closing_sentence(result)}."
    shown = [*result.notes[:_MOST_NOTES], *([result.comparison.headline] if result.comparison else [])]
    yield from map(capital, shown)
    if others := sum(one not in shown and one not in closing for one in result.warnings):
        yield f"{counted(others, 'remark')} in .warnings."
    yield closing
