"""Finds measurements that are others in disguise: shifted, scaled, reordered, with noise, a part, under another name.

Whether a run is a copy of another depends on these two alone, whatever else is in a store: so merging stores in any order finds
the same.
"""

import datetime as dt
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu
from scipy.spatial import cKDTree
from scipy.stats import binom

from scalkit.store.runs.content import trusted
from scalkit.store.runs.marks import (
    GAPS,
    KINDS,
    LEAST_ORDERED,
    N_GRAMS,
    N_SHAPE,
    N_TOKENS,
    ORDERS,
    TOKENS,
    VALUES,
    grams_of,
    is_distinctive,
    scores_of,
    times_of,
)
from scalkit.store.runs.summaries import raw_hash

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

_COMMON = 1 << 12
"""A token that so many runs have says nothing."""


@dataclass(frozen=True)
class Origin:
    """A run, what makes it the same run in a later state, and whether a program computed its times.

    Simulators and virtual clocks repeat themselves, real clocks do not: what is computed is compared with what was measured only.
    """

    run_id: str
    same: tuple[str, ...]
    computed: bool

    @classmethod
    def of(cls, run_id: str, measured: Mapping[str, Any]) -> "Origin":
        """Return the origin that a record tells of."""
        keys = ("campaign", "label", "machine", "mpi_library", "started")
        computed = measured.get("clock") != "real"
        return cls(run_id, tuple(str(measured.get(key, "")) for key in keys), computed)

    @property
    def order(self) -> tuple[float, str]:
        """What tells the original, which comes first, from the copy: when the run began, an unknown time last, and its id."""
        try:
            began = dt.datetime.fromisoformat(self.same[-1])
        except ValueError:
            return math.inf, self.run_id
        return (began if began.tzinfo else began.replace(tzinfo=dt.UTC)).timestamp(), self.run_id


@dataclass(frozen=True, eq=False)
class Marks:
    """The marks of several runs; see `scalkit.store.runs.marks`.

    `run` of shape (n,): which of the runs each measurement is of; ascending. `hashes` of shape (n,): of the repetitions.
    `shapes` of shape (n, N_SHAPE + 1): NaN where there is none. `sketches` of shape (n, N_GRAMS): 0 where there are fewer.
    `tokens`: of each run.
    """

    origins: Sequence[Origin]
    run: Integers
    hashes: Integers
    shapes: Floats
    sketches: Integers
    tokens: Sequence[Integers]

    @classmethod
    def of(cls, origins: Sequence[Origin], columns: Sequence[Mapping[str, Sequence[Any]]]) -> "Marks":
        """Return the marks of runs, for each of which there are lists of ``raw_hash``, ``shape``, ``sketch`` and ``tokens``."""
        rows = [
            (place, *row)
            for place, one in enumerate(columns)
            for row in zip(one["raw_hash"], one["shape"], one["sketch"], strict=True)
            if np.ndim(row[2]) == 1
        ]
        none = [np.nan] * (N_SHAPE + 1)  # an index has NaN or None where a list is missing
        shapes = [shape if np.ndim(shape) == 1 else none for _, _, shape, _ in rows]
        grams = [[*sketch, *[0] * (N_GRAMS - len(sketch))] for _, _, _, sketch in rows]
        return cls(
            origins,
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array(shapes, dtype=np.float64).reshape(-1, N_SHAPE + 1),
            np.array(grams, dtype=np.int64).reshape(-1, N_GRAMS),
            [np.array(one[TOKENS], dtype=np.int64) for one in columns],
        )

    def __add__(self, other: "Marks") -> "Marks":
        """Return both, the other ones last."""
        return Marks(
            [*self.origins, *other.origins],
            np.concatenate([self.run, other.run + len(self.origins)]),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.shapes, other.shapes]),
            np.concatenate([self.sketches, other.sketches]),
            [*self.tokens, *other.tokens],
        )


@dataclass(frozen=True)
class Copy:
    """Two runs, by their places, the first one first, or a run and itself, and how one is a copy of the other."""

    first: int
    second: int
    code: str


Measured = Callable[[int], Mapping[int, Integers]]
"""Returns the repetitions of the times of a run, given its place, by their hashes."""


