"""Congestion of topologies: how many messages share the busiest link, counted exactly, and the bound of the paper.

A factor of C means that the busiest link carries C messages: of an all-to-all, in which every process sends one message to every
other one (`alltoall`), routed along shortest paths and evenly spread over them; or where everyone on the smaller side of the
narrowest cut sends one message across (`cut`), however they are routed.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar, Protocol

from scalkit.errors import UsageError
from scalkit.perfmodels.models.exact import ExactModel


class Topology(Protocol):
    """What congestion needs to know of a network."""

    @property
    def processes(self) -> int:
        """Number of nodes, one process each."""

    @property
    def injecting_links(self) -> int:
        """Links from each node into the network."""

    @property
    def alltoall(self) -> Fraction:
        """Messages on the busiest link of the network when everyone sends one to everyone else."""

    @property
    def cut(self) -> Fraction:
        """Messages on a link of the narrowest cut when everyone on its smaller side sends one across."""


def _positive(numbers: tuple[int, ...], what: str) -> None:
    if not numbers or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in numbers):
        raise UsageError(f"{what} are {numbers!r:.60}; they must be positive whole numbers.")


@dataclass(frozen=True)
class Torus:
    """A torus, for example ``Torus((8, 8, 8))``; every node has two links in each dimension.

    Attributes
    ----------
    dims : tuple of int
        Nodes in each dimension; where there are two, they share two links.
    """

    dims: tuple[int, ...]

    def __post_init__(self) -> None:
        _positive(self.dims, "the dimensions of a torus")

    @classmethod
    def cube(cls, processes: int) -> "Torus":
        """Return the cubic torus of three dimensions. Raises UsageError if the number of processes is no cube."""
        k = max(1, round(max(0, processes) ** (1 / 3)))
        if k**3 != processes:
            low = k if k**3 < processes else max(1, k - 1)
            raise UsageError(
                f"a cubic torus has k^3 nodes, not {processes}; the nearest cubes are {low**3} and {(low + 1) ** 3}."
            )
        return cls((k, k, k))

    @property
    def processes(self) -> int:
        """Number of nodes."""
        return prod(self.dims)

    @property
    def injecting_links(self) -> int:
        """Two in each dimension longer than one."""
        return max(1, 2 * sum(k > 1 for k in self.dims))

    @property
    def alltoall(self) -> Fraction:
        """Messages on the busiest link, exactly: for a cube k^4/8 if k is even, k^2 (k^2 - 1)/8 if it is odd."""
        return max(Fraction(self.processes, k) * _ring_distances(k) / 2 for k in self.dims)

    @property
    def cut(self) -> Fraction:
        """Messages on a link of the narrowest cut when everyone on its smaller side sends one across: k/4 for even k."""
        return max(Fraction(k // 2, 2) for k in self.dims)

    @property
    def streams(self) -> int:
        """Streams on each link when every node of a torus sends one over each of its links to the farthest node.

        For a cube ``3 floor(k/2)``: the ``3/2 cbrt(P)`` of equation 2 for even k, and less for odd k.
        """
        return sum(k // 2 for k in self.dims)

    @property
    def paper_bound(self) -> Fraction:
        """The paper's congestion of an all-to-all, an upper bound of `alltoall`: ``k (k/2 + 1)^3`` for a cube.

        Raises UsageError if the torus is no cube of three dimensions.
        """
        self._require_cube()
        k = self.dims[0]
        return k * (Fraction(k, 2) + 1) ** 3

    @property
    def paper_bound_odd(self) -> Fraction:
        """The paper's step before it, ``2 d (d + 1)^3`` with ``d = (k - 1)/2``, meant for odd k."""
        self._require_cube()
        d = Fraction(self.dims[0] - 1, 2)
        return 2 * d * (d + 1) ** 3

    def _require_cube(self) -> None:
        if len(self.dims) != 3 or len(set(self.dims)) > 1:
            raise UsageError(f"the paper's bound is for cubes of three dimensions, not {'x'.join(map(str, self.dims))}.")


def _ring_distances(k: int) -> Fraction:
    """Return the sum of the distances from a node of a ring of k to all others."""
    return Fraction(k * k - k % 2, 4)


