"""Marks of repetitions by which copies of them are found, however these were changed.

Each measurement has a shape and a sketch, which an exact copy keeps: shifted, scaled, in another order, or a stretch of it. Each
run has tokens, of which a copy keeps some that is no longer exact: noise was added, or repetitions were left out. What the
marks suggest is checked repetition by repetition, in `scalkit.store.submissions.copies`. Whether two runs have a mark in
common depends on nothing but these two.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scalkit.store.runs.summaries import repetitions_of

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

MARKS = ("shape", "sketch")
"""Columns of measurements in the index that no file has."""

TOKENS = "tokens"
"""A column of runs in the index that no file has."""

N_SHAPE, N_GRAMS = 5, 4

VALUES, GAPS, ORDERS = 0, 1, 2
"""Kinds of tokens: of single values, of gaps between sorted values, and of which repetitions are long and which are short. The
kind of a token is its remainder by `KINDS`."""

KINDS = 4
N_TOKENS = {VALUES: 64, GAPS: 64, ORDERS: 128}
"""A run has at most so many tokens of each kind: the least ones, so that a copy of it has the same."""

_SPARSE = 8.0
"""Ticks of the clock for each repetition in the distance of the quartiles; with fewer, honest measurements share many values."""

LEAST_ORDERED = 16
"""With fewer repetitions their order says too little."""

_BANDS, _BITS_OF_BAND, _LONGEST = 6, 18, 512
"""An order has so many tokens, each of so many bits, of so many repetitions at most. Of 10 bits of an order about 1 changes if
the correlation of repetitions and copies falls to 0.95."""

_QUANTILES = np.array([2, 4, 6, 1, 2, 3, 5, 7]) / 8  # the quartiles, and the eighths of the shape
_QUARTILES = np.array([0.25, 0.75])
_LEAST = (8, 4)
"""Repetitions, and different values among them, from which on equal ones are no accident."""

_BITS = 40.0
"""Of accident: with fewer, two honest measurements among millions could have the same shape."""

_WIDEST = 0.02
"""Of a shape, how far rounding may move it: with more, too many honest measurements would have to be compared."""

_LEAST_SPREAD = 16.0
"""Ticks of the clock between the quartiles, from which on a stretch of repetitions is no accident."""

_LENGTH = 4
"""Differences of five repetitions in a row; of spreads of ten ticks there are 160,000 such stretches."""


def mark_of(raw: Integers) -> tuple[list[float] | None, list[int] | None]:
    """Return the marks of repetitions, in ns.

    `shape`: order statistics (five eighths) less the median, over the distance of the quartiles, which no shift, no factor and
    no other order changes; and how much rounding can change them. None where honest measurements could have the same.
    `sketch`: the least hashes of stretches of repetitions, which no shift and no reversal changes, and of which a part of the
    repetitions has some; empty where stretches may be equal by accident. None where all repetitions may.
    """
    if len(raw) < _LEAST[0]:
        return None, None
    ordered = np.sort(raw)
    n_different, tick = _different(ordered)
    if n_different < _LEAST[1]:
        return None, None
    q1, middle, q3, *eighths = _quantiles(ordered, _QUANTILES)
    spread = (q3 - q1) / tick
    if len(raw) * math.log2(1 + spread) < _BITS:
        return None, None
    grams = grams_of(raw)
    sketch = heapq.nsmallest(N_GRAMS, set(grams.tolist())) if is_distinctive(raw, grams) else []
    ratio = 0.8 * spread / math.sqrt(len(raw))  # how far an order statistic varies, in roundings
    if ratio < 2 or n_different / 3 * math.log2(ratio) < _BITS or 4 / spread + 1e-4 > _WIDEST:
        return None, sketch
    shape = (np.array(eighths) - middle) / (q3 - q1)
    return [float(one) for one in (*shape, 4 / spread + 1e-4)], sketch


def _different(ordered: Integers) -> tuple[int, int]:
    """Return how many different values sorted repetitions have, and what all their differences are multiples of."""
    gaps = np.diff(ordered)
    return 1 + int(np.count_nonzero(gaps)), max(int(np.gcd.reduce(gaps)), 1)


def _quantiles(ordered: Integers, at: NDArray[np.float64]) -> list[float]:
    """Return quantiles of sorted repetitions, those of `numpy.quantile` at a tenth of its cost."""
    places = at * (len(ordered) - 1)
    low = places.astype(np.int64)
    below, above = ordered[low], ordered[np.minimum(low + 1, len(ordered) - 1)]
    found: list[float] = (below + (places - low) * (above - below)).tolist()
    return found


def tokens_of(raws: Iterable[Integers]) -> list[int]:
    """Return the tokens of a run, from the repetitions of its times, in ns.

    They are what remains of a run when noise is added to its repetitions, or some are left out, in whatever order. A token is
    a positive number below 2^31.
    """
    found: dict[int, list[NDArray[np.uint64]]] = {kind: [] for kind in N_TOKENS}
    for raw in raws:
        if len(raw) < _LEAST[0]:
            continue
        ordered = np.sort(raw)
        n_different, tick = _different(ordered)
        if n_different < _LEAST[1]:
            continue
        q1, q3 = _quantiles(ordered, _QUARTILES)
        if (q3 - q1) / tick >= _SPARSE * len(raw):
            found[VALUES].append(_least_hashes(raw.astype(np.uint64), VALUES))
            found[GAPS].append(_least_hashes(grams_of(ordered).astype(np.uint64), GAPS))
        if len(raw) >= LEAST_ORDERED and 2 * n_different >= len(raw):
            found[ORDERS].append(_least_hashes(_bands_of(raw), ORDERS))
    return [
        token * KINDS + kind
        for kind, hashes in found.items()
        if hashes
        for token in np.unique(np.concatenate(hashes))[: N_TOKENS[kind]].tolist()
    ]


def _least_hashes(numbers: NDArray[np.uint64], kind: int) -> NDArray[np.uint64]:
    """Return the least hashes of numbers, below 2^29, as many as a run may have of a kind."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed >>= np.uint64(35)
    most = N_TOKENS[kind]
    if len(mixed) <= most:
        return mixed
    return np.unique(mixed)[:most]


