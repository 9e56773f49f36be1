"""Rows of the table of functions: what stands in each, by what they are sorted, which of them are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.growth import Growth
from scalkit.markup import esc, formula
from scalkit.plots.style import METRIC_WORDS, RANK_MARKS, RANK_WORDS, metric_word
from scalkit.plots.verdicts.curves import anchored_curves
from scalkit.validation import Verdict
from scalkit.validation.answer import ANSWERS
from scalkit.widgets.base.wording import Judged, key_of, mark

COLUMNS = ("Function", "Metric", "Values", "Expected", "Model", "Verdict")

KINDS = {**{key: f"{RANK_MARKS[key]} {words}" for key, words in RANK_WORDS.items()}, "unjudged": "– no verdict"}
"""What the table can be filtered by."""

_SEVERITY = {"none": 0, "undecided": 1, "slower": 2, "approximate": 3, "total": 4, "unjudged": 5}
_WIDTH, _HEIGHT, _PAD = 72, 26, 3

Name = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """What the table knows of a function and metric."""

    name: Name
    verdict: Judged | None
    problem: str


def kind_of(entry: Entry) -> str:
    """Return the key of an entry in `KINDS`."""
    return "unjudged" if entry.verdict is None else key_of(entry.verdict)


def row_of(k: int, entry: Entry) -> dict[str, Any]:
    """Return the cells of a row as markup; the last one may stand for several columns."""
    (function, metric), verdict = entry.name, entry.verdict
    head = (
        f'<button type="button" data-press="select" data-value="{k}" data-key="row{k}" title="Show {esc(function)}">'
        f"<code>{esc(function).replace('_', '_<wbr>').replace('[', '<wbr>[')}</code></button>"
    )
    word = esc(METRIC_WORDS.get(metric, metric) if verdict is None else metric_word(verdict))
    cells = [f'{head}<span class="narrow quiet">{word}</span>', word]
    if verdict is None:
        return {"cells": [*cells, f'<span class="quiet">{esc(entry.problem)}</span>']}
    return {
        "cells": [*cells, _spark(verdict), formula(verdict.expectation.growth), formula(verdict.model), mark(verdict)]
    }


def seen_in_row(entry: Entry) -> tuple[object, ...]:
    """Return what of an entry is seen in its row: entries with the same have the same row."""
    verdict = entry.verdict
    if verdict is None:
        return entry.name, entry.problem
    if not isinstance(verdict, Verdict):
        return entry.name, id(verdict)
    model = verdict.model
    numbers = (model.growth, model.constant, model.coefficient)
    return entry.name, id(verdict.series), verdict.expectation.growth, numbers, mark(verdict)


def ordered(entries: Sequence[Entry], column: str, is_descending: bool, kind: str) -> list[int]:
    """Return which entries are shown and in which order; those without a verdict come last where it is asked for.

    `column`: one of `COLUMNS`, or empty for the worst answer first, then the order of the data.
    `kind`: one of `KINDS`, or empty for all.
    """
    shown = [k for k, entry in enumerate(entries) if kind in ("", kind_of(entry))]
    if column not in COLUMNS:
        return sorted(shown, key=lambda k: _urgency(entries[k]))
    key = _KEYS[column]
    with_value = [k for k in shown if column in ("Function", "Metric", "Verdict") or entries[k].verdict is not None]
    found = sorted(with_value, key=lambda k: key(entries[k]), reverse=is_descending)
    return [*found, *(k for k in shown if k not in set(found))]


def _urgency(entry: Entry) -> tuple[int, float]:
    """Return by what entries are sorted unless told otherwise: fix, cannot tell, no verdict, fine; the largest excess first."""
    if entry.verdict is None:
        return 1, 1.0
    answer = entry.verdict.answer
    return 2 * ANSWERS.index(answer) - (answer == "cannot tell"), -entry.verdict.excess if answer == "fix" else 0.0


def _growth(growth: object) -> tuple[int, Any]:
    """Return by what growths are sorted: exactly, by how fast they grow; sums over several parameters by their text."""
    return (0, growth) if isinstance(growth, Growth) else (1, str(growth))


def _gain(entry: Entry) -> float:
    """Return how many times the first value the last one is."""
    assert entry.verdict is not None
    y = np.asarray(entry.verdict.series.y, dtype=float)
    return float(y[-1] / y[0]) if len(y) and y[0] else 0.0


_KEYS: dict[str, Callable[[Entry], Any]] = {
    "Function": lambda entry: entry.name[0].casefold(),
    "Metric": lambda entry: METRIC_WORDS.get(entry.name[1], entry.name[1]),
    "Values": _gain,
    "Expected": lambda entry: _growth(entry.verdict.expectation.growth) if entry.verdict else (2, ""),
    "Model": lambda entry: _growth(entry.verdict.model.growth) if entry.verdict else (2, ""),
    "Verdict": lambda entry: _SEVERITY[kind_of(entry)],
}


def _spark(verdict: Judged) -> str:
    """Return values, model and the band of the limits as a small picture, both axes logarithmic; nothing if not positive."""
    if not isinstance(verdict, Verdict):
        return ""
    x, y = np.asarray(verdict.series.x, dtype=float), np.asarray(verdict.series.y, dtype=float)
    curves = anchored_curves(verdict, x)
    lines = [y, curves.model, curves.lower, curves.upper]
    every = np.concatenate([x, *lines])
    if not np.all(np.isfinite(every)) or float(every.min()) <= 0:
        return ""
    across = _spread(np.log2(x), _WIDTH)
    measured, line, low, high = np.split(_HEIGHT - _spread(np.log2(np.concatenate(lines)), _HEIGHT), 4)
    path = _path(across, line)
    area = f"{_path(across, high)}L{_path(across[::-1], low[::-1])[1:]}Z"
    dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(across, measured, strict=True))  # round ends make them dots
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    grows = ' class="bad"' if verdict.answer == "fix" else ""
    return (
        f'<svg class="spark" {size} aria-hidden="true"><path class="band" d="{area}"/><path{grows} d="{path}"/>'
        f'<path class="dots" d="{dots}"/></svg>'
    )


def _path(across: NDArray[np.float64], heights: NDArray[np.float64]) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, heights, strict=True))


def _spread(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the values spread over a length; those that hardly differ lie near its middle."""
    low, high = float(values.min()), float(values.max())
    extent = max(high - low, 0.5)
    return _PAD + ((values - (low + high) / 2) / extent + 0.5) * (size - 2 * _PAD)
