"""Processes that analyse a trace together: one alone, or those of an MPI program.

What they do is bulk-synchronous: rows of whole numbers go to the process that has the location they ask about, in rounds whose
size is bounded for every pair of processes, so that one that all others ask does not fill its memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import ScalkitError, UsageError
from scalkit.support.arrays import Ints
from scalkit.support.mpi_world import mpi_world
from scalkit.support.text import brief

if TYPE_CHECKING:
    from mpi4py import MPI


class Ranks:
    """The processes that share an analysis: those of an MPI communicator, or this one alone."""

    def __init__(self, comm: MPI.Intracomm | None = None) -> None:
        if comm is not None and not hasattr(comm, "Get_rank"):
            raise UsageError(f"the communicator cannot be {brief(comm)}; give one of mpi4py, such as MPI.COMM_WORLD.")
        self.comm = comm
        self.rank = 0 if comm is None else comm.Get_rank()
        self.size = 1 if comm is None else comm.Get_size()

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all processes, on each of them."""
        return [value] if self.comm is None else list(self.comm.allgather(value))

    def most(self, values: Ints) -> Ints:
        """Return the largest over all processes, element by element, on each of them."""
        return self._reduced(values, "MAX")

    def total(self, values: Ints) -> Ints:
        """Return the sum over all processes, element by element, on each of them."""
        return self._reduced(values, "SUM")

    def _reduced(self, values: Ints, operation: str) -> Ints:
        if self.comm is None:
            return values
        from mpi4py import MPI

        reduced = np.empty_like(values)
        self.comm.Allreduce(np.ascontiguousarray(values), reduced, getattr(MPI, operation))
        return reduced

    def swap(self, rows: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """Send the first `counts[0]` rows to process 0 and so on; return what came, in order of its senders, and counts."""
        if self.comm is None:
            return rows, counts
        from mpi4py import MPI

        came = np.empty(self.size, dtype=np.int64)
        self.comm.Alltoall(np.ascontiguousarray(counts, dtype=np.int64), came)
        found = np.empty((int(came.sum()), rows.shape[1]), dtype=np.int64)
        kind = MPI.INT64_T.Create_contiguous(rows.shape[1]).Commit()
        starts, begins = np.cumsum(counts) - counts, np.cumsum(came) - came
        self.comm.Alltoallv(
            [np.ascontiguousarray(rows), (counts.tolist(), starts.tolist()), kind],
            [found, (came.tolist(), begins.tolist()), kind],
        )
        kind.Free()
        return found, came


class Round:
    """One round of an exchange. `sent`: places, among all rows of this process, of those that it sends in this round."""

    def __init__(self, ranks: Ranks, sent: NDArray[np.intp], counts: Ints) -> None:
        self._ranks, self._counts, self._came = ranks, counts, counts
        self.sent = sent

    def ask(self, *columns: NDArray[np.integer[Any]]) -> Ints:
        """Send `columns`, each over all rows of this process, and return the rows that came, of shape (n, n_columns)."""
        return self.send(*(column[self.sent] for column in columns))

    def send(self, *columns: NDArray[Any]) -> Ints:
        """Do so with columns over the rows of this round only."""
        rows = np.empty((len(self.sent), len(columns)), dtype=np.int64)
        for place, column in enumerate(columns):
            rows[:, place] = column
        found, self._came = self._ranks.swap(rows, self._counts)
        return found

    def answer(self, *columns: NDArray[np.integer[Any] | np.bool_]) -> Ints:
        """Send back `columns`, each over the rows that came, and return the answers to what was sent, in its order."""
        rows = np.stack([np.asarray(column, dtype=np.int64) for column in columns], axis=1)
        return self._ranks.swap(rows, self._came)[0]


def rounds(ranks: Ranks, to: NDArray[np.integer[Any]], chunk: int) -> Iterator[Round]:
    """Yield the rounds in which rows go to the processes `to`; all processes must run through it together.

    `to` of shape (n,): process that each row is for. `chunk`: rows that a process sends, and gets, in a round.
    """
    size = ranks.size
    order = None if size == 1 else np.argsort(to.astype(np.int16 if size < 1 << 15 else np.int64, copy=False), kind="stable")
    counts = np.array([len(to)]) if size == 1 else np.bincount(to, minlength=size).astype(np.int64)
    starts = np.cumsum(counts) - counts
    each = max(1, chunk // size)
    n_rounds = int(ranks.most(np.array([-(-int(counts.max(initial=0)) // each)]))[0])
    for number in range(n_rounds):
        low, high = np.minimum(counts, number * each), np.minimum(counts, (number + 1) * each)
        if order is None:
            sent = np.arange(low[0], high[0])
        else:
            sent = np.concatenate([order[starts[k] + low[k] : starts[k] + high[k]] for k in range(size)])
        yield Round(ranks, sent, high - low)


_PATIENCE_S = 5.0


@contextmanager
def over_world(n_ranks: int | None) -> Iterator[MPI.Intracomm]:
    """Yield the communicator of the program; if one of its processes fails alone, all are ended.

    `n_ranks`: how many the launcher says that it started; None if it says nothing.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    comm = mpi_world(n_ranks)
    try:
        yield comm
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
