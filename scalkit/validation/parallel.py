"""Computes the tasks of a validation: one after the other, or on all ranks of an MPI program.

Rank 0 splits the work and puts the results together, and takes part in it where ranks are few; the others compute what it
sends them. Tasks have a fixed size and their results keep their order, so that what comes out does not depend on the number of
ranks.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scalkit.mpi_world import mpi_world
from scalkit.task_bar import Report
from scalkit.validation.judge.along_one import Mapper

_RANK_0_HELPS = 4  # ranks at most: with more of them it would keep the others waiting for messages


def in_turn(report: Report) -> Mapper:
    """Return what computes tasks one after the other, as `map` does, and reports how far it is."""

    def mapper(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        report(0, len(tasks))
        for done, task in enumerate(tasks, 1):
            found = function(task)
            report(done, len(tasks))
            yield found

    return mapper


@contextmanager
def over_ranks(n_ranks: int | None, report: Report) -> Iterator[Mapper | None]:
    """Yield what computes tasks on all ranks; all of them must enter together.

    `n_ranks`: how many ranks the launcher says that it started; None if it says nothing.
    `report`: is called on rank 0 with the number of tasks that are done, and of all.
    Returns: as `map` on rank 0. None on each other rank, when it has done its part and rank 0 has left.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    comm = mpi_world(n_ranks)
    if comm.Get_size() == 1:
        yield in_turn(report)
        return
    from mpi4py.futures import MPICommExecutor

    if comm.Get_rank() > 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 hears it too, and ends the others in order
    with MPICommExecutor(comm) as executor:
        yield None if executor is None else _spreading(executor, report)


def _spreading(executor: Any, report: Report) -> Mapper:
    """Return what computes tasks by an `MPIPoolExecutor`."""

    def mapper(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        from mpi4py.futures import Future, as_completed

        n_ranks = executor.num_workers + 1
        bundles = list(_bundles(tasks, n_ranks))
        futures = [executor.submit(_in_order, function, bundle) for bundle in bundles]

        def tell() -> None:
            done = sum(len(bundle) for bundle, future in zip(bundles, futures, strict=True) if future.done())
            report(done, len(tasks))

        tell()
        try:
            for place in reversed(range(len(bundles) if n_ranks <= _RANK_0_HELPS else 0)):
                if futures[place].cancel():  # the last one that no other rank has begun
                    futures[place] = Future()
                    _compute(futures[place], function, bundles[place])
                    tell()
            for _ in as_completed(futures):
                tell()
            return [found for future in futures for found in future.result()]
        finally:
            for future in futures:
                future.cancel()

    return mapper


def _bundles(tasks: Sequence[Any], n_ranks: int) -> Iterator[Sequence[Any]]:
    """Yield the tasks that are sent together: many in the beginning, so that few messages are needed, one in the end."""
    start = 0
    while start < len(tasks):
        size = max(1, (len(tasks) - start) // (2 * n_ranks))
        yield tasks[start : start + size]
        start += size


def _in_order(function: Callable[[Any], Any], bundle: Sequence[Any]) -> list[Any]:
    return [function(task) for task in bundle]


def _compute(future: Any, function: Callable[[Any], Any], bundle: Sequence[Any]) -> None:
    """Compute here; an error waits for those of earlier tasks, which would be raised without other ranks."""
    try:
        future.set_result(_in_order(function, bundle))
    except Exception as error:
        future.set_exception(error)