def _bands_of(raw: Integers) -> NDArray[np.uint64]:
    """Return numbers that say on which side of random planes the ranks of repetitions lie; a little noise changes few bits."""
    ranks = scores_of(raw)[:_LONGEST]
    sides = (_planes()[:, : len(ranks)] @ ranks > 0).reshape(_BANDS, _BITS_OF_BAND)
    bits = (sides * (1 << np.arange(_BITS_OF_BAND))).sum(axis=1)
    place = len(raw) * _BANDS + np.arange(_BANDS)  # copies with noise have as many repetitions
    numbers: NDArray[np.uint64] = (place * (1 << _BITS_OF_BAND) + bits).astype(np.uint64)
    return numbers


@functools.cache
def _planes() -> NDArray[np.float64]:
    words = np.random.PCG64(1).random_raw(_BANDS * _BITS_OF_BAND * _LONGEST // 64)  # the same with every version of numpy
    bits = np.unpackbits(words.astype("<u8").view(np.uint8)).astype(np.float64)
    return (2 * bits - 1).reshape(_BANDS * _BITS_OF_BAND, _LONGEST)


def scores_of(raw: Integers) -> NDArray[np.float64]:
    """Return the ranks of repetitions, with mean 0 and length 1; 0 if all are the same."""
    _, place, number = np.unique(raw, return_inverse=True, return_counts=True)
    ranks = np.asarray(np.cumsum(number) - (number - 1) / 2, dtype=np.float64)[place]
    centred: NDArray[np.float64] = ranks - float(ranks.mean())
    length = math.sqrt(float(centred @ centred))
    return centred / length if length else centred


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


def is_distinctive(raw: Integers, grams: Integers) -> bool:
    """Return whether repetitions differ so much that other ones have none of their stretches by accident."""
    if len(np.unique(grams)) < max(0.9 * len(grams), 1):
        return False
    ordered = np.sort(raw)
    q1, q3 = _quantiles(ordered, _QUARTILES)
    return bool(q3 - q1 >= _LEAST_SPREAD * _different(ordered)[1])


def times_of(table: pa.Table) -> list[Integers]:
    """Return the repetitions of each measurement of a run that is a time."""
    both = zip(repetitions_of(table), table["unit"].to_pylist(), strict=True)
    return [raw for raw, unit in both if unit == "ns"]


def marks_of(table: pa.Table) -> dict[str, list[Any]]:
    """Return ``raw_hash``, ``shape`` and ``sketch`` of the measurements of a run; see `mark_of`."""
    found: dict[str, list[Any]] = {"raw_hash": table["raw_hash"].to_pylist(), "shape": [], "sketch": []}
    for raw, unit in zip(repetitions_of(table), table["unit"].to_pylist(), strict=True):
        shape, sketch = mark_of(raw) if unit == "ns" else (None, None)
        found["shape"].append(shape)
        found["sketch"].append(sketch)
    return found
