"""Tests of whether measurements are others in disguise: as they are, shifted, scaled, reordered, in part, or with noise."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import binom

from scalkit.store.runs.marks import LEAST_ORDERED, grams_of, is_distinctive, scores_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_TICKS = 1.5
"""Rounding of both to whole ns, and of the two ends that the scale is taken from."""

_LEAST_GRAMS = 8, 16
"""So many stretches of five repetitions must be the same, all of them if they are fewer than the second: where at least 90 % of
all stretches are different, there are so many possible ones that this is no accident."""

_LEAST_PART = 8, 0.8
"""So many repetitions, and such a share of them, must be repetitions of the other measurement."""

_DENSEST = 0.5
"""Where an honest repetition is one of the others with more than this probability, parts are not looked for."""

_BY_ACCIDENT = 1e-9
"""Probability that repetitions are in another measurement by accident, below which it is none."""

_LAGS = 8
_ORDER = 0.7, 6.0
"""How much of the order must be the same that no shift of up to `_LAGS` repetitions explains, and how many standard errors that
is. Of honest runs of one program that waits in turn for shorter and longer times, it was up to 0.6; of copies with a noise of
1 %, at least 0.8."""

ROWS = 512
"""So many runs are looked at together for tokens in common, and so many measurements of a run at most for their order."""

_COLUMNS = 1 << 14
"""So many measurements of the other run are looked at together."""


def common_keys(own: Sequence[Integers]) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield pairs, ascending, of those who have keys in common, and how many these are, some at a time.

    `own`: the keys of each, none of them twice.
    """
    counts = np.array([len(keys) for keys in own], dtype=np.int64)
    distinct, places = np.unique(np.concatenate([np.zeros(0, np.int64), *own]), return_inverse=True)
    owners = np.repeat(np.arange(len(own)), counts)
    table = csr_array((np.ones(len(owners), np.int32), (owners, places)), shape=(len(own), len(distinct)))
    for start in range(0, len(own), ROWS):
        shared = (table[start : start + ROWS] @ table.T).tocoo()
        one = shared.row.astype(np.int64) + start
        is_later = shared.col > one
        yield one[is_later], shared.col[is_later].astype(np.int64), shared.data[is_later].astype(np.int64)


def are_parts(some: Sequence[Integers], others: Sequence[Integers]) -> bool:
    """Return whether a measurement is a part of one of another run, in whatever order, and shifted or not."""
    several = [[raw for raw in raws if len(raw) >= _LEAST_PART[0] and _by_chance(raw) <= _DENSEST] for raws in (some, others)]
    both, n = [*several[0], *several[1]], len(several[0])
    for keys, least in (
        ([np.unique(raw) for raw in both], _LEAST_PART[0]),
        ([np.unique(grams_of(np.sort(raw))) for raw in both], 1),
    ):
        for ones, other_ones, shared in common_keys(keys):
            for one, other, number in zip(ones.tolist(), other_ones.tolist(), shared.tolist(), strict=True):
                if one < n <= other and number >= least and _is_part(*sorted((both[one], both[other]), key=len)):
                    return True
    return False


def _by_chance(raw: Integers) -> float:
    """Return how probable it is that an honest repetition is one of these; they lie densest in the middle."""
    q1, q3 = np.quantile(raw, [0.25, 0.75])
    tick = max(int(np.gcd.reduce(raw - raw[0])), 1)
    return float(2 * len(raw) * tick / max(q3 - q1, 1.0))


def _is_part(few: Integers, many: Integers) -> bool:
    """Return whether so many repetitions, all of them shifted by the same, are others that it is no accident."""
    shifts = {0, *_shifts(np.sort(few), np.sort(many))}
    n_common = max(_n_common(few - shift, many) for shift in shifts)
    if n_common < max(_LEAST_PART[0], _LEAST_PART[1] * len(few)):
        return False
    return bool(len(few) * len(many) * binom.sf(n_common - 1, len(few), _by_chance(many)) < _BY_ACCIDENT)


