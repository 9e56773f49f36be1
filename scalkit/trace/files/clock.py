"""Times of a location on the clock that all share, from offsets measured at the start and at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.trace.files.tables import Columns


def corrected(times: NDArray[np.integer[Any]], clock: Columns) -> NDArray[np.int64]:
    """Return the times with the offset added that a line through the first and the last measured offset gives.

    `times` in ns: on the clock of the location.
    `clock`: samples of `local` time, `offset` to the common clock and its `error`, all in ns. Without any, times stay as they
    are; with one, the offset is constant.
    Result in ns: a later time never becomes an earlier one, because a clock does not gain as much as it runs.
    """
    given = np.asarray(times, dtype=np.int64)
    local, offset = np.asarray(clock["local"], dtype=np.int64), np.asarray(clock["offset"], dtype=np.int64)
    if len(local) == 0:
        return given
    first, last = int(local.argmin()), int(local.argmax())
    change, length = int(offset[last] - offset[first]), int(local[last] - local[first])
    if change == 0 or length == 0:
        return np.asarray(given + offset[first])
    return np.asarray(given + offset[first] + np.rint((given - local[first]) * (change / length)).astype(np.int64))
