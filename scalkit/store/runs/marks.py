"""Marks of repetitions by which copies of them are found, however these were changed."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scalkit.store.runs.summaries import repetitions_of

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

MARKS = ("shape", "sketch")
"""Columns of the index that no file has."""

N_SHAPE, N_GRAMS = 5, 4

_QUANTILES = np.array([2, 4, 6, 1, 2, 3, 5, 7]) / 8  # the quartiles, and the eighths of the shape
_LEAST = (8, 4)
"""Repetitions, and different values among them, from which on equal ones are no accident."""

_BITS = 40.0
"""Of accident: with fewer, two honest measurements among millions could have the same shape."""

_LENGTH = 4
"""Differences of five repetitions in a row; of spreads of ten ticks there are 160,000 such stretches."""


def mark_of(raw: Integers) -> tuple[list[float] | None, list[int] | None]:
    """Return the marks of repetitions, in ns.

    `shape`: order statistics (five eighths) less the median, over the distance of the quartiles, which no shift, no factor and
    no other order changes; and how much rounding can change them. None where honest measurements could have the same.
    `sketch`: the least hashes of stretches of repetitions, which no shift and no reversal changes, and of which a part of the
    repetitions has some. None where equal repetitions are an accident.
    """
    if len(raw) < _LEAST[0] or (n_different := len(set(raw.tolist()))) < _LEAST[1]:
        return None, None
    sketch = heapq.nsmallest(N_GRAMS, set(grams_of(raw).tolist()))
    tick = max(int(np.gcd.reduce(raw - raw[0])), 1)
    q1, middle, q3, *eighths = np.quantile(raw, _QUANTILES)
    spread = (q3 - q1) / tick
    ratio = 0.8 * spread / math.sqrt(len(raw))  # how far an order statistic varies, in roundings
    if ratio < 2 or n_different / 3 * math.log2(ratio) < _BITS:
        return None, sketch
    shape = (np.array(eighths) - middle) / (q3 - q1)
    return [float(one) for one in (*shape, 4 / spread + 1e-4)], sketch


def grams_of(raw: Integers) -> Integers:
    """Return a hash, positive, of each stretch of five repetitions in a row, the same backwards and wherever it starts."""
    steps = np.diff(raw)
    if len(steps) < _LENGTH:
        return np.zeros(0, dtype=np.int64)
    weights = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], dtype=np.uint64)
    forwards = np.correlate(steps.astype(np.uint64) + np.uint64(1), weights)
    backwards = np.convolve((-steps).astype(np.uint64) + np.uint64(1), weights, "valid")
    mixed = np.stack((forwards, backwards))
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    found: Integers = (mixed.sum(axis=0, dtype=np.uint64) >> np.uint64(1)).astype(np.int64)
    return found


def marks_of(table: pa.Table) -> dict[str, list[Any]]:
    """Return ``raw_hash``, ``shape`` and ``sketch`` of the measurements of a run; see `mark_of`."""
    found: dict[str, list[Any]] = {"raw_hash": table["raw_hash"].to_pylist(), "shape": [], "sketch": []}
    for raw, unit in zip(repetitions_of(table), table["unit"].to_pylist(), strict=True):
        shape, sketch = mark_of(raw) if unit == "ns" else (None, None)
        found["shape"].append(shape)
        found["sketch"].append(sketch)
    return found
