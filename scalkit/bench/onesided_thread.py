"""Is a progress thread worth it? Compares a recorded run without one and the same run with one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scalkit.errors import DataError

if TYPE_CHECKING:
    import xarray as xr

_LIBRARIES = ("MPI_", "ARMCI_", "armci_", "sk1s_")


@dataclass(frozen=True)
class ProgressThread:
    """What a progress thread saves and costs; times are those of all locations together, in s.

    `computing_s`, `computing_with_s`: time outside of calls of the library, without the thread and with it.
    `calling_s`, `calling_with_s`: time in these calls.
    `waiting_s`: part of `calling_s` that was waiting for progress: the most that a thread can save.
    """

    computing_s: float
    computing_with_s: float
    calling_s: float
    calling_with_s: float
    waiting_s: float

    @property
    def saved_s(self) -> float:
        """Time in calls that the thread saved; negative if they took longer."""
        return self.calling_s - self.calling_with_s

    @property
    def lost_s(self) -> float:
        """By how much computing took longer, because the thread used the cores too."""
        return self.computing_with_s - self.computing_s

    @property
    def gain_s(self) -> float:
        """Saved less lost: positive if the run with the thread was faster."""
        return self.saved_s - self.lost_s

    @property
    def waiting_share(self) -> float:
        """Part of the time without the thread that was waiting for progress."""
        return self.waiting_s / (self.computing_s + self.calling_s)

    @property
    def pays_above(self) -> float:
        """Share of waiting above which a thread that saves all of it would pay for the computing that it costs; 0 or more."""
        return max(self.lost_s, 0.0) / (self.computing_s + self.calling_s)

    @property
    def could_pay(self) -> bool:
        """Whether the waiting is more than the thread costs."""
        return self.waiting_share > self.pays_above


def weigh_progress_thread(without: xr.Dataset, with_thread: xr.Dataset) -> ProgressThread:
    """Return what a progress thread saved and cost.

    `without`, `with_thread`: analyses of two runs of the same program on as many locations, as `scalkit.trace.analyse`
    returns them; the second was recorded with a progress thread (``MPIR_CVAR_ASYNC_PROGRESS=1``).
    Raises DataError if the numbers of locations differ, the first run had such a thread, the second one had none, or one
    lasted no time.
    """
    here, there = int(without.sizes["location"]), int(with_thread.sizes["location"])
    if here != there:
        raise DataError(f"the runs have {here} and {there} locations; compare runs of the same size.")
    if "wait_for_progress" not in without["metric"].values:
        raise DataError(
            "the first run had a progress thread, so nobody waited in it; record one without MPIR_CVAR_ASYNC_PROGRESS."
        )
    if "wait_for_progress" in with_thread["metric"].values:
        raise DataError("the second run had no progress thread; record one with MPIR_CVAR_ASYNC_PROGRESS=1.")
    names = [name for name in ("wait_for_progress", "wait_for_grant") if name in without["metric"].values]
    waiting = int(without["severity"].sel(metric=names).sum())
    first, second = _times(without), _times(with_thread)
    for which, times in (("first", first), ("second", second)):
        if sum(times) <= 0:
            raise DataError(f"no time was recorded of the {which} run; record it again.")
    return ProgressThread(first[0], second[0], first[1], second[1], 1e-9 * waiting)


def _times(ds: xr.Dataset) -> tuple[float, float]:
    """Return the time outside and inside of calls of the library, of all locations, in s."""
    by_path = ds["severity"].sel(metric="time").sum("location").values
    of_the_user = json.loads(ds.attrs.get("functions", "[]"))
    names = [str(name) for name in ds["region"].values]
    calls = np.array([name.startswith(_LIBRARIES) or name in of_the_user for name in names], dtype=bool)
    return 1e-9 * int(by_path[~calls].sum()), 1e-9 * int(by_path[calls].sum())
