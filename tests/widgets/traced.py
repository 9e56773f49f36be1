"""The result of an analysis that is small enough to be added up by hand, with a name that would run where it is not escaped."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from scalkit.trace import TraceBuilder, analyse

HOSTILE = "<img src=x onerror=alert(1)>"


def traced(folder: Path, locations: int = 4) -> xr.Dataset:
    """Return the waits of a trace: location 0 gets from 1, which comes late, 1 from 2, and so on; the last gets nothing.

    Location k waits ``10 * (k + 2)`` ns for progress of k + 1, which is in a region with a hostile name meanwhile. In
    a barrier it waits ``100 * (locations - 1 - k)`` ns for the last location.
    """
    trace = TraceBuilder(locations, simulated=True)
    begin = 1000
    for k in range(locations):
        trace.enter(k, HOSTILE, 100)
        after = begin + 10 * (k + 2)
        if k + 1 < locations:
            get = trace.call(k, "ARMCI_Get", begin, after + 5)
            trace.transfer(k, "get", get, k + 1, size=64 * (k + 1), blocking=True)
        else:
            trace.call(k, "ARMCI_Put", begin, after)
        trace.leave(k, HOSTILE, after + 10)
        begin = after
    last = begin + 100 * locations
    for k in range(locations):
        trace.call(k, "MPI_Barrier", last + 100 * k, last + 100 * locations, scope=0)
    return analyse(trace.write(folder))