def _shifts(few: Integers, many: Integers) -> list[int]:
    """Return by how much sorted repetitions may be shifted, by the gaps that they have in common: what most gaps say."""
    _, at, of = np.intersect1d(grams_of(few), grams_of(many), return_indices=True)
    apart, number = np.unique(few[at] - many[of], return_counts=True)
    shifts: list[int] = apart[np.argsort(-number, kind="stable")[:3]].tolist()
    return shifts


def _n_common(some: Integers, others: Integers) -> int:
    """Return how many repetitions two measurements have in common, each as often as it is in both."""
    values, number = np.unique(some, return_counts=True)
    other_values, other_number = np.unique(others, return_counts=True)
    _, at, of = np.intersect1d(values, other_values, return_indices=True)
    return int(np.minimum(number[at], other_number[of]).sum())


def have_one_order(some: Sequence[Integers], others: Sequence[Integers]) -> bool:
    """Return whether the repetitions of two runs are long and short at the same places, more than any shift explains.

    Each measurement of the run that has fewer is compared with the one of the other run that it resembles most, as it is and
    shifted by some repetitions; honest runs that vary in a fixed rhythm resemble each other shifted, too.
    """
    by_length = [_scores_by_length(raws) for raws in (some, others)]
    n_repetitions = 0
    total = np.zeros(2 * _LAGS + 1)
    for length in by_length[0].keys() & by_length[1].keys():
        few, many = sorted((one[length] for one in by_length), key=len)
        few = few[:: -(-len(few) // ROWS)]
        best = np.full((2 * _LAGS + 1, len(few)), -1.0)
        for start in range(0, len(many), _COLUMNS):
            part = many[start : start + _COLUMNS]
            for row, lag in enumerate((0, *range(1, _LAGS + 1), *range(-_LAGS, 0))):
                np.maximum(best[row], (few @ np.roll(part, lag, axis=1).T).max(axis=1), out=best[row])
        total += length * best.sum(axis=1)
        n_repetitions += length * len(few)
    if not n_repetitions:
        return False
    aligned, shifted = total[0] / n_repetitions, total[1:].max() / n_repetitions
    is_much = aligned - shifted >= _ORDER[0] * (1 - shifted)
    return bool(is_much and (aligned - shifted) * np.sqrt(n_repetitions) >= _ORDER[1])


def _scores_by_length(raws: Sequence[Integers]) -> dict[int, Floats]:
    """Return the ranks of all measurements that differ in most of their repetitions, by the number of these.

    They are ordered by their medians, so that which are looked at does not depend on their order in a file.
    """
    found: dict[int, list[Floats]] = {}
    for raw in sorted(raws, key=lambda raw: (float(np.median(raw)), raw.tolist()[:8])):
        if len(raw) >= LEAST_ORDERED and 2 * len(np.unique(raw)) >= len(raw):
            found.setdefault(len(raw), []).append(scores_of(raw))
    return {length: np.array(scores) for length, scores in found.items()}


def is_copy(some: Integers, others: Integers) -> bool:
    """Return whether repetitions are others: all of them shifted, scaled and in any order, or a stretch of them shifted.

    Both must have a mark that says that this is no accident; see `scalkit.store.runs.marks.mark_of`.
    """
    if len(some) == len(others):
        left, right = (np.sort(one).astype(np.float64) for one in (some, others))
        scale = (right[-1] - right[0]) / max(left[-1] - left[0], 1.0)
        apart = np.abs(right - (right[0] + scale * (left - left[0]))).max()
        if apart <= _TICKS * max(1.0, scale):
            return True
    if not all(is_distinctive(raw, grams_of(raw)) for raw in (some, others)):
        return False
    few, many = sorted((grams_of(some), grams_of(others)), key=len)
    shared = np.isin(few, many).sum()
    return bool(shared >= max(_LEAST_GRAMS[0], 0.5 * len(few)) and (shared >= _LEAST_GRAMS[1] or shared == len(few)))
