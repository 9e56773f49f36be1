"""A location and a time as one number, so that one search serves all locations of a process."""

from dataclasses import dataclass

import numpy as np

from scalkit.arrays import Ints
from scalkit.errors import DataError
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks

_NEVER = -(1 << 62)


@dataclass(frozen=True)
class Frame:
    """The first location of a process, the earliest time of the trace, and the bits that a time needs."""

    first: int
    begin: int
    bits: int

    def key(self, location: Ints | int, time: Ints) -> Ints:
        """Return the number of each location and time; numbers are ordered by location, then by time."""
        return np.asarray((np.asarray(location, dtype=np.int64) - self.first << self.bits) + (time - self.begin))

    def time(self, key: Ints) -> Ints:
        """Return the time of each number, in ns."""
        return np.asarray((key & ((1 << self.bits) - 1)) + self.begin)

    def location(self, key: Ints) -> Ints:
        """Return the location of each number."""
        return np.asarray((key >> self.bits) + self.first)


def find_frame(trace: LocalTrace, ranks: Ranks) -> Frame:
    """Return the frame of this process; all processes must call it.

    Raises DataError if the trace spans so long a time that its nanoseconds do not fit.
    """
    times = [trace.calls["enter"], trace.calls["leave"], trace.marks["time"]]
    low = max((-int(one.min()) for one in times if len(one)), default=_NEVER)
    high = max((int(one.max()) for one in times if len(one)), default=_NEVER)
    low, high = (int(one) for one in ranks.most(np.array([low, high], dtype=np.int64)))
    if low == _NEVER:
        return Frame(trace.first, 0, 1)
    bits = max(1, (high + low).bit_length())
    if bits + trace.count.bit_length() > 62:
        raise DataError(f"{trace.header.folder} spans {high + low} ns, which is too long; analyse it with more processes.")
    return Frame(trace.first, -low, bits)
