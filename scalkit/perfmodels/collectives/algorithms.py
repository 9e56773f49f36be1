"""The algorithms behind collective operations, each as a formula of the time ``T`` of a message, the ``gap`` between
two that a process sends, an ``exchange``, where it receives one while it sends one, and what ``both`` cost its processor.

S is the size of the vector for broadcast, reduce and allreduce, and that of the block of one process for
allgather, gather, scatter, reduce-scatter and all-to-all (there for each destination). ``gamma`` is the time of reducing a byte.
Every formula holds for any number of processes unless its range says otherwise, and is zero for one process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from scalkit.errors import UsageError

Operation = Literal[
    "broadcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce-scatter", "barrier"
]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

_UP, _DOWN = "ceil(log2(P))", "floor(log2(P))"
_ANY = "min(P - 1, 1)"
"""1 if there is more than one process."""

_THAKUR = "Thakur, Rabenseifner, Gropp 2005"
_PJESIVAC = "Pjesivac-Grbovic et al. 2007"
_BRUCK = "Bruck et al. 1997"
_RABENSEIFNER = "Rabenseifner 2004"


@dataclass(frozen=True)
class Algorithm:
    """How an operation may be carried out.

    Attributes
    ----------
    operation, name : str
    formula : str
        In S, P, ``T(bytes)``, ``gap(bytes)``, ``exchange(bytes)``, ``both(bytes)``, and the constants ``gamma`` and ``segment``.
    how : str
        In words.
    source : str
        Where it, or its cost, is described (docs/references.md).
    only : {"", "powers of two"}
        Numbers of processes that it exists for.
    """

    operation: Operation
    name: str
    formula: str
    how: str
    source: str
    only: Literal["", "powers of two"] = ""

    @property
    def is_segmented(self) -> bool:
        """Whether it cuts the message into segments."""
        return "segment" in self.formula


_REST = f"({_UP} - {_DOWN})"
"""1 if the number of processes is no power of two."""


def _tree(size: str, per_message: str = "") -> str:
    """Return the critical path of a binomial tree: a last round that is not full costs its root a gap, but no message."""
    return f"{_DOWN}*(T({size}){per_message}) + {_REST}*(gap({size}){per_message})"


def _tree_of_blocks(block: str) -> str:
    """Return the critical path of a binomial scatter or gather: the root sends, or gets, ever smaller parts."""
    return f"{_REST}*gap(max(P - 2^{_DOWN}, 1)*{block}) + sum(k, 0, {_DOWN} - 1, T(2^k*{block}))"


def _doubling_blocks(block: str) -> str:
    """Return the same where all exchange growing parts; in a last round that is not full they exchange what is missing."""
    return f"{_ANY}*exchange((P - 2^({_UP} - 1))*{block}) + sum(k, 0, {_UP} - 2, exchange(2^k*{block}))"


def _one_by_one(size: str, message: str = "T") -> str:
    return f"{_ANY}*{message}({size}) + max(P - 2, 0)*gap({size})"


_ALL_AT_ONCE = f"max({_one_by_one('S', 'exchange')}, (P - 1)*both(S))"
"""A processor that is busy with a message longer than its network sends all of its own before it receives the others."""


def _near_first(levels: str) -> str:
    """Return the critical path of a full binomial tree of 2^levels processes, each of which serves its smallest child first."""
    return f"sum(k, 0, {levels} - 1, T(2^k*S)) + sum(k, 1, {levels} - 1, k*gap(2^({levels} - 1 - k)*S))"


_BEYOND = f"(P - 2^{_DOWN})"
"""Processes that a full binomial tree leaves over; they are the last child of the root."""

_NEAR_FIRST = (
    f"max({_near_first(_DOWN)}, min({_BEYOND}, 1)*(sum(k, 0, {_DOWN} - 1, gap(2^k*S)) + T({_BEYOND}*S)"
    f" + {_near_first(f'floor(log2(max({_BEYOND}, 1)))')}))"
)
"""The largest child waits for all others, on every level; of a tree that is not full the last child is served after them.
What is left over below that one is left out: where P is neither a power of two nor the sum of two, up to a quarter is missing."""


def _halving(cost: str) -> str:
    return f"sum(k, 1, {_DOWN}, {cost})"


_SEGMENTS = "ceil(S/segment)"
_PIECE = "min(S, segment)"
_PIPELINE = f"(P - 1)*(T({_PIECE}) + gamma*{_PIECE}) + {_ANY}*max({_SEGMENTS} - 1, 0)*(gap({_PIECE}) + gamma*{_PIECE})"
_REDUCED = "T(S) + gamma*S"
_EXCHANGED = "exchange(S) + gamma*S"

_ALL = (
    Algorithm("broadcast", "linear", _one_by_one("S"), "the root sends to one after another", _PJESIVAC),
    Algorithm("broadcast", "chain", "(P - 1)*T(S)", "each process sends all on to the next", _PJESIVAC),
    Algorithm("broadcast", "pipeline", _PIPELINE.replace(" + gamma*" + _PIECE, ""), "a chain of segments", _PJESIVAC),
    Algorithm("broadcast", "binomial", _tree("S"), "in each round everyone who has it sends it on", _THAKUR),
    Algorithm(
        "broadcast",
        "scatter-ring",
        f"{_tree_of_blocks('S/P')} + (P - 1)*exchange(S/P)",
        "binomial scatter, then allgather on a ring",
        "Barnett et al. 1994; " + _THAKUR,
    ),
    Algorithm(
        "broadcast",
        "scatter-doubling",
        f"{_tree_of_blocks('S/P')} + sum(k, 0, {_DOWN} - 1, exchange(2^k*S/P))",
        "binomial scatter, then allgather by recursive doubling",
        "Barnett et al. 1994; " + _THAKUR,
        "powers of two",
    ),
    Algorithm(
        "reduce",
        "linear",
        f"{_one_by_one('S')} + (P - 1)*gamma*S",
        "the root receives and reduces one after another",
        _PJESIVAC,
    ),
    Algorithm("reduce", "chain", f"(P - 1)*({_REDUCED})", "each process reduces and sends on to the next", _PJESIVAC),
    Algorithm("reduce", "pipeline", _PIPELINE, "a chain of segments", _PJESIVAC),
    Algorithm("reduce", "binomial", _tree("S", " + gamma*S"), "a binomial tree towards the root", _THAKUR),
    Algorithm(
        "reduce",
        "rabenseifner",
        f"{_halving('exchange(S/2^k) + T(S/2^k) + gamma*S/2^k')} + {_REST}*({_REDUCED})",
        "reduce-scatter by recursive halving, then binomial gather",
        _RABENSEIFNER,
    ),
    Algorithm(
        "allreduce",
        "linear",
        f"2*({_one_by_one('S')}) + (P - 1)*gamma*S",
        "linear reduce, then linear broadcast",
        _PJESIVAC,
    ),
    Algorithm(
        "allreduce",
        "reduce-broadcast",
        f"{_tree('S', ' + gamma*S')} + {_tree('S')}",
        "binomial reduce, then binomial broadcast",
        _THAKUR,
    ),
    Algorithm(
        "allreduce",
        "recursive-doubling",
        f"{_DOWN}*({_EXCHANGED}) + {_REST}*(2*T(S) + gamma*S)",
        "pairs at doubling distance exchange and reduce all",
        _THAKUR,
    ),
    Algorithm(
        "allreduce",
        "rabenseifner",
        f"{_halving('2*exchange(S/2^k) + gamma*S/2^k')} + {_REST}*(2*T(S) + gamma*S)",
        "reduce-scatter by recursive halving, then allgather by recursive doubling",
        _RABENSEIFNER + "; " + _THAKUR,
    ),
    Algorithm(
        "allreduce",
        "ring",
        "(P - 1)*(2*exchange(S/P) + gamma*S/P)",
        "reduce-scatter, then allgather, both on a ring",
        "Patarasuk, Yuan 2009",
    ),
    Algorithm("allgather", "linear", _ALL_AT_ONCE, "everyone sends to everyone", _PJESIVAC),
    Algorithm("allgather", "ring", "(P - 1)*exchange(S)", "blocks travel round a ring", _THAKUR),
    Algorithm(
        "allgather",
        "recursive-doubling",
        f"sum(k, 0, {_DOWN} - 1, exchange(2^k*S))",
        "pairs at doubling distance exchange all that they have",
        _THAKUR,
        "powers of two",
    ),
    Algorithm(
        "allgather", "bruck", _doubling_blocks("S"), "rounds of doubling distance, any number of processes", _BRUCK
    ),
    Algorithm(
        "allgather",
        "gather-broadcast",
        f"{_tree_of_blocks('S')} + {_tree('P*S')}",
        "binomial gather, then binomial broadcast",
        "Chan et al. 2007",
    ),
    Algorithm("alltoall", "linear", _ALL_AT_ONCE, "all messages are posted at once", _PJESIVAC),
    Algorithm(
        "alltoall", "pairwise", "(P - 1)*exchange(S)", "in each round everyone exchanges with another partner", _THAKUR
    ),
    Algorithm(
        "alltoall",
        "bruck",
        f"sum(k, 0, {_UP} - 1, exchange((floor(P/2^(k + 1))*2^k + max(mod(P, 2^(k + 1)) - 2^k, 0))*S))",
        "in round k blocks whose number has bit k travel together",
        _BRUCK,
    ),
    Algorithm("gather", "linear", _one_by_one("S"), "everyone sends to the root", _PJESIVAC),
    Algorithm("gather", "in-turn", "(P - 1)*T(S)", "the root receives from one after another", _PJESIVAC),
    Algorithm("gather", "binomial", _tree_of_blocks("S"), "a binomial tree of growing parts", "Chan et al. 2007"),
    Algorithm("scatter", "linear", _one_by_one("S"), "the root sends to one after another", _PJESIVAC),
    Algorithm("scatter", "in-turn", "(P - 1)*T(S)", "the root waits until each has its part", _PJESIVAC),
    Algorithm("scatter", "binomial", _tree_of_blocks("S"), "a binomial tree of shrinking parts", "Chan et al. 2007"),
    Algorithm("scatter", "near-first", _NEAR_FIRST, "a binomial tree, small parts before large ones", _PJESIVAC),
    Algorithm(
        "reduce-scatter", "pairwise", f"(P - 1)*({_EXCHANGED})", "in each round everyone sends one block", _THAKUR
    ),
    Algorithm(
        "reduce-scatter",
        "recursive-halving",
        _halving("exchange(P*S/2^k) + gamma*P*S/2^k"),
        "pairs at halving distance exchange half of what is left",
        _THAKUR,
        "powers of two",
    ),
    Algorithm(
        "barrier", "linear", f"2*({_one_by_one('0')})", "everyone tells the root, the root tells everyone", _PJESIVAC
    ),
    Algorithm("barrier", "tree", f"2*({_tree('0')})", "a binomial tree towards the root and back", _PJESIVAC),
    Algorithm(
        "barrier",
        "recursive-doubling",
        f"{_DOWN}*exchange(0) + 2*{_REST}*T(0)",
        "pairs at doubling distance, two rounds more for no power of two",
        _PJESIVAC,
    ),
    Algorithm(
        "barrier", "dissemination", f"{_UP}*exchange(0)", "rounds of doubling distance", "Hensgen, Finkel, Manber 1988"
    ),
)


def algorithms_of(operation: str) -> dict[str, Algorithm]:
    """Return the algorithms of an operation by name.

    Raises
    ------
    UsageError
        If the operation is unknown.
    """
    found = {one.name: one for one in _ALL if one.operation == operation}
    if not found:
        raise UsageError(f"there are no algorithms of {operation!r:.40}; choose one of {', '.join(OPERATIONS)}.")
    return found


def algorithm(operation: str, name: str) -> Algorithm:
    """Return an algorithm of an operation.

    Raises UsageError if one of the two is unknown.
    """
    known = algorithms_of(operation)
    if name not in known:
        raise UsageError(f"{operation} has no algorithm {name!r:.40}; choose one of {', '.join(known)}.")
    return known[name]
