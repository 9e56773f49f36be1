"""Ranks of an MPI program that run the same command; light, because every command imports it."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI and others with Hydra; srun --mpi=pmi2
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),  # srun; a batch script has only the first
)
_PAUSE_S = 1.0


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


def only_rank_0_speaks(command: Callable[[], int]) -> int:
    """Return the status of a command; drop what other ranks than 0 print, which is the same again.

    What MPI itself writes stays. A launcher may end all ranks when one fails, so that rank 0 gets the time to say why.
    """
    here = launched()
    if here is None or here.rank == 0:
        return command()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        try:
            status = command()
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 2
    if status != 0:
        time.sleep(_PAUSE_S)
    return status
