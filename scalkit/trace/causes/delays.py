"""Delay costs: which call paths of which locations are the reasons of all waiting, directly or through others that waited."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.trace.causes.edges import Edges, slices
from scalkit.trace.local.arrays import pack, summed

Rows = tuple[Ints, Ints, Ints]
"""Number of the wait, call path, ns."""


def excess(more: Rows, less: Rows, n_paths: int) -> Rows:
    """Return by how much `more` exceeds `less`, path by path, where it does."""
    key = np.concatenate([more[0] * n_paths + more[1], less[0] * n_paths + less[1]])
    key, time = summed(key, np.concatenate([more[2], -less[2]]))
    kept = time > 0
    return (*np.divmod(key[kept], n_paths), time[kept])


@dataclass(frozen=True)
class Behind:
    """The waits of the cause of each wait since both met, as places among all waits in order of location and time.

    `position` of shape (n_edges,): place of each wait.
    `begin`, `low`, `high` of shape (n_edges,): where the waits of the cause begin, and those among them from `low` to ``high -
    1`` that count. `time` of shape (n_edges,), in ns: how long these are together.
    """

    position: Ints
    begin: Ints
    low: Ints
    high: Ints
    time: Ints


def behind(edges: Edges, locations: int) -> Behind:
    """Return the waits that may have led to each wait."""
    order, starts = slices(edges, locations)
    known, since, until = pack(
        [edges.waiter[order], edges.until[order]], [edges.cause, edges.since + 1], [edges.cause, edges.until]
    )
    low, high = np.searchsorted(known, since), np.searchsorted(known, until)
    high = np.maximum(low, high)
    reach = np.append(0, np.cumsum((edges.until - edges.begin)[order]))
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return Behind(position, starts[edges.cause], low, high, reach[high] - reach[low])


def rates(edges: Edges, delays: Ints, before: Behind, locations: int) -> NDArray[np.float64]:
    """Return for each wait what of its cost falls on a ns of what led to it.

    A wait costs its own length, and its part of the costs of the later waits that its location caused. Its cost falls on the
    delays of its cause, and on the waits of its cause since both met, in proportion to their lengths.

    `delays` of shape (n_edges,), in ns: of the cause of each wait.
    """
    steps, running, found = [0.0] * len(edges), [0.0] * locations, [0.0] * len(edges)
    columns = (edges.waiter, before.position, edges.until - edges.begin, delays + before.time)
    places = (before.low, before.high, before.begin)
    rows = zip(range(len(edges) - 1, -1, -1), *(one[::-1].tolist() for one in (*columns, *places)), strict=True)
    for k, who, at, wait, whole, low, high, begin in rows:
        running[who] += steps[at]
        found[k] = rate = wait * (1.0 + running[who]) / whole
        if high > low:  # from the last wait of the cause that counts, back to the first
            steps[high - 1] += rate
            if low > begin:
                steps[low - 1] -= rate
    return np.array(found)
