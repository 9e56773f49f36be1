"""Neighbourhoods: Cartesian, Moore, von Neumann and full neighbourhoods on a grid of processes, in every order.

The C program that measures has lists of its own; they are checked against these."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Literal, TypeVar, get_args

from scalkit.errors import UsageError

MOST_DIMENSIONS = 16


def balanced_dims(p: int, n: int) -> tuple[int, ...]:
    """Return d1 >= ... >= dn with product `p`: smallest d1 - dn, then smallest sum, then lexicographically smallest.

    Parameters
    ----------
    p : int
        Number of processes, from 1.
    n : int
        Number of dimensions, from 1 to 16.

    Returns
    -------
    tuple of int, of length `n`

    Raises
    ------
    UsageError
        If `p` or `n` is out of range.

    References
    ----------
    J. L. Träff, F. D. Lübbe: *Specification Guideline Violations by MPI_Dims_create.* EuroMPI, 2015; there it is called
    TUW_Dims_create.
    """
    if isinstance(p, bool) or not isinstance(p, int) or p < 1:
        raise UsageError(f"the number of processes is {p!r}; a grid needs a whole number from 1.")
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_DIMENSIONS:
        raise UsageError(f"the number of dimensions is {n!r}; a grid has 1 to {MOST_DIMENSIONS}.")
    if n == 1:
        return (p,)
    divisors = tuple(d for d in range(1, int(p**0.5) + 2) if p % d == 0)
    divisors = tuple(sorted({*divisors, *(p // d for d in divisors)}))
    for spread in sorted({high - low for low in divisors for high in divisors if high >= low}):
        found = [
            (low + spread, *inner, low)
            for low in divisors
            if p % (low * (low + spread)) == 0
            for inner in _between(p // (low * (low + spread)), n - 2, low, low + spread)
        ]
        if found:
            return min(found, key=lambda dims: (sum(dims), dims))
    raise AssertionError("p, 1, ..., 1 is always possible")


@lru_cache(maxsize=65536)
def _between(product: int, n: int, low: int, high: int) -> tuple[tuple[int, ...], ...]:
    """Return all descending lists of `n` numbers from `low` to `high` with a product."""
    if n == 0:
        return ((),) if product == 1 else ()
    if not low**n <= product <= high**n:
        return ()
    return tuple(
        (first, *rest)
        for first in range(low, min(high, product) + 1)
        if product % first == 0
        for rest in _between(product // first, n - 1, low, first)
    )


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


Kind = Literal["cart", "moore", "vonneumann", "full"]
Order = Literal["fmaj", "lmaj", "rand", "linear", "none"]
KINDS: tuple[str, ...] = get_args(Kind)
ORDERS: dict[str, tuple[str, ...]] = {
    "cart": ("none",),
    "moore": ("fmaj", "lmaj", "rand"),
    "vonneumann": ("fmaj", "lmaj", "rand"),
    "full": ("linear", "rand"),
}
"""The orders that each kind may have; those of a Cartesian topology are fixed by MPI."""
NO_PROCESS = -1
"""Stands for MPI_PROC_NULL in the lists of a Cartesian topology; other kinds leave out what lies beyond a border."""
_MOST_NEIGHBOURS = 1_000_000
Offset = tuple[int, ...]


@dataclass(frozen=True)
class Neighbourhood:
    """The neighbours of every process of a grid.

    Attributes
    ----------
    kind : {"cart", "moore", "vonneumann", "full"}
        ``cart``: two in each dimension. ``moore``: all within a cube of side 2 radius + 1. ``vonneumann``: those of them within
        the radius by the sum of distances. ``full``: all processes, the own one among them, as in MPI_Alltoall.
    dims : tuple of int
        Of the grid; ranks count the last dimension fastest, as in MPI.
    periodic : tuple of bool
        Whether each dimension is a ring; one value serves all. A neighbour beyond the border of one that is not does not exist.
    radius : int
        From 1; for ``moore`` and ``vonneumann``.
    order : {"fmaj", "lmaj", "rand", "linear", "none"}
        ``fmaj``, ``lmaj``: coordinates ascend, the first, or last, changes last. ``rand``: each process has an order of its own.
        ``linear``: from the own rank, sources up, destinations down.
    seed : int
        Of ``rand``; the rank is the stream.

    Raises
    ------
    UsageError
        If the parts do not fit each other, or the radius is larger than a dimension.
    """

    kind: Kind
    dims: tuple[int, ...]
    periodic: tuple[bool, ...] = (True,)
    radius: int = 1
    order: Order = "none"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"the neighbourhood {self.kind!r} is unknown; choose from {', '.join(KINDS)}.")
        object.__setattr__(self, "dims", tuple(self.dims))
        if not self.dims or min(self.dims) < 1:
            raise UsageError(f"the grid {self.dims} is no grid; each dimension has at least one process.")
        periodic = tuple(self.periodic) * (len(self.dims) if len(self.periodic) == 1 else 1)
        if len(periodic) != len(self.dims):
            raise UsageError(f"{len(periodic)} periods do not fit {len(self.dims)} dimensions; give one for each.")
        object.__setattr__(self, "periodic", periodic)
        if self.order not in ORDERS[self.kind]:
            raise UsageError(
                f"neighbours of kind '{self.kind}' cannot come in order {self.order!r}; "
                f"choose from {', '.join(ORDERS[self.kind])}."
            )
        self._require_radius()

    def _require_radius(self) -> None:
        if self.radius < 1:
            raise UsageError(f"the radius is {self.radius}; it must be at least 1.")
        if self.kind in ("moore", "vonneumann"):
            if self.radius > min(self.dims) and self.radius > 1:
                grid = " x ".join(map(str, self.dims))
                raise UsageError(
                    f"the radius {self.radius} is larger than the grid {grid}; choose at most {min(self.dims)}, "
                    "more processes or fewer dimensions."
                )
            if (2 * self.radius + 1) ** len(self.dims) > _MOST_NEIGHBOURS:
                raise UsageError(
                    f"a radius of {self.radius} in {len(self.dims)} dimensions gives more than {_MOST_NEIGHBOURS} "
                    "neighbours; choose a smaller one."
                )

    @property
    def p(self) -> int:
        """Number of processes."""
        return prod(self.dims)

    @cached_property
    def offsets(self) -> tuple[Offset, ...]:
        """Relative coordinates of the destinations, before each process permutes them; none for ``full``."""
        n = len(self.dims)
        if self.kind == "full":
            return ()
        if self.kind == "cart":
            return tuple(tuple(step * (i == d) for i in range(n)) for d in range(n) for step in (-1, 1))
        cube = product(range(-self.radius, self.radius + 1), repeat=n)
        found = [c for c in cube if any(c) and (self.kind == "moore" or sum(abs(x) for x in c) <= self.radius)]
        return tuple(sorted(found, key=lambda c: c[::-1]) if self.order == "lmaj" else found)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return where a process stands in the grid. Raises UsageError if there is no such process."""
        if not 0 <= rank < self.p:
            raise UsageError(f"there is no process {rank}; the grid has 0 to {self.p - 1}.")
        found = []
        for d in reversed(self.dims):
            rank, x = divmod(rank, d)
            found.append(x)
        return tuple(reversed(found))

    def destinations(self, rank: int) -> tuple[int, ...]:
        """Return whom a process sends to, in order; a neighbour that is met twice stands there twice."""
        return self._lists(rank)[0]

    def sources(self, rank: int) -> tuple[int, ...]:
        """Return whom a process receives from, in order: each lies opposite of the destination of the same place."""
        return self._lists(rank)[1]

    def _lists(self, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        here = self.coordinates(rank)
        random = Generator(self.seed, rank)
        if self.kind == "full":
            down = [(rank - i) % self.p for i in range(self.p)]
            up = [(rank + i) % self.p for i in range(self.p)]
            if self.order == "rand":
                return tuple(random.shuffled(down)), tuple(random.shuffled(up))
            return tuple(down), tuple(up)
        if self.kind == "cart":
            both = tuple(self._rank(here, c, 1) for c in self.offsets)
            return both, both
        offsets: Sequence[Offset] = self.offsets
        if self.order == "rand":
            offsets = random.shuffled(offsets)
        lists = ([self._rank(here, c, sign) for c in offsets] for sign in (1, -1))
        destinations, sources = (tuple(r for r in ranks if r != NO_PROCESS) for ranks in lists)
        return destinations, sources

    def _rank(self, here: tuple[int, ...], offset: Offset, sign: int) -> int:
        rank = 0
        for x, step, d, is_ring in zip(here, offset, self.dims, self.periodic, strict=True):
            place = x + sign * step
            if not is_ring and not 0 <= place < d:
                return NO_PROCESS
            rank = rank * d + place % d
        return rank
