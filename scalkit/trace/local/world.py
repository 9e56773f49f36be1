"""The processes of the MPI program that this one belongs to, and how they end together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scalkit.errors import ScalkitError
from scalkit.mpi_world import mpi_world
from scalkit.trace.local.ranks import OverMpi

if TYPE_CHECKING:
    from mpi4py import MPI

_PATIENCE_S = 5.0


@contextmanager
def over_world(n_ranks: int | None) -> Iterator[OverMpi]:
    """Yield the ranks of the program; if one fails alone, all are ended.

    `n_ranks`: how many the launcher says that it started; None if it says nothing.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    comm = mpi_world(n_ranks)
    try:
        yield OverMpi(comm)
    except BaseException as error:
        if not (isinstance(error, ScalkitError) and _all_come(comm)):
            time.sleep(0.0 if comm.Get_rank() == 0 else 1.0)
            _say_and_abort(comm, error)
        raise


def _all_come(comm: MPI.Intracomm) -> bool:
    """Return whether all ranks meet here soon: then all of them failed, and each can end as usual."""
    meeting = comm.Ibarrier()
    limit = time.monotonic() + _PATIENCE_S
    while not meeting.Test():
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True


def _say_and_abort(comm: MPI.Intracomm, error: BaseException) -> None:
    import sys
    import traceback

    stream = sys.__stderr__
    if stream is not None:
        where = "" if isinstance(error, ScalkitError) else "".join(traceback.format_exception(error))
        stream.write(f"{where}scalkit trace: rank {comm.Get_rank()} failed: {error}\n")
        stream.flush()
    comm.Abort(2)
