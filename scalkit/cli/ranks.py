"""Whether a launcher of MPI programs started this process, and which rank it is: known without loading MPI."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

__all__ = ["Launched", "launched", "only_rank_0_speaks"]

_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI and others with Hydra; srun --mpi=pmi2
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),  # srun; a batch script has only the first
)


@dataclass(frozen=True)
class Launched:
    """What the launcher says: the rank, and how many there are, or None if it does not say."""

    rank: int
    size: int | None


def launched(environment: Mapping[str, str] | None = None) -> Launched | None:
    """Return what a launcher says of this process; None if there is none, or it started only this one."""
    given = os.environ if environment is None else environment
    for rank, size in _VARIABLES:
        if given.get(rank, "").isdecimal() and given.get(size, "").isdecimal():
            return Launched(int(given[rank]), int(given[size])) if int(given[size]) > 1 else None
    if given.get("PMIX_RANK", "").isdecimal():  # other launchers with PMIx
        return Launched(int(given["PMIX_RANK"]), None)
    return None


@contextmanager
def only_rank_0_speaks() -> Iterator[None]:
    """Drop what other ranks than 0 print, which is the same again; what MPI itself writes stays."""
    here = launched()
    with ExitStack() as stack:
        if here is not None and here.rank > 0:
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(redirect_stdout(nowhere))
            stack.enter_context(redirect_stderr(nowhere))
        yield
