"""A small campaign on this machine, or the bundled one where there is no MPI library; it says which it is."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import xarray as xr

from scalkit.bench import Arguments, Mpi, find_mpi, prepare
from scalkit.bench.virtual.mpi import CLOCKS, proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import BuildError, DataError, LaunchError, UsageError
from scalkit.formats.read import read
from scalkit.measure import Series, series
from scalkit.support.bundled import bundled

_OPERATIONS = ("MPI_Allreduce", "MPI_Comm_dup", "MPI_Win_create")
_BUNDLED = ("data/libraries-times/mpich-5.0.2", "data/libraries/mpich-5.0.2")
"""Run times of a real clock, whose noise is the lesson, and memory."""


@dataclass(frozen=True, eq=False)
class MeasuredHere:
    """Measurements of a lesson and where they come from.

    `folder`: of the run files, or of the times where the bundled ones are used.
    `is_bundled`: whether nothing could be measured here.
    `sentence`: what was measured with what, or why nothing was.
    """

    data: xr.Dataset
    folder: Path
    is_bundled: bool
    sentence: str

    def series(self, function: str) -> Series:
        """Return the values of a function, one for each setting; of several metrics the first one.

        Raises DataError if it was not measured.
        """
        found = {one.function: one for one in reversed(series(self.data))}
        if function not in found:
            raise DataError(f"the function {function!r:.60} was not measured; measured are {', '.join(reversed(found))}.")
        return found[function]

    def __repr__(self) -> str:
        return f"<MeasuredHere: {self.sentence}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>"


def measure_here(
    out: str | os.PathLike[str],
    processes: Sequence[int] = (2, 3, 4, 5, 6),
    operations: Sequence[str] = _OPERATIONS,
    *,
    runs: int = 2,
    budget_s: float = 5.0,
    seed: int = 1,
    clock: str = "virtual",
) -> MeasuredHere:
    """Return a few run times and memory sizes of the MPI library of this machine, or the bundled ones without such a library.

    `out`: folder of the run files. What is there of the same campaign is not measured again; another campaign there is
    renamed.
    `processes`: at least 2 each, ascending.
    `operations`: names that `scalkit measure` knows.
    `runs`: launches of each.
    `budget_s`: for all of it, about; the programs are compiled before, at the first time.
    `clock`: what run times are read from, ``"virtual"`` or ``"real"``; the real one takes the place of a virtual one that
    the library cannot have here.
    Returns: its sentence names the clock.
    Raises UsageError if something asked for cannot be measured, or the folder cannot be used.
    """
    arguments = Arguments(
        ("collectives", "memory"), tuple(processes), runs, seed, tuple(operations), budget_s=budget_s, max_reps=100
    )
    folder = Path(out)
    try:
        mpi, why = _library(clock)
        done = prepare(folder, arguments, mpi, set_aside=True).run()
    except (BuildError, LaunchError) as error:
        return _bundled(str(error))
    if done.missing:
        return _bundled(done.failures[0] if done.failures else f"{len(done.missing)} of {done.total} launches are missing")
    numbers = ", ".join(map(str, arguments.counts))
    said = f"Measured here, just now or before: {mpi.name} with {numbers} processes, {done.total} launches in {folder}."
    return MeasuredHere(read(folder), folder, False, f"{said} {why}" if why else said)


def _library(clock: str) -> tuple[Mpi, str]:
    """Return the library that is found, by this clock if it can; and why it cannot, as a sentence."""
    if clock not in CLOCKS:
        raise UsageError(f"the clock {clock!r:.40} is unknown; choose {' or '.join(CLOCKS)}.")
    mpi = find_mpi()
    if clock == "real":
        return mpi, ""
    try:
        return proved(virtual(mpi, read_network("cluster"))), ""
    except (BuildError, LaunchError, UsageError) as error:
        return mpi, f"Run times are real, for {error}"


def _bundled(reason: str) -> MeasuredHere:
    folders = [bundled(one) for one in _BUNDLED]
    said = f"Nothing could be measured here ({reason.rstrip('.')}); these are the bundled measurements of another machine."
    return MeasuredHere(read(folders), folders[0], True, said)
