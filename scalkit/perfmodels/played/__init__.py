"""What MPICH 5.0 and Open MPI 5.0 send in each algorithm, and a machine that plays it: their times in virtual time.

Written from the libraries' own sources and from what they were seen to send: the order of messages, the sizes of blocks that
are not equal, what happens to processes beyond a power of two, and which algorithm takes over where one cannot be used.
"""

from scalkit.perfmodels.played import allreduce, alltoall, barrier, broadcast, reduce_scatter, rooted
from scalkit.perfmodels.played.machine import WIRES, Machine, Played, play
from scalkit.perfmodels.played.steps import Program

__all__ = ["SCHEDULES", "WIRES", "Machine", "Played", "play"]

_TABLES = {
    "barrier": barrier.SCHEDULES,
    "broadcast": broadcast.SCHEDULES,
    "reduce": allreduce.TO_ONE,
    "allreduce": allreduce.SCHEDULES,
    "allgather": alltoall.ALLGATHER,
    "alltoall": alltoall.SCHEDULES,
    "gather": rooted.GATHER,
    "scatter": rooted.SCATTER,
    "reduce-scatter": reduce_scatter.SCHEDULES,
}
SCHEDULES: dict[tuple[str, str, str], Program] = {
    (library, operation, algorithm): program
    for operation, table in _TABLES.items()
    for (library, algorithm), program in table.items()
}
"""By library, operation and algorithm."""
