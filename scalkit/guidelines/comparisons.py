"""Which experiments a guideline compares: all parameters equal but the one that it is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from scalkit.errors import DataError
from scalkit.guidelines.experiments import MISSING, Measured
from scalkit.guidelines.guideline import Guideline, Side, plain_level
from scalkit.guidelines.result import Assessment
from scalkit.stats.samples import Flags, Floats, Integers

_LOCAL = ("MPI_Reduce_local",)
"""Calls without communication: on a clock on which computing costs nothing they take no time, and are not measured."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is compared for one guideline.

    `left`, `right` of shape (tests, runs): medians of runs; NaN where a run lacks an experiment of the side.
    `codes` of shape (tests, parameters): the place of each test; -1 for the parameter that is compared, and for those
    that neither side has.
    `against` of shape (tests,): for guidelines between sizes: the code of the other size; else -1.
    `rows` of shape (tests,): the experiments of each side's terms: those of left, then those of right; -1 for a local
    call that takes no time.
    `why_not`: why there is nothing to compare; empty if there is.
    """

    left: Floats
    right: Floats
    codes: Integers
    against: Integers
    rows: tuple[tuple[Integers, ...], tuple[Integers, ...]] = ((), ())
    why_not: str = ""

    def crowded(self, data: Measured) -> Flags:
        """Return whether an experiment of either side cannot decide, for each test."""
        found = np.zeros(len(self), dtype=bool)
        for rows in (*self.rows[0], *self.rows[1]):
            found |= data.crowded[rows]
        return found

    def __len__(self) -> int:
        return len(self.codes)


def matched(guideline: Guideline, data: Measured) -> Pairs:
    """Return what a guideline compares in some measurements."""
    if guideline.parameter not in data.parameters:
        return _nothing(data, f"the measurements have no parameter '{guideline.parameter}'")
    usable = np.ones(len(data.codes), dtype=bool)
    for name in guideline.where:
        if name in data.parameters:
            place = data.parameters.index(name)
            allowed = [guideline.holds_for(name, level) for level in data.levels[name]]
            usable &= np.array([*allowed, True])[data.codes[:, place]]  # a missing level, -1, takes the last place
    if guideline.kind != "levels":
        return _between_sizes(guideline, data, usable)
    return _between_levels(guideline, data, usable)


def _nothing(data: Measured, why: str) -> Pairs:
    none, runs = np.empty(0, dtype=np.int64), len(data.runs)
    return Pairs(
        np.empty((0, runs)), np.empty((0, runs)), np.empty((0, len(data.parameters)), dtype=np.int64), none, ((), ()), why
    )


def _between_levels(guideline: Guideline, data: Measured, usable: np.ndarray) -> Pairs:
    own = data.parameters.index(guideline.parameter)
    known = {plain_level(level): code for code, level in enumerate(data.levels[guideline.parameter])}
    free = {level for level in _LOCAL if data.exact and plain_level(level) not in known}
    lacking = [level for level in guideline.levels if plain_level(level) not in known and level not in free]
    if lacking:
        return _nothing(data, f"{', '.join(lacking)} {'was' if len(lacking) == 1 else 'were'} not measured")
    if free.issuperset(guideline.levels):
        return _nothing(data, f"{', '.join(guideline.levels)} takes no time on a virtual clock")
    apart = [data.parameters.index(name) for name in guideline.apart_from if name in data.parameters]
    codes: Integers | None = None
    chosen: list[Integers] = []
    levels = [level for side in (guideline.left, guideline.right) for terms in side for _, level in terms]
    for number, level in enumerate(one for one in levels if one not in free):
        rows = np.flatnonzero(usable & (data.codes[:, own] == known[plain_level(level)]))
        keys = data.codes[rows].copy()
        keys[:, own] = MISSING
        if number:
            keys[:, apart] = MISSING
        if codes is None:
            codes, chosen = keys, [rows]
            continue
        first, second = _joined(codes, keys)
        codes = np.maximum(codes[first], keys[second])
        chosen = [*(one[first] for one in chosen), rows[second]]
    assert codes is not None, "a term takes time"
    if not len(codes):
        return _nothing(data, "no setting has measurements of both sides")
    timed, none = iter(chosen), np.full(len(codes), MISSING)
    chosen = [none if level in free else next(timed) for level in levels]
    n_left = sum(len(terms) for terms in guideline.left)
    sides = tuple(chosen[:n_left]), tuple(chosen[n_left:])
    left, right = (_times(side, rows, data) for side, rows in zip((guideline.left, guideline.right), sides, strict=True))
    return Pairs(left, right, codes, np.full(len(codes), MISSING), sides)


def _times(side: Side, rows: tuple[Integers, ...], data: Measured) -> Floats:
    """Return the times of a side run by run: the largest of its sums, NaN where a run lacks a term."""
    medians = (np.where((one == MISSING)[:, None], 0.0, data.medians[one]) for one in rows)
    sums = [np.sum([factor * next(medians) for factor, _ in terms], axis=0) for terms in side]
    found: Floats = np.max(sums, axis=0)
    return found


def _joined(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return the pairs of rows that agree in every column; a missing value agrees with any."""
    import pandas as pd

    first, second = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for (mask_a, rows_a), (mask_b, rows_b) in product(_by_missing(left), _by_missing(right)):
        common = np.flatnonzero(~mask_a & ~mask_b)
        keys = np.concatenate((left[rows_a][:, common], right[rows_b][:, common]))
        _, key = np.unique(keys, axis=0, return_inverse=True) if len(common) else (None, np.zeros(len(keys), dtype=int))
        a = pd.DataFrame({"key": key.ravel()[: len(rows_a)], "a": rows_a})
        b = pd.DataFrame({"key": key.ravel()[len(rows_a) :], "b": rows_b})
        both = a.merge(b, on="key")
        first.append(both["a"].to_numpy())
        second.append(both["b"].to_numpy())
    return np.concatenate(first), np.concatenate(second)


