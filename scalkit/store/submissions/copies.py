"""Finds runs that are others in disguise: their repetitions shifted, scaled, reordered, with noise, in part, under another name.

What is found follows from the runs alone, in whatever order they came: so merging stores in any order finds the same.
"""

import datetime as dt
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet
from scipy.spatial import cKDTree

from scalkit.errors import DataError
from scalkit.store.flags import Group
from scalkit.store.runs.content import trusted
from scalkit.store.runs.marks import GAPS, KINDS, N_GRAMS, N_SHAPE, N_TOKENS, ORDERS, TOKENS, VALUES, times_of
from scalkit.store.runs.summaries import raw_hash
from scalkit.store.submissions.resemblance import ROWS, are_parts, common_keys, have_one_order, is_copy

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    def of(cls, runs: Iterable["MarkedRun"]) -> "Marks":
        """Return the marks of runs by their ids, each once, and of their measurements by their hashes.

        The order makes the result of a search for copies independent of the origin of the runs.
        """
        by_id = {origin.run_id: (origin, columns) for origin, columns in runs}
        ordered = [by_id[run_id] for run_id in sorted(by_id)]
        rows = [
            (place, *row)
            for place, (_, columns) in enumerate(ordered)
            for row in sorted(zip(columns["raw_hash"], columns["shape"], columns["sketch"], strict=True), key=lambda row: row[0])
            if np.ndim(row[2]) == 1
        ]
        none = [np.nan] * (N_SHAPE + 1)  # an index has NaN or None where a list is missing
        shapes = [shape if np.ndim(shape) == 1 else none for _, _, shape, _ in rows]
        grams = [[*sketch, *[0] * (N_GRAMS - len(sketch))] for _, _, _, sketch in rows]
        return cls(
            [origin for origin, _ in ordered],
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array(shapes, dtype=np.float32).reshape(-1, N_SHAPE + 1).astype(np.float64),  # as in an index
            np.array(grams, dtype=np.int64).reshape(-1, N_GRAMS),
            [np.array(columns[TOKENS], dtype=np.int64) for _, columns in ordered],
        )


MarkedRun = tuple[Origin, Mapping[str, Sequence[Any]]]
"""A run, and lists of ``raw_hash``, ``shape``, ``sketch`` and ``tokens``."""

Measured = Callable[[str], Mapping[int, Integers]]
"""Returns the repetitions of the times of a run, given its id, by their hashes."""


def repeating(marks: Marks) -> set[int]:
    """Return the places of the runs that have the repetitions of one measurement twice, and did not compute them."""
    both = np.stack([marks.run, marks.hashes], axis=1)
    distinct, number = np.unique(both, axis=0, return_counts=True)
    return {place for place in distinct[number > 1, 0].tolist() if not marks.origins[place].computed}


def copies(marks: Marks, measured: Measured, wall_s: float = math.inf) -> tuple[Group, ...]:
    """Return the groups of runs that have measurements of each other.

    `measured`: of runs whose files are damaged it may return nothing.
    `wall_s`: the comparison may take so long. Raises DataError if it takes longer.
    """
    search = _Search(marks, measured, time.monotonic() + wall_s)
    search.join_equal()
    search.join_alike()
    search.join_resembling()
    return search.groups()


