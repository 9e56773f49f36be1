"""Your measurements, or an example where you have none yet."""

import os

import xarray as xr

from scalkit.measure import read
from scalkit.teaching.simulated import simulate

_EXAMPLE = {"generate": "40 + 0.2*k^3*2^k", "count": "15 + 0.5*k*2^k", "join": "8 + 0.05*k^2*2^k", "report": "3 + 1.5*k"}


def read_or_example(source: str | os.PathLike[str], parameter: str = "k") -> xr.Dataset:
    """Return the measurements at `source`; where it is empty, a simulated search in `k` dimensions.

    `source`: what `scalkit.read` takes, or ``""``.
    `parameter`: name of the parameter in files that leave it open, such as those of Google Benchmark.
    Returns: the example has the functions ``generate``, ``count``, ``join`` and ``report``; most of them double with each
    dimension.
    """
    if os.fspath(source):
        return read(source, parameter=parameter)
    return simulate(_EXAMPLE, range(4, 17), parameter="k", unit="us", noise=0.03)