def _by_missing(codes: Integers) -> Iterator[tuple[np.ndarray, Integers]]:
    kinds, which = np.unique(codes == MISSING, axis=0, return_inverse=True)
    for number, mask in enumerate(kinds):
        yield mask, np.flatnonzero(which.ravel() == number)


def _between_sizes(guideline: Guideline, data: Measured, usable: np.ndarray) -> Pairs:
    own = data.parameters.index(guideline.parameter)
    rows = np.flatnonzero(usable & (data.codes[:, own] != MISSING))
    keys = data.codes[rows].copy()
    sizes = keys[:, own].copy()
    keys[:, own] = MISSING
    levels = data.levels[guideline.parameter]
    if not all(isinstance(level, int | float) for level in levels):
        raise DataError(f"'{guideline.parameter}' has levels that are no numbers; '{guideline.family}' needs sizes.")
    order = np.lexsort((sizes, *keys.T))
    small, large = [], []
    for group in np.split(order, np.flatnonzero((np.diff(keys[order], axis=0) != 0).any(axis=1)) + 1):
        for place in range(1, len(group)):
            for other in range(place) if guideline.kind == "split" else [place - 1]:
                if guideline.kind == "monotony" or levels[sizes[group[other]]] > 0:
                    small.append(group[other])
                    large.append(group[place])
    if not small:
        return _nothing(data, f"no setting was measured with two values of '{guideline.parameter}'")
    a, b = np.array(small), np.array(large)
    codes = keys[a].copy()
    if guideline.kind == "monotony":
        codes[:, own] = sizes[a]
        sides = data.medians[rows[a]], data.medians[rows[b]]
        return Pairs(*sides, codes, sizes[b], ((rows[a],), (rows[b],)))
    values = np.array(levels, dtype=np.float64)
    pieces = np.ceil(values[sizes[b]] / values[sizes[a]])
    codes[:, own] = sizes[b]
    sides = data.medians[rows[b]], pieces[:, None] * data.medians[rows[a]]
    return Pairs(*sides, codes, sizes[a], ((rows[b],), (rows[a],)))


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
