"""The growths that compete for a verdict, with their ranks; the same value for all series that are judged alike."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scalkit.arrays import Ints
from scalkit.growth import Growth
from scalkit.validation.expectation import RANKS, Expectation


@dataclass(frozen=True, eq=False)
class Competing:
    """Growths about an expectation.

    `ranks`, shape (growths,): index into ``RANKS`` of each.
    `first_beyond`: place of the first one beyond the upper limit; their number if there is none.
    """

    growths: tuple[Growth, ...]
    places: Mapping[Growth, int]
    ranks: Ints
    first_beyond: int


@lru_cache(maxsize=64)
def competing(growths: tuple[Growth, ...], expectation: Expectation) -> Competing:
    """Return growths, ascending, with their places and ranks about an expectation."""
    return Competing(
        growths,
        {growth: place for place, growth in enumerate(growths)},
        np.array([RANKS.index(expectation.rank(growth)) for growth in growths]),
        bisect_right(growths, expectation.limits[1]),
    )
