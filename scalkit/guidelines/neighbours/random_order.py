"""The seeded generator of the C programs (splitmix64), so that both sides shuffle alike."""

from collections.abc import Sequence
from typing import TypeVar

_MASK = (1 << 64) - 1
T = TypeVar("T")


class Generator:
    """Random whole numbers: the same as ``base/rng.c`` of the microbenchmarks, for a seed and a stream.

    `seed`, `stream`: from 0 to 2^64 - 1.

    Source: G. L. Steele, D. Lea, C. H. Flood: *Fast Splittable Pseudorandom Number Generators.* OOPSLA, 2014.
    """

    def __init__(self, seed: int, stream: int) -> None:
        self._state = seed & _MASK
        self._state = self.next() ^ (stream * 0xD1342543DE82EF95 & _MASK)

    def next(self) -> int:
        """Return a number from 0 to 2^64 - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1, each equally likely."""
        surplus = (_MASK % n + 1) % n
        while (x := self.next()) > _MASK - surplus:
            pass
        return x % n

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order, each order equally likely."""
        found = list(items)
        for i in range(len(found) - 1, 0, -1):
            j = self.below(i + 1)
            found[i], found[j] = found[j], found[i]
        return found
