"""What MPICH and Open MPI are told, so that they use an algorithm: the variables of their environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scalkit.perfmodels.played.steps import SEGMENT

__all__ = ["ALWAYS", "FORCED", "Forced", "rounds"]


@dataclass(frozen=True)
class Forced:
    """An algorithm that a library is told to use: the name that scalkit has for it, or the library's own in brackets."""

    operation: str
    algorithm: str
    variables: dict[str, str]


_CALLED = {"broadcast": "bcast", "reduce-scatter": "reduce_scatter_block"}
"""Operations that the libraries call otherwise."""

_TUNED: Mapping[str, Mapping[str, int]] = {
    "barrier": {"linear": 1, "(double ring)": 2, "recursive-doubling": 3, "dissemination": 4, "tree": 6},
    "broadcast": {
        "linear": 1,
        "chain": 2,
        "pipeline": 3,
        "(split binary)": 4,
        "(binary)": 5,
        "binomial": 6,
        "(4-nomial)": 7,
        "scatter-doubling": 8,
        "scatter-ring": 9,
    },
    "reduce": {"linear": 1, "chain": 2, "pipeline": 3, "(binary)": 4, "binomial": 5, "(in-order binary)": 6, "rabenseifner": 7},
    "allreduce": {
        "linear": 1,
        "reduce-broadcast": 2,
        "recursive-doubling": 3,
        "ring": 4,
        "(segmented ring)": 5,
        "rabenseifner": 6,
    },
    "allgather": {"(linear)": 1, "bruck": 2, "recursive-doubling": 3, "ring": 4, "(neighbour)": 5, "(sparbit)": 7},
    "alltoall": {"linear": 1, "pairwise": 2, "bruck": 3, "(linear, 4 at once)": 4},
    "gather": {"in-turn": 1, "binomial": 2, "(linear, in two parts)": 3},
    "scatter": {"in-turn": 1, "binomial": 2, "linear": 3},
    "reduce-scatter": {"(reduce, scatter)": 1, "(recursive doubling)": 2, "recursive-halving": 3, "(butterfly)": 4},
}
"""Numbers of the algorithms of Open MPI's component `tuned`."""

_OPTIONS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("broadcast", "chain"): {"chain_fanout": 1},
    ("broadcast", "pipeline"): {"segmentsize": SEGMENT},
    ("broadcast", "(4-nomial)"): {"knomial_radix": 4},
    ("reduce", "chain"): {"chain_fanout": 1},
    ("reduce", "pipeline"): {"segmentsize": SEGMENT},
    ("allreduce", "(segmented ring)"): {"segmentsize": SEGMENT},
    ("alltoall", "(linear, 4 at once)"): {"max_requests": 4},
    ("gather", "(linear, in two parts)"): {"segmentsize": SEGMENT},
}
_MADE_OF: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("allreduce", "reduce-broadcast"): (("reduce", "binomial"), ("broadcast", "binomial")),
    ("allgather", "(linear)"): (("gather", "in-turn"), ("broadcast", "linear")),
    ("reduce-scatter", "(reduce, scatter)"): (("reduce", "binomial"), ("scatter", "binomial")),
}
"""Algorithms that call other operations, which must be told theirs."""

_INTRA: Mapping[str, Mapping[str, str]] = {
    "barrier": {"dissemination": "k_dissemination", "recursive-doubling": "recexch"},
    "broadcast": {
        "binomial": "binomial",
        "scatter-doubling": "scatter_recursive_doubling_allgather",
        "scatter-ring": "scatter_ring_allgather",
        "(tree)": "tree",
        "(pipelined tree)": "pipelined_tree",
    },
    "reduce": {"binomial": "binomial", "rabenseifner": "reduce_scatter_gather"},
    "allreduce": {"recursive-doubling": "recursive_doubling", "rabenseifner": "reduce_scatter_allgather", "ring": "ring"},
    "allgather": {"bruck": "brucks", "recursive-doubling": "recursive_doubling", "ring": "ring"},
    "alltoall": {"bruck": "brucks", "pairwise": "pairwise", "linear": "scattered"},
    "gather": {"binomial": "binomial"},
    "scatter": {"binomial": "binomial"},
    "reduce-scatter": {
        "recursive-halving": "recursive_halving",
        "pairwise": "pairwise",
        "(recursive doubling)": "recursive_doubling",
    },
}
"""Words of MPICH."""


def _tuned(operation: str, algorithm: str) -> dict[str, str]:
    name = f"OMPI_MCA_coll_tuned_{_CALLED.get(operation, operation)}_algorithm"
    found = {name: str(_TUNED[operation][algorithm])}
    for option, value in _OPTIONS.get((operation, algorithm), {}).items():
        found[f"{name}_{option}"] = str(value)
    for part in _MADE_OF.get((operation, algorithm), ()):
        found |= _tuned(*part)
    return found


def _intra(operation: str, word: str) -> dict[str, str]:
    name = _CALLED.get(operation, operation).replace("-", "_").upper()
    return {f"MPIR_CVAR_{name}_INTRA_ALGORITHM": word}


FORCED = {
    "MPICH": tuple(Forced(op, name, _intra(op, word)) for op, words in _INTRA.items() for name, word in words.items()),
    "Open MPI": tuple(Forced(op, name, _tuned(op, name)) for op, numbers in _TUNED.items() for name in numbers),
}
ALWAYS = {
    "MPICH": {
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_TCP_MAX_INJECT": "65536",  # else libfabric makes a rendezvous of its own
        "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        "MPIR_CVAR_COLLECTIVE_FALLBACK": "print",
    },
    "Open MPI": {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"},
}


def rounds(forced: tuple[Forced, ...]) -> list[list[Forced]]:
    """Return launches that together run every algorithm: one of each operation, if their variables do not differ."""
    found: list[list[Forced]] = []
    for one in forced:
        for launch in found:
            set_already = {key: value for other in launch for key, value in other.variables.items()}
            fits = all(set_already.get(key, value) == value for key, value in one.variables.items())
            if fits and one.operation not in {other.operation for other in launch}:
                launch.append(one)
                break
        else:
            found.append([one])
    return found
