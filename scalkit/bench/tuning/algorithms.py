"""The algorithms that MPI libraries can be told to use, by the words and numbers that they have for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from scalkit.toml.tables import table_beside

OPERATIONS = tuple("barrier bcast reduce allreduce allgather alltoall gather scatter reduce_scatter_block".split())
"""As in MPI_Bcast, in small letters."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of an operation.

    `name`: of the library, with what it is told beside.
    `word`: what its file has: a number, or the name of the function in MPICH.
    `segment`, `fan` of Open MPI: bytes of a segment, and how many children a process has; 0 where it has none.
    `tree` of MPICH: parameters, as in ``("k=4",)``.
    `only_powers`: of two processes; elsewhere the library would end, or take another one.
    """

    name: str
    word: str
    segment: int = 0
    fan: int = 0
    tree: tuple[str, ...] = ()
    only_powers: bool = False

    def takes(self, p: int) -> bool:
        """Return whether it exists for so many processes."""
        return not self.only_powers or p & (p - 1) == 0


def algorithms_of(kind: str) -> Mapping[str, tuple[Algorithm, ...]]:
    """Return what a library offers, by operation; nothing of one that is not known.

    Left out is what calls other collective operations, whose algorithms are chosen too, what only two processes can do,
    and what needs shared memory.
    """
    offered = table_beside(__file__, "algorithms.toml").get(kind, {})
    return {
        operation: tuple(Algorithm(**{**row, "tree": tuple(row.get("tree", ()))}) for row in rows)
        for operation, rows in offered.items()
    }
