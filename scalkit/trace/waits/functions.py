"""What the functions of MPI and ARMCI mean to the analysis: which progress, which complete, which wait for all."""

BARRIER = frozenset({"MPI_Barrier", "ARMCI_Barrier", "armci_msg_barrier", "sk1s_barrier"})
NXN = frozenset(
    f"MPI_{name}"
    for name in "Allgather Allgatherv Allreduce Alltoall Alltoallv Alltoallw Reduce_scatter Reduce_scatter_block".split()
)
FIRST_TO_ALL = frozenset({"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"})
TO_ROOT = frozenset({"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"})
FENCE = frozenset({"MPI_Win_fence"})
SCAN = frozenset({"MPI_Scan", "MPI_Exscan"})
NEIGHBOUR = frozenset(f"MPI_Neighbor_{name}" for name in "allgather allgatherv alltoall alltoallv alltoallw".split())
COLLECTIVES = BARRIER | NXN | FIRST_TO_ALL | TO_ROOT | FENCE | SCAN | NEIGHBOUR

WINDOW = frozenset(f"MPI_Win_{name}" for name in "create allocate allocate_shared create_dynamic free".split())
INIT, FINALIZE = frozenset({"MPI_Init", "MPI_Init_thread"}), frozenset({"MPI_Finalize"})

IN_ORDER = COLLECTIVES | WINDOW | INIT | FINALIZE
"""Calls that all members of a communicator or window make in the same order."""

LOCK, UNLOCK = frozenset({"MPI_Win_lock"}), frozenset({"MPI_Win_unlock"})
LOCK_ALL, UNLOCK_ALL = frozenset({"MPI_Win_lock_all"}), frozenset({"MPI_Win_unlock_all"})
POST, START = frozenset({"MPI_Win_post"}), frozenset({"MPI_Win_start"})
COMPLETE, WAIT = frozenset({"MPI_Win_complete"}), frozenset({"MPI_Win_wait"})

FLUSH_ONE = frozenset({"MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_unlock"})
"""Complete the operations to one target of a window."""

FLUSH_ALL = frozenset({"MPI_Win_flush_all", "MPI_Win_flush_local_all", "MPI_Win_unlock_all"})
"""Complete the operations to all targets of a window."""

ACTIVE = FENCE | COMPLETE | {"MPI_Win_free"}
"""Complete the operations of a window, but wait for other calls, not for progress."""


def begun(names: frozenset[str]) -> frozenset[str]:
    """Return the functions of MPI that begin these collective operations, and do not wait: ``"MPI_Ibarrier"`` and the like."""
    of_mpi = (name.removeprefix("MPI_") for name in names if name.startswith("MPI_") and name not in FENCE)
    return frozenset(f"MPI_I{name[0].lower()}{name[1:]}" for name in of_mpi)


def base_name(name: str) -> str:
    """Return the name of an MPI function without the `_c` of large counts."""
    return name[:-2] if name.startswith("MPI_") and name.endswith("_c") else name


def is_library_call(name: str) -> bool:
    """Return whether a region is a call of a communication library, which may progress what others have begun."""
    return name.startswith(("MPI_", "ARMCI_", "armci_", "sk1s_"))