@dataclass(frozen=True)
class FatTree:
    """An extended generalised fat tree, written as SimGrid does: ``FatTree((16, 64), (1, 8), (1, 1))`` has 1024 nodes.

    Attributes
    ----------
    down : tuple of int
        Children of a switch on each level, the lowest first.
    up : tuple of int
        Parents of a node or switch on the level below.
    parallel : tuple of int
        Parallel links between two levels.

    References
    ----------
    Öhring et al. 1995 (docs/references.md).
    """

    down: tuple[int, ...]
    up: tuple[int, ...]
    parallel: tuple[int, ...]

    def __post_init__(self) -> None:
        for numbers, what in ((self.down, "children"), (self.up, "parents"), (self.parallel, "parallel links")):
            _positive(numbers, f"the {what} of a fat tree")
            if len(numbers) != len(self.down):
                raise UsageError(f"a fat tree of {len(self.down)} levels needs as many {what}, got {len(numbers)}.")

    @property
    def processes(self) -> int:
        """Number of leaves."""
        return prod(self.down)

    @property
    def injecting_links(self) -> int:
        """Links of a leaf."""
        return self.up[0] * self.parallel[0]

    def _above(self) -> list[tuple[int, int]]:
        """Return for each level the leaves of a subtree below it, and the links that lead up out of that subtree."""
        levels = range(len(self.down))
        return [(prod(self.down[:i]), prod(self.up[: i + 1]) * self.parallel[i]) for i in levels]

    @property
    def alltoall(self) -> Fraction:
        """Messages on the busiest link: all that leave a subtree, over the links that lead out of it."""
        return max(Fraction(leaves * (self.processes - leaves), links) for leaves, links in self._above())

    @property
    def cut(self) -> Fraction:
        """Messages on a link of the narrowest cut when everyone on its smaller side sends one across: the oversubscription."""
        total = self.processes
        return max(Fraction(min(leaves, total - leaves), links) for leaves, links in self._above())


@dataclass(frozen=True)
class Dragonfly:
    """Groups of routers, all connected to each other, with links between all groups; routing is minimal.

    Attributes
    ----------
    groups, routers, nodes : int
        Number of groups, of routers in a group, of nodes at a router.
    global_links : int
        From each router to other groups; spread evenly over the groups.

    Raises
    ------
    UsageError
        If the links of a group cannot be spread evenly over the other groups.

    References
    ----------
    Kim et al. 2008 (docs/references.md).
    """

    groups: int
    routers: int
    nodes: int
    global_links: int

    def __post_init__(self) -> None:
        _positive((self.groups, self.routers, self.nodes, self.global_links), "groups, routers, nodes and links of a dragonfly")
        links = self.routers * self.global_links
        if self.groups > 1 and links % (self.groups - 1):
            raise UsageError(
                f"{links} links of a group cannot be spread evenly over {self.groups - 1} other groups; choose a multiple."
            )

    @property
    def processes(self) -> int:
        """Number of nodes."""
        return self.groups * self.routers * self.nodes

    injecting_links: ClassVar[int] = 1
    """One from each node to its router."""

    @property
    def _between(self) -> Fraction:
        """Links between two groups."""
        return Fraction(self.routers * self.global_links, max(1, self.groups - 1))

    @property
    def alltoall(self) -> Fraction:
        """Messages on the busiest link: between two groups, or between two routers of a group.

        A link between routers carries the messages between their own nodes, those that leave through the second router, and
        those that came in through the first: ``nodes^2 (2 groups - 1)``, if the links to other groups are spread evenly over
        the routers.
        """
        size = self.routers * self.nodes
        outside = Fraction(size * size) / self._between if self.groups > 1 else Fraction(0)
        local = Fraction(self.nodes**2 * (2 * self.groups - 1)) if self.routers > 1 else Fraction(0)
        return max(outside, local)

    @property
    def cut(self) -> Fraction:
        """Messages on a link of the narrowest cut, half of the groups, when everyone on its smaller side sends one across."""
        if self.groups == 1:
            return Fraction(self.nodes)
        half = self.groups // 2
        return Fraction(self.routers * self.nodes, self.groups - half) / self._between


def alltoall_on(topology: Topology, gap: object, per_byte: object) -> ExactModel:
    """Return the time of an all-to-all of S bytes for each destination that is bound by links or injection, with P fixed.

    Parameters
    ----------
    topology : Torus, FatTree or Dragonfly
    gap : quantity
        g of LogGP, for example ``"0.84 us"``.
    per_byte : quantity
        G of LogGP of one link, for example ``"2.67 ns/B"``.

    References
    ----------
    Hoefler et al. 2010, section 4 (docs/references.md): ``g (P - 1) + S G max((P - 1)/links, C)``.
    """
    others = topology.processes - 1
    share = max(Fraction(others, topology.injecting_links), topology.alltoall)
    return ExactModel(
        f"g*{others} + G*S*{share}",
        {"g": gap, "G": per_byte},
        name=f"all-to-all on {type(topology).__name__} of {topology.processes}",
        source="Hoefler et al. 2010, section 4",
    )
