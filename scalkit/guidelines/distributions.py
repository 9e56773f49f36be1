"""The repetitions behind a test: what both sides took in each run, without outliers."""

import numpy as np

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.guideline import Guideline
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.text import Side
from scalkit.stats.samples import Floats


def repetitions(found: Assessment, test: int) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Return the repetitions of both sides of a test, one array for each run, without what lies beyond Tukey's fence.

    `test`: row of `Assessment.to_frame`.
    Returns: in the unit of the measurements; empty where a run has none. Repetitions of several terms are added in
    the order in which they were measured.
    """
    number = int(found.which[test])
    guideline = found.guidelines[number]
    place = test - int(np.argmax(found.which == number))
    left, right = (tuple(int(rows[place]) for rows in side) for side in found.experiments[number])
    return (
        tuple(_side(found, guideline.left, left, guideline, found.left[test], run) for run in range(len(found.data.runs))),
        tuple(_side(found, guideline.right, right, guideline, found.right[test], run) for run in range(len(found.data.runs))),
    )


def _side(found: Assessment, side: Side, rows: tuple[int, ...], guideline: Guideline, medians: Floats, run: int) -> Floats:
    terms = [np.zeros(0) if row == MISSING else _values(found, row, run) for row in rows]
    n = min(len(one) for row, one in zip(rows, terms, strict=True) if row != MISSING)
    terms = [np.zeros(n) if row == MISSING else one for row, one in zip(rows, terms, strict=True)]
    if guideline.kind != "levels":  # pieces: as many times the values as the median of the run is
        median = found.data.medians[rows[0], run]
        return inside_fence(terms[0]) * (medians[run] / median) if n else terms[0]
    at = iter(one[:n] for one in terms)
    sums = [np.sum([factor * next(at) for factor, _ in one], axis=0) for one in side]
    return inside_fence(np.max(sums, axis=0))


def _values(found: Assessment, experiment: int, run: int) -> Floats:
    row = int(found.data.rows[experiment, run])
    if row == MISSING:
        return np.empty(0)
    values = found.data.values[row]
    finite: Floats = values[np.isfinite(values)]
    return finite


def inside_fence(values: Floats) -> Floats:
    """Return the values that lie within 1.5 times the quartiles' distance beyond them."""
    if not len(values):
        return values
    q1, q3 = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (q3 - q1)
    kept: Floats = values[(values >= q1 - reach) & (values <= q3 + reach)]
    return kept
