"""Neighbourhoods: Cartesian, Moore, von Neumann and full neighbourhoods on a grid of processes, in every order.

The C program that measures has lists of its own; this is what they are checked against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal, get_args

from scalkit.errors import UsageError
from scalkit.guidelines.neighbours.random_order import Generator

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
