"""Traces and figures of the notebook on one-sided communication: a recorded run, an example by hand, simulated runs."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from onesided import TCP, ProgressThread, multiply, weigh_progress_thread
from scalkit.bench import find_mpi
from scalkit.errors import BuildError, LaunchError
from scalkit.plots.style import quantity
from scalkit.plots.traces.waiting import WaitingRun, waiting_over_processes
from scalkit.reports.pieces import Drawable
from scalkit.support.bundled import bundled
from scalkit.support.markup import paragraph
from scalkit.support.text import as_percent
from scalkit.trace import TraceBuilder, analyse
from scalkit.trace.results.over_processes import breakdown
from scalkit.trace.views.timeline import Timeline
from scalkit.widgets.timeline import TimelineView

_RUN = {"n": 256, "repeat": 10, "delay_us": 5000, "delay_every": 2, "delay_rank": 1, "check": 0}
_COUNTS = (4, 9, 16, 25, 36)


@dataclass(frozen=True)
class Recorded:
    """Traces of a run without and with a progress thread.

    `trace`, `with_thread`: folders.
    `is_from_here`: whether they were recorded on this machine just now.
    """

    trace: Path
    with_thread: Path
    is_from_here: bool
    _kept: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        where = "here, just now" if self.is_from_here else "on the machine that data/README.md describes"
        return f"Ten multiplications by two processes over TCP, recorded {where}: {self.trace.name} and {self.with_thread.name}."

    def _repr_html_(self) -> str:
        return paragraph(str(self))


def recorded(here: bool = True) -> Recorded:
    """Return two recorded runs: made here where there is an MPI library, else those that come with scalkit."""
    if here:
        kept = tempfile.TemporaryDirectory(prefix="scalkit-one-sided-")
        plain, thread = Path(kept.name) / "tcp", Path(kept.name) / "tcp-thread"
        try:
            mpi = find_mpi()
            multiply(mpi, 2, "rma", trace=plain, environment=TCP, **_RUN)
            more = {**TCP, "MPIR_CVAR_ASYNC_PROGRESS": "1"}
            multiply(mpi, 2, "rma", trace=thread, environment=more, **_RUN)
        except (BuildError, LaunchError):
            kept.cleanup()
        else:
            return Recorded(plain, thread, True, kept)
    return Recorded(bundled("data/one-sided/tcp"), bundled("data/one-sided/tcp-thread"), False)


def by_hand() -> TimelineView:
    """Return the timeline of two processes: one gets for 40 ns, and waits 20 of them until the other one calls the library."""
    trace = TraceBuilder(2, simulated=True)
    get = trace.call(0, "ARMCI_Get", 10, 50)
    trace.transfer(0, "get", get, 1, blocking=True)
    trace.call(1, "ARMCI_Put", 0, 5)
    trace.call(1, "ARMCI_Put", 30, 60)
    with tempfile.TemporaryDirectory() as folder:
        return TimelineView(Timeline(trace.write(Path(folder))))


def longest_wait(trace: Path) -> tuple[str, TimelineView]:
    """Return the longest wait for progress of a trace in words, and the timeline around it; all of it where nobody waits."""
    timeline = Timeline(trace)
    view, found = TimelineView(timeline), timeline.longest_wait("wait_for_progress")
    if found is None:
        return "Nobody waits for progress in this run; this is all of it.", view
    wait, begin = (quantity(1e-9 * one, "s") for one in (found.wait, found.begin))
    said = f"Process {found.location} waits longest: {wait} in {found.region}, which begins at {begin}."
    return said, view.zoom(max(1e-9 * (found.begin - found.length), 0), 1e-9 * (found.begin + 2 * found.length))


def simulated() -> list[xr.Dataset]:
    """Return the waits of the simulated multiplications that come with scalkit, on 4 to 36 processes."""
    return [analyse(bundled(f"data/one-sided/simulated/p{processes:04d}")) for processes in _COUNTS]


def over_processes_figure(results: list[xr.Dataset], region: str = "") -> Drawable:
    """Return time in one-sided calls and waiting for progress over the processes, within a region."""
    runs = [WaitingRun(int(ds.sizes["location"]), breakdown(ds, region), simulated=bool(ds.attrs["simulated"])) for ds in results]
    figure: Drawable = waiting_over_processes(runs)
    return figure


class Thread:
    """Savings and costs of a progress thread, in words."""

    def __init__(self, found: ProgressThread) -> None:
        self.found = found

    def __str__(self) -> str:
        found = self.found
        waits, calls, lost = (quantity(value, "s") for value in (found.waiting_s, found.calling_s, found.lost_s))
        first = f"Of {calls} in calls {waits} is waiting for progress, {as_percent(found.waiting_share, '.1f')} of the time."
        if found.lost_s <= 0:
            return f"{first} With the thread computing took no longer, so it costs nothing that these runs show."
        word = "could pay" if found.could_pay else "does not pay"
        return (
            f"{first} With the thread computing took {lost} longer, so it pays only where more than "
            f"{as_percent(found.pays_above, '.1f')} of the time is waiting: here it {word}."
        )

    def _repr_html_(self) -> str:
        return paragraph(str(self))


def thread(run: Recorded) -> Thread:
    """Return whether a progress thread was worth it."""
    return Thread(weigh_progress_thread(analyse(run.trace), analyse(run.with_thread)))