def copies(marks: Marks, measured: Measured, known: Collection[tuple[int, int]] = ()) -> list[Copy]:
    """Return which runs have measurements of each other, or one measurement twice.

    `known`: pairs of places, ascending, that are not looked at.
    """
    skipped = frozenset(known)
    found: dict[tuple[int, int], Copy] = {}
    for one, other in _alike(marks):
        pair = int(marks.run[one]), int(marks.run[other])
        if pair in found or pair in skipped or not _may_be_copies(marks, pair, bool(marks.hashes[one] == marks.hashes[other])):
            continue
        if marks.hashes[one] == marks.hashes[other]:
            found[pair] = Copy(*pair, "raw-duplicated")
        elif is_copy(measured(pair[0])[int(marks.hashes[one])], measured(pair[1])[int(marks.hashes[other])]):
            found[pair] = Copy(*pair, "raw-copied")
    for pair in _with_common_tokens(marks):
        if pair in found or pair in skipped or not _may_be_copies(marks, pair, is_same=False):
            continue
        some, others = ([*measured(place).values()] for place in pair)
        if _are_parts(some, others) or _have_one_order(some, others):
            found[pair] = Copy(*pair, "raw-resembles")
    return [found[pair] for pair in sorted(found)]


def _may_be_copies(marks: Marks, pair: tuple[int, int], is_same: bool) -> bool:
    """Return whether two runs can be copies: not if both are computed, or one is a later state of the other.

    `is_same`: whether they have the same repetitions, as a later state of a run has, which has more launches.
    """
    one, other = (marks.origins[place] for place in pair)
    if one.computed and other.computed:
        return False
    is_later_state = is_same and one.same == other.same and bool(one.same[0])
    return pair[0] == pair[1] or not (one.run_id == other.run_id or is_later_state)


def _alike(marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield pairs of measurements, ascending, with the same repetitions, a stretch in common, or the same shape."""
    yield from _equal(marks.hashes, np.arange(len(marks.hashes)))
    rows, columns = np.nonzero(marks.sketches)
    yield from _equal(marks.sketches[rows, columns], rows)
    with_shape = np.flatnonzero(np.isfinite(marks.shapes[:, 0]))
    shapes = marks.shapes[with_shape]
    if len(shapes) < 2:
        return
    pairs = cKDTree(shapes[:, :N_SHAPE]).query_pairs(shapes[:, -1].max(), p=np.inf, output_type="ndarray")
    apart = np.abs(shapes[pairs[:, 0], :N_SHAPE] - shapes[pairs[:, 1], :N_SHAPE]).max(axis=1)
    near = apart <= np.maximum(shapes[pairs[:, 0], -1], shapes[pairs[:, 1], -1])
    yield from map(tuple, np.sort(with_shape[pairs[near]], axis=1).tolist())


def _equal(keys: Integers, owners: Integers) -> Iterator[tuple[int, int]]:
    """Yield the pairs of owners, ascending, that have a key in common."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else ordered
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(ordered)], strict=False):
        if end - start > 1:
            yield from itertools.combinations(sorted(set(owners[order[start:end]].tolist())), 2)


