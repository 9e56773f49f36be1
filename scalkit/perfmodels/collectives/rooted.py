"""Rooted operations on machines of nodes: their time over the position of the root and over placements of the processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, get_args

import numpy as np

from scalkit.arrays import Floats, Ints
from scalkit.errors import UsageError
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.formulas.quantities import format_value, values_in
from scalkit.perfmodels.models.point_to_point import PointToPoint

Order = Literal["block", "cyclic"]
ORDERS: tuple[Order, ...] = get_args(Order)
_TREES = ("binomial", "linear", "chain")
_DOWN, _UP = ("broadcast", "scatter"), ("reduce", "gather")
_MOST = 4096
"""Limits the work: every root and every placement is evaluated over a tree of P processes."""


@dataclass(frozen=True)
class Placement:
    """Which processes share a node.

    Attributes
    ----------
    per_node : int
    order : {"block", "cyclic"}
        One node filled after the other, or one process on each node in turn.
    """

    per_node: int
    order: Order = "block"

    def __post_init__(self) -> None:
        if self.per_node < 1 or self.order not in ORDERS:
            raise UsageError(
                f"a placement of {self.per_node} processes a node, order {self.order!r:.40}: give a positive number, and "
                f"{' or '.join(ORDERS)}."
            )

    def nodes(self, P: int) -> Ints:
        """Return the node of each process."""
        ranks = np.arange(P)
        return ranks // self.per_node if self.order == "block" else ranks % -(-P // self.per_node)

    def __str__(self) -> str:
        return f"{self.per_node} a node, {self.order}"


@dataclass(frozen=True, repr=False)
class RootedTimes:
    """Time of a rooted operation for each root and placement.

    Attributes
    ----------
    operation, algorithm : str
    P : int
    S : float, in B
    roots : tuple of int
    placements : tuple of Placement
    times : ndarray of shape (placements, roots), in s
    """

    operation: str
    algorithm: str
    P: int
    S: float
    roots: tuple[int, ...]
    placements: tuple[Placement, ...]
    times: Floats

    @property
    def spread(self) -> float:
        """The slowest over the fastest."""
        return float(self.times.max() / self.times.min())

    def __repr__(self) -> str:
        return (
            f"RootedTimes({self.operation}, {self.algorithm}, P = {self.P}, S = {format_value(self.S, 'B')}: "
            f"{format_value(float(self.times.min()), 's')} to {format_value(float(self.times.max()), 's')})"
        )

    def _repr_html_(self) -> str:
        rows = []
        for placement, row in zip(self.placements, self.times, strict=True):
            low, high = int(np.argmin(row)), int(np.argmax(row))
            ends = [f"{escape(format_value(float(row[k]), 's'))} (root {self.roots[k]})" for k in (low, high)]
            rows.append((escape(str(placement)), *ends, f"{row[high] / row[low]:.3g}"))
        said = f"{self.operation}, {self.algorithm}, {self.P} processes, {format_value(self.S, 'B')}; model, not measured."
        return block(table(("placement", "fastest root", "slowest root", "slowest/fastest"), rows), paragraph(said))


def over_roots(
    operation: str,
    algorithm: str,
    near: PointToPoint,
    far: PointToPoint,
    *,
    P: int,
    S: object,
    placements: Sequence[Placement],
    roots: Sequence[int] | None = None,
) -> RootedTimes:
    """Return the time of a rooted operation for each root and each placement, its tree played message by message.

    Parameters
    ----------
    operation : {"broadcast", "scatter", "gather", "reduce"}
    algorithm : {"binomial", "linear", "chain"}
        Ranks count from the root on, as all libraries do it; a chain is one of broadcast and reduce.
    near, far : PointToPoint
        Of messages within a node, and between nodes.
    P : int
        Processes.
    S : quantity, in B
        As in `scalkit.perfmodels.collectives.model`.
    placements : sequence of Placement
    roots : sequence of int, optional
        All by default.

    Raises
    ------
    UsageError
        If an argument makes no sense.

    Notes
    -----
    A process sends to its children one gap apart, to the child with the largest subtree first. Towards the root the same
    messages travel backwards in the opposite order, which takes as long. Reducing costs ``reduce_per_byte`` of `far` a message.
    """
    size = float(values_in(S, "S"))  # type: ignore[arg-type]
    asked = tuple(range(P if isinstance(P, int) else 0)) if roots is None else tuple(roots)
    if (
        operation not in (*_DOWN, *_UP)
        or algorithm not in _TREES
        or (algorithm == "chain" and operation in ("scatter", "gather"))
    ):
        raise UsageError(
            f"{operation!r:.40} by {algorithm!r:.40} is no tree from one root; choose one of {', '.join((*_DOWN, *_UP))} by "
            f"{', '.join(_TREES)} (chain of broadcast and reduce)."
        )
    if not isinstance(P, int) or not 1 <= P <= _MOST or not placements:
        raise UsageError(f"P is {P!r:.20} with {len(placements)} placements; give 1 to {_MOST} processes and a placement.")
    if wrong := [root for root in asked if not 0 <= root < P]:
        raise UsageError(f"root {wrong[0]} is none of the {P} processes; choose from 0 to {P - 1}.")
    edges = _edges(algorithm, P, size, in_blocks=operation in ("scatter", "gather"))
    sizes = sorted({one[2] for one in edges})
    gamma = far.gamma_s if operation == "reduce" else 0.0
    costs = {
        s: tuple((float(m.time(S=s)) + gamma * s, float((m.gap or m.time)(S=s)) + gamma * s) for m in (near, far)) for s in sizes
    }
    times = np.array([[_played(edges, costs, one.nodes(P), P, root) for root in asked] for one in placements])
    return RootedTimes(operation, algorithm, P, size, asked, tuple(placements), times)


def _edges(algorithm: str, P: int, S: float, *, in_blocks: bool) -> list[tuple[int, int, float]]:
    """Return parent, child and bytes, counted from the root, in the order in which they are sent."""
    if algorithm == "linear":
        return [(0, child, S) for child in range(1, P)]
    if algorithm == "chain":
        return [(child - 1, child, S) for child in range(1, P)]
    found = []
    for parent in range(P):
        mask = 1
        while mask < P and not parent & mask:
            mask *= 2
        while mask > 1:
            mask //= 2
            if parent + mask < P:
                found.append((parent, parent + mask, S * min(mask, P - parent - mask) if in_blocks else S))
    return found


def _played(edges: Sequence[tuple[int, int, float]], costs: Any, nodes: np.ndarray[Any, Any], P: int, root: int) -> float:
    """Return when the last process has what it waits for; parents stand before their children in `edges`."""
    free, done = [0.0] * P, 0.0
    place = [int(nodes[(root + k) % P]) for k in range(P)]
    for parent, child, size in edges:
        time, gap = costs[size][place[parent] != place[child]]
        free[child] = free[parent] + time
        free[parent] += gap
        done = max(done, free[child])
    return done
