"""The algorithms that MPI libraries can be told to use, by the words and numbers that they have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "gather",
    "scatter",
    "reduce_scatter_block",
)
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
    return _OFFERED.get(kind, {})


def _tuned(number: int, name: str, segment: int = 0, fan: int = 0, only_powers: bool = False) -> Algorithm:
    told = [f"segments of {segment} B"] * bool(segment) + [f"fan {fan}"] * bool(fan)
    return Algorithm(", ".join([name, *told]), str(number), segment, fan, (), only_powers)


def _intra(operation: str, word: str, *tree: str, only_powers: bool = False) -> Algorithm:
    name = f"MPIR_{operation.capitalize()}_intra_{word}"
    return Algorithm(" ".join([word, *tree]), name, tree=tree, only_powers=only_powers)


def _numbered(*names: str) -> tuple[Algorithm, ...]:
    """Return algorithms of Intel MPI, whose names stand in its reference at numbers from 1; empty ones are left out."""
    return tuple(Algorithm(name, str(number)) for number, name in enumerate(names, 1) if name)


_OFFERED: Mapping[str, Mapping[str, tuple[Algorithm, ...]]] = {
    # Its rules for gather and scatter see no size: the type alone counts, not how many elements.
    "Open MPI": {
        "barrier": (
            _tuned(1, "linear"),
            _tuned(2, "double ring"),
            _tuned(3, "recursive doubling"),
            _tuned(4, "bruck"),
            _tuned(6, "tree"),
        ),
        "bcast": (
            _tuned(1, "linear"),
            _tuned(2, "chain", 8192, 4),
            _tuned(3, "pipeline", 8192),
            _tuned(4, "split binary tree", 8192),
            _tuned(5, "binary tree", 8192),
            _tuned(6, "binomial"),
            _tuned(7, "knomial", 0, 4),
            _tuned(8, "scatter, allgather"),
            _tuned(9, "scatter, ring"),
        ),
        "reduce": (
            _tuned(1, "linear"),
            _tuned(2, "chain", 8192, 4),
            _tuned(3, "pipeline", 8192),
            _tuned(4, "binary"),
            _tuned(5, "binomial"),
            _tuned(6, "in-order binary"),
            _tuned(7, "rabenseifner"),
        ),
        "allreduce": (
            _tuned(3, "recursive doubling"),
            _tuned(4, "ring"),
            _tuned(5, "segmented ring", 8192),
            _tuned(6, "rabenseifner"),
        ),
        "allgather": (
            _tuned(2, "bruck"),
            _tuned(3, "recursive doubling", only_powers=True),
            _tuned(4, "ring"),
            _tuned(5, "neighbour exchange"),
            _tuned(7, "sparbit"),
        ),
        "alltoall": (
            _tuned(1, "linear"),
            _tuned(2, "pairwise"),
            _tuned(3, "bruck"),
            _tuned(4, "linear, 4 at once", 0, 4),
        ),
        "reduce_scatter_block": (
            _tuned(2, "recursive doubling"),
            _tuned(3, "recursive halving"),
            _tuned(4, "butterfly"),
        ),
    },
    "MPICH": {
        "barrier": tuple(_intra("barrier", "k_dissemination", f"k={k}") for k in (2, 3, 4, 8)),
        "bcast": (
            _intra("bcast", "binomial"),
            _intra("bcast", "scatter_recursive_doubling_allgather", only_powers=True),
            _intra("bcast", "scatter_ring_allgather"),
        ),
        "reduce": (_intra("reduce", "binomial"), _intra("reduce", "reduce_scatter_gather")),
        "allreduce": (
            _intra("allreduce", "recursive_doubling"),
            _intra("allreduce", "reduce_scatter_allgather"),
            _intra("allreduce", "ring"),
        ),
        "allgather": (
            _intra("allgather", "brucks"),
            _intra("allgather", "recursive_doubling", only_powers=True),
            _intra("allgather", "ring"),
            _intra("allgather", "k_brucks", "k=4"),
        ),
        "alltoall": (_intra("alltoall", "brucks"), _intra("alltoall", "pairwise"), _intra("alltoall", "scattered")),
        "reduce_scatter_block": (
            _intra("reduce_scatter_block", "recursive_doubling"),
            _intra("reduce_scatter_block", "recursive_halving"),
            _intra("reduce_scatter_block", "pairwise"),
        ),
    },
    "Intel MPI": {
        "barrier": _numbered("dissemination", "recursive doubling", "", "", "binomial gather, scatter"),
        "bcast": _numbered("binomial", "recursive doubling", "ring", "", "", "", "shumilin's", "knomial"),
        "reduce": _numbered("shumilin's", "binomial", "", "", "rabenseifner's"),
        "allreduce": _numbered(
            "recursive doubling",
            "rabenseifner's",
            "",
            "",
            "binomial gather, scatter",
            "",
            "shumilin's ring",
            "ring",
            "knomial",
        ),
        "allgather": _numbered("recursive doubling", "bruck's", "ring", "", "knomial"),
        "alltoall": _numbered("bruck's", "isend, irecv, waitall", "pairwise", "plum's"),
        "gather": _numbered("binomial", "", "shumilin's"),
        "scatter": _numbered("binomial", "", "shumilin's"),
        "reduce_scatter_block": _numbered("recursive halving", "pairwise", "recursive doubling"),
    },
}
