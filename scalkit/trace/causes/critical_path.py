"""The critical path: from the end of the run back to its begin, always with the location that others waited for."""

from bisect import bisect_left

import numpy as np

from scalkit.arrays import Ints
from scalkit.trace.causes.edges import Edges, slices


def critical_path(edges: Edges, ends: Ints, begin: int) -> tuple[Ints, Ints, Ints]:
    """Return location, begin and end of each piece of the critical path, the last one first; they fill the whole run.

    It ends with the location that ends last. From the end of a wait it goes on with the location that was waited for; of
    what happens at the same instant nothing is the cause of the other.

    `ends` of shape (n_locations,), in ns: last record of each location. `begin`: of the run, in ns.
    """
    order, starts = slices(edges, len(ends))
    until, cause = edges.until[order].tolist(), edges.cause[order].tolist()
    bounds = starts.tolist()
    location, time = int(ends.argmax()), int(ends.max())
    pieces = []
    limit = time + 1
    while True:
        place = bisect_left(until, limit, bounds[location], bounds[location + 1]) - 1
        if place < bounds[location]:
            break
        pieces.append((location, until[place], time))
        location, time = cause[place], until[place]
        limit = time
    pieces.append((location, begin, time))
    whose, low, high = np.array(pieces, dtype=np.int64).T
    return whose, low, high
