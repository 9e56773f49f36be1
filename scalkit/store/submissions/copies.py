"""Finds measurements that are others in disguise: shifted, scaled, reversed, reordered, a part, under another name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.store.runs.content import trusted
from scalkit.store.runs.marks import N_GRAMS, N_SHAPE, grams_of
from scalkit.store.runs.summaries import repetitions_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_LOOKED_AT = 8
"""So many of the measurements with the nearest shapes are compared repetition by repetition."""

_TICKS = 1.5
"""Rounding of both to whole ns, and of the two ends that the scale is taken from."""

_LEAST_GRAMS = 8, 16
"""So many stretches of five repetitions must be the same, all of them if they are fewer than the second: where at least 90 % of
all stretches are different, there are so many possible ones that this is no accident."""


@dataclass(frozen=True)
class Origin:
    """A run as messages name it; what makes it the same run in a later state; whether a program computed its times.

    Simulators and virtual clocks repeat themselves, real clocks do not: what is computed is compared with what was measured only.
    """

    run_id: str
    name: str
    same: tuple[str, ...]
    computed: bool

    @classmethod
    def of(cls, run_id: str, name: str, measured: Mapping[str, Any]) -> "Origin":
        """Return the origin that a record tells of."""
        keys = ("campaign", "label", "machine", "mpi_library", "started")
        computed = measured.get("clock") != "real"
        return cls(run_id, name, tuple(str(measured.get(key, "")) for key in keys), computed)


@dataclass(frozen=True, eq=False)
class Marks:
    """The marks of the measurements of several runs.

    `run` of shape (n,): which of them each measurement is of; ascending. `hashes` of shape (n,): of the repetitions.
    `shapes` of shape (n, N_SHAPE + 1): see `scalkit.store.runs.marks.mark_of`; NaN where there is none.
    `sketches` of shape (n, N_GRAMS): 0 where there are fewer.
    """

    origins: Sequence[Origin]
    run: Integers
    hashes: Integers
    shapes: Floats
    sketches: Integers

    @classmethod
    def of(cls, origins: Sequence[Origin], columns: Sequence[Mapping[str, Sequence[Any]]]) -> "Marks":
        """Return the marks of runs, for each of which there are lists of ``raw_hash``, ``shape`` and ``sketch``."""
        rows = [
            (place, *row)
            for place, one in enumerate(columns)
            for row in zip(one["raw_hash"], one["shape"], one["sketch"], strict=True)
            if np.ndim(row[2]) == 1 and len(row[2])
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
        )

    def __add__(self, other: "Marks") -> "Marks":
        """Return both, the other ones last."""
        return Marks(
            [*self.origins, *other.origins],
            np.concatenate([self.run, other.run + len(self.origins)]),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.shapes, other.shapes]),
            np.concatenate([self.sketches, other.sketches]),
        )


def copies(new: Marks, known: Marks, raw_of: Callable[[str, int], Integers]) -> dict[str, tuple[str, str]]:
    """Return which of the new runs are copies, and of what.

    `new`, `known`: a new run is compared with the known ones, with the new ones before it, and with itself.
    `raw_of`: repetitions by the id of a run and their hash.
    Result: from the id of a run to the code and the name of the run whose measurements it has.
    """
    both = known + new
    first = len(known.hashes)
    order = np.argsort(both.shapes[:, 0])
    ordered = both.shapes[order, 0]
    flat = both.sketches.ravel()
    places = np.flatnonzero(flat)
    by_gram = places[np.argsort(flat[places], kind="stable")]
    grams = flat[by_gram]
    by_hash = np.argsort(both.hashes, kind="stable")
    found: dict[str, tuple[str, str]] = {}
    for row in range(first, len(both.hashes)):
        origin = both.origins[both.run[row]]
        if origin.run_id in found:
            continue
        low, high = np.searchsorted(both.hashes[by_hash], [both.hashes[row], both.hashes[row] + 1])
        near = [*by_hash[low:high], *_alike(both, row, order, ordered)]
        for gram in both.sketches[row][both.sketches[row] != 0]:
            low, high = np.searchsorted(grams, [gram, gram + 1])
            near += list(by_gram[low : min(high, low + _MOST_LOOKED_AT)] // N_GRAMS)
        for other in dict.fromkeys(int(one) for one in near if one < row):
            theirs = both.origins[both.run[other]]
            if (origin.computed and theirs.computed) or _is_later_state(both, row, other, origin, theirs):
                continue
            how = "raw-duplicated" if both.hashes[row] == both.hashes[other] else "raw-copied"
            if how == "raw-duplicated" or is_copy(
                raw_of(origin.run_id, int(both.hashes[row])), raw_of(theirs.run_id, int(both.hashes[other]))
            ):
                found[origin.run_id] = how, theirs.name
                break
    return found


def _alike(both: Marks, row: int, order: Integers, ordered: Floats) -> list[int]:
    """Return the measurements whose shapes are nearest, as far as rounding could make the difference."""
    shape = both.shapes[row]
    if np.isnan(shape[0]):
        return []
    width = shape[-1]
    low, high = np.searchsorted(ordered, [shape[0] - width, shape[0] + width])
    near = order[low:high]
    apart = np.abs(both.shapes[near, :N_SHAPE] - shape[:N_SHAPE]).max(axis=1)
    fits = (apart <= np.maximum(width, both.shapes[near, -1])) & (near < row)
    return [int(one) for one in near[fits][np.argsort(apart[fits])][:_MOST_LOOKED_AT]]


def _is_later_state(both: Marks, row: int, other: int, origin: Origin, theirs: Origin) -> bool:
    """Return whether both are one run, or states of one of which the later has more launches and the same repetitions."""
    if both.run[row] == both.run[other]:
        return False
    same = origin.same == theirs.same and bool(origin.same[0])
    return origin.run_id == theirs.run_id or bool(same and both.hashes[row] == both.hashes[other])


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
    few, many = sorted((grams_of(some), grams_of(others)), key=len)
    if not len(few) or any(len(np.unique(one)) < 0.9 * len(one) for one in (few, many)):
        return False
    shared = np.isin(few, many).sum()
    return bool(shared >= max(_LEAST_GRAMS[0], 0.5 * len(few)) and (shared >= _LEAST_GRAMS[1] or shared == len(few)))


def raws_in(content: bytes, run_id: str) -> dict[int, Integers]:
    """Return the repetitions of the measurements of a run, of its file's content, by their hashes.

    Raises DataError if the file is damaged.
    """
    _, table = trusted(content, run_id)
    return dict(zip(table["raw_hash"].to_pylist(), repetitions_of(table), strict=True))