def _with_common_tokens(marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield the pairs of runs, ascending, that have so many tokens in common that it may be no accident."""
    for kind in N_TOKENS:
        own = [tokens[tokens % KINDS == kind] for tokens in marks.tokens]
        counts = np.array([len(tokens) for tokens in own], dtype=np.int64)
        one, other, shared = _common(own)
        enough = shared >= _least_common(kind, np.minimum(counts[one], counts[other]))
        yield from zip(one[enough].tolist(), other[enough].tolist(), strict=True)


def _common(own: Sequence[Integers]) -> tuple[Integers, Integers, Integers]:
    """Return all pairs, ascending, of those who have keys in common, and how many these are.

    `own`: the keys of each, none of them twice.
    """
    counts = np.array([len(keys) for keys in own], dtype=np.int64)
    distinct, places = np.unique(np.concatenate([np.zeros(0, np.int64), *own]), return_inverse=True)
    owners = np.repeat(np.arange(len(own)), counts)
    table = csr_array((np.ones(len(owners), np.int32), (owners, places)), shape=(len(own), len(distinct)))
    table = table[:, np.flatnonzero(np.bincount(places, minlength=len(distinct)) <= _COMMON)]
    shared = triu(table @ table.T, k=1).tocoo()
    return shared.row.astype(np.int64), shared.col.astype(np.int64), shared.data.astype(np.int64)


def _least_common(kind: int, fewest: Integers) -> Integers:
    """Return how many tokens two runs must have in common, of whom one has so few of a kind."""
    if kind == VALUES:
        return np.maximum(2, fewest // 5)
    if kind == GAPS:
        return np.full_like(fewest, 2)
    return np.select([fewest < 48, fewest < N_TOKENS[ORDERS]], [1, 2], 3)


def _are_parts(some: Sequence[Integers], others: Sequence[Integers]) -> bool:
    """Return whether a measurement is a part of one of another run, in whatever order, and shifted or not."""
    several = [[raw for raw in raws if len(raw) >= _LEAST_PART[0] and _by_chance(raw) <= _DENSEST] for raws in (some, others)]
    both, n = [*several[0], *several[1]], len(several[0])
    for keys, least in (
        ([np.unique(raw) for raw in both], _LEAST_PART[0]),
        ([np.unique(grams_of(np.sort(raw))) for raw in both], 1),
    ):
        for one, other, shared in zip(*_common(keys), strict=True):
            if one < n <= other and shared >= least and _is_part(*sorted((both[one], both[other]), key=len)):
                return True
    return False


def _by_chance(raw: Integers) -> float:
    """Return how probable it is that an honest repetition is one of these; they lie densest in the middle."""
    q1, q3 = np.quantile(raw, [0.25, 0.75])
    tick = max(int(np.gcd.reduce(raw - raw[0])), 1)
    return float(2 * len(raw) * tick / max(q3 - q1, 1.0))


def _is_part(few: Integers, many: Integers) -> bool:
    """Return whether so many repetitions, all of them shifted by the same, are others that it is no accident."""
    apart, number = np.unique(np.subtract.outer(few, many), return_counts=True)
    n_common = int(number.max())
    if n_common < max(_LEAST_PART[0], _LEAST_PART[1] * len(few)):
        return False
    return bool(len(apart) * binom.sf(n_common - 1, len(few), _by_chance(many)) < _BY_ACCIDENT)


def _have_one_order(some: Sequence[Integers], others: Sequence[Integers]) -> bool:
    """Return whether the repetitions of two runs are long and short at the same places, more than any shift explains.

    Each measurement of the run that has fewer is compared with the one of the other run that it resembles most, as it is and
    shifted by some repetitions; honest runs that vary in a fixed rhythm resemble each other shifted, too.
    """
    by_length = [_scores_by_length(raws) for raws in (some, others)]
    n_repetitions = 0
    total = np.zeros(2 * _LAGS + 1)
    for length in by_length[0].keys() & by_length[1].keys():
        few, many = sorted((one[length] for one in by_length), key=len)
        lags = (0, *range(1, _LAGS + 1), *range(-_LAGS, 0))
        total += [length * (few @ np.roll(many, lag, axis=1).T).max(axis=1).sum() for lag in lags]
        n_repetitions += length * len(few)
    if not n_repetitions:
        return False
    aligned, shifted = total[0] / n_repetitions, total[1:].max() / n_repetitions
    is_much = aligned - shifted >= _ORDER[0] * (1 - shifted)
    return bool(is_much and (aligned - shifted) * np.sqrt(n_repetitions) >= _ORDER[1])


def _scores_by_length(raws: Sequence[Integers]) -> dict[int, Floats]:
    """Return the ranks of all measurements that differ in most of their repetitions, by the number of these."""
    found: dict[int, list[Floats]] = {}
    for raw in raws:
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


def times_in(content: bytes, run_id: str) -> dict[int, Integers]:
    """Return the repetitions of the times of a run, of its file's content, by their hashes.

    Raises DataError if the file is damaged.
    """
    _, table = trusted(content, run_id)
    return {raw_hash(raw): raw for raw in times_of(table)}
