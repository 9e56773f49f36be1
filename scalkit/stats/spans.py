"""Ranges of processes and sizes in which the same was chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
Span = tuple[int, int]
"""From and to, both included."""


class Area(NamedTuple, Generic[T]):
    """A choice, and where it holds: ends included."""

    choice: T
    p: Span
    size: Span


def areas(chosen: Mapping[tuple[Span, Span], T | None]) -> tuple[Area[T], ...]:
    """Return the areas of choices at numbers of processes and sizes; None where nothing was chosen.

    A range of sizes ends at one with another choice. Between two numbers of processes the choice of both holds for the sizes of
    both; beyond the last ones nothing does.
    """
    found: list[Area[T]] = []
    rows = [
        (p, list(_of_sizes(p, cells)))
        for p, cells in groupby(sorted(chosen.items(), key=itemgetter(0)), key=lambda one: one[0][0])
    ]
    for _, row in rows:
        found += row
    for (lower, below), (upper, above) in pairwise(rows):
        if upper[0] - lower[1] > 1:
            found += _between((lower[1] + 1, upper[0] - 1), below, above)
    return tuple(found)


def _of_sizes(p: Span, cells: Iterable[tuple[tuple[Span, Span], T | None]]) -> Iterator[Area[T]]:
    for choice, run in groupby(cells, key=lambda cell: cell[1]):
        sizes = [size for (_, size), _ in run]
        if choice is not None:
            yield Area(choice, p, (sizes[0][0], sizes[-1][1]))


def _between(p: Span, below: Iterable[Area[T]], above: Sequence[Area[T]]) -> Iterator[Area[T]]:
    for one in below:
        for other in above:
            low, high = max(one.size[0], other.size[0]), min(one.size[1], other.size[1])
            if one.choice == other.choice and low <= high:
                yield Area(one.choice, p, (low, high))
