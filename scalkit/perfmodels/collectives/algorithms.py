"""The algorithms behind collective operations, each with a formula of its time; algorithms.toml lists them."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from scalkit.errors import UsageError
from scalkit.toml.tables import table_beside

Operation = Literal["broadcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce-scatter", "barrier"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


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


@cache
def _all() -> dict[str, dict[str, Algorithm]]:
    """Return all algorithms by operation and name, from algorithms.toml."""
    table = table_beside(__file__, "algorithms.toml")
    parts: dict[str, str] = {}
    for name, part in table["parts"].items():
        parts[name] = part.format_map(parts)
    return {
        operation: {
            name: Algorithm(operation, name, **{**row, "formula": row["formula"].format_map(parts)})
            for name, row in table[operation].items()
        }
        for operation in OPERATIONS
    }


def alike_between_two(operation: Operation) -> list[list[str]]:
    """Return groups of algorithms that are the same between two processes."""
    groups: list[list[str]] = table_beside(__file__, "algorithms.toml")["alike-between-two"][operation]
    return groups


def algorithms_of(operation: str) -> dict[str, Algorithm]:
    """Return the algorithms of an operation by name.

    Raises
    ------
    UsageError
        If the operation is unknown.
    """
    if operation not in OPERATIONS:
        raise UsageError(f"there are no algorithms of {operation!r:.40}; choose one of {', '.join(OPERATIONS)}.")
    return dict(_all()[operation])


def algorithm(operation: str, name: str) -> Algorithm:
    """Return an algorithm of an operation. Raises UsageError if one of the two is unknown."""
    known = algorithms_of(operation)
    if name not in known:
        raise UsageError(f"{operation} has no algorithm {name!r:.40}; choose one of {', '.join(known)}.")
    return known[name]