class _Search:
    """Joins runs that are copies of each other. Two that are joined already, by others, are not compared any more."""

    def __init__(self, marks: Marks, measured: Measured, until: float) -> None:
        self._marks = marks
        self._measured = measured
        self._until = until
        self._joined = DisjointSet(range(len(marks.origins)))
        starts = np.searchsorted(marks.run, np.arange(len(marks.origins) + 1))
        self._hashes = [frozenset(marks.hashes[a:b].tolist()) for a, b in itertools.pairwise(starts.tolist())]

    def _may_be_copies(self, one: int, other: int) -> bool:
        """Return whether two runs are to be compared: not if both are computed, or one is a later state of the other."""
        if self._joined.connected(one, other):
            return False
        self._require_time()
        first, second = self._marks.origins[one], self._marks.origins[other]
        if first.computed and second.computed:
            return False
        return not self._are_states(one, other)

    def _are_states(self, one: int, other: int) -> bool:
        """Return whether one of two runs has all measurements of the other, as a campaign that went on has."""
        first, second = self._marks.origins[one], self._marks.origins[other]
        if not first.same[0] or first.same != second.same:
            return False
        few, many = sorted((self._hashes[one], self._hashes[other]), key=len)
        return few <= many

    def _times_of(self, place: int) -> Mapping[int, Integers]:
        return self._measured(self._marks.origins[place].run_id)

    def _require_time(self) -> None:
        if time.monotonic() > self._until:
            raise DataError(
                f"comparing {len(self._marks.origins)} runs with each other takes too long; merge fewer at once, or give a "
                "Policy with a larger wall_s."
            )

    def join_equal(self) -> None:
        """Join runs that have the same repetitions.

        Of many that share some, each is joined with one that it is a copy of, and not with all of them.
        """
        marks = self._marks
        for rows in _shared(marks.hashes, np.arange(len(marks.hashes)), marks.run):
            owners = marks.run[rows].tolist()
            real = [place for place in owners if not self._marks.origins[place].computed]
            if not real:
                continue
            others = [place for place in real if not self._are_states(real[0], place)]
            computed = [place for place in owners if place not in set(real)]
            for place in owners:
                for pivot in (real[0], *others[:1], *computed[:1]):
                    if self._may_be_copies(pivot, place):
                        self._joined.merge(pivot, place)

    def join_alike(self) -> None:
        """Join runs with measurements that have a stretch of repetitions in common, or the same shape."""
        marks = self._marks
        rows, columns = np.nonzero(marks.sketches)
        for several in _shared(marks.sketches[rows, columns], rows, marks.run[rows]):
            if len({self._joined[place] for place in marks.run[several].tolist()}) > 1:
                self._compare(itertools.combinations(several, 2))
        self._compare(_of_one_shape(marks))

    def _compare(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Join the runs of those pairs of measurements that are copies of each other."""
        marks = self._marks
        for rows in pairs:
            one, other = (int(marks.run[row]) for row in rows)
            if self._may_be_copies(one, other):
                some = self._times_of(one).get(int(marks.hashes[rows[0]]))
                others = self._times_of(other).get(int(marks.hashes[rows[1]]))
                if some is not None and others is not None and is_copy(some, others):
                    self._joined.merge(one, other)

    def join_resembling(self) -> None:
        """Join runs with so many tokens in common that one may be the other with noise, or a part of it."""
        for one, other in _with_common_tokens(self._marks):
            if self._may_be_copies(one, other):
                some, others = ([*self._times_of(place).values()] for place in (one, other))
                if are_parts(some, others) or have_one_order(some, others):
                    self._joined.merge(one, other)

    def groups(self) -> tuple[Group, ...]:
        """Return the runs that were joined, those with more than one."""
        return tuple(sorted(self._group(members) for members in self._joined.subsets() if len(members) > 1))

    def _group(self, members: Iterable[int]) -> Group:
        ordered = sorted(members, key=lambda place: self._marks.origins[place].order)
        units: list[list[int]] = []
        of_campaign: dict[tuple[str, ...], list[list[int]]] = {}
        for place in ordered:
            near = of_campaign.setdefault(self._marks.origins[place].same, [])
            unit = next((unit for unit in near if any(self._are_states(place, other) for other in unit)), None)
            if unit is None:
                units.append([place])
                near.append(units[-1])
            else:
                unit.append(place)
        return tuple(tuple(self._marks.origins[place].run_id for place in unit) for unit in units)


def _shared(keys: Integers, rows: Integers, runs: Integers) -> Iterator[list[int]]:
    """Yield, for every key that several runs have, the first of the rows with it of each run, ascending.

    `rows`, `runs` of the shape of `keys`: where each stands, and of which run; both ascending together.
    """
    order = np.lexsort((rows, keys))
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else ordered
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(ordered)], strict=False):
        if end - start > 1:
            at = order[start:end]
            _, first = np.unique(runs[at], return_index=True)
            if len(first) > 1:
                yield rows[at[first]].tolist()


def _of_one_shape(marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield pairs of measurements, ascending, whose shapes differ by no more than rounding could make them."""
    with_shape = np.flatnonzero(np.isfinite(marks.shapes[:, 0]))
    both = np.concatenate([marks.run[with_shape, None], marks.shapes[with_shape]], axis=1)
    with_shape = with_shape[np.sort(np.unique(both, axis=0, return_index=True)[1])]
    shapes = marks.shapes[with_shape]
    if len(shapes) < 2:
        return
    widest = float(shapes[:, -1].max())
    tree = cKDTree(shapes[:, :N_SHAPE])
    for start in range(0, len(shapes), ROWS):
        near = tree.query_ball_point(shapes[start : start + ROWS, :N_SHAPE], widest, p=np.inf)
        for one, found in enumerate(near, start):
            others = np.array([other for other in found if other > one], dtype=np.int64)
            apart = np.abs(shapes[others, :N_SHAPE] - shapes[one, :N_SHAPE]).max(axis=1, initial=0)
            fits = apart <= np.maximum(shapes[others, -1], shapes[one, -1])
            yield from ((int(with_shape[one]), int(with_shape[other])) for other in others[fits].tolist())


def _with_common_tokens(marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield the pairs of runs, ascending, that have so many tokens in common that it may be no accident."""
    for kind in N_TOKENS:
        own = [tokens[tokens % KINDS == kind] for tokens in marks.tokens]
        counts = np.array([len(tokens) for tokens in own], dtype=np.int64)
        for one, other, shared in common_keys(own):
            enough = shared >= _least_common(kind, np.minimum(counts[one], counts[other]))
            yield from zip(one[enough].tolist(), other[enough].tolist(), strict=True)


def _least_common(kind: int, fewest: Integers) -> Integers:
    """Return how many tokens two runs must have in common, of whom one has so few of a kind."""
    if kind == VALUES:
        return np.maximum(2, fewest // 5)
    if kind == GAPS:
        return np.full_like(fewest, 2)
    return np.select([fewest < 48, fewest < N_TOKENS[ORDERS]], [1, 2], 3)


def times_in(content: bytes, run_id: str) -> dict[int, Integers]:
    """Return the repetitions of the times of a run, of its file's content, by their hashes.

    Raises DataError if the file is damaged.
    """
    _, table = trusted(content, run_id)
    return {raw_hash(raw): raw for raw in times_of(table)}
