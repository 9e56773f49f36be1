"""The time of a collective operation over (S, P), from the algorithm behind it and a model of one message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from scalkit.errors import UsageError
from scalkit.growth.sums import GrowthSum
from scalkit.perfmodels.formulas.growths import growth_of
from scalkit.perfmodels.formulas.quantities import Range, values_in
from scalkit.perfmodels.formulas.text import evaluate, parse_formula, positive
from scalkit.perfmodels.models.exact import RangeModel, names_in
from scalkit.perfmodels.models.model import Composite, Outside, PerformanceModel, ordered
from scalkit.perfmodels.models.point_to_point import PointToPoint, require_message
from scalkit.support.arguments import require_text
from scalkit.support.arrays import Floats
from scalkit.support.toml.tables import table_beside

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
    require_text(operation, "the operation")
    if operation not in OPERATIONS:
        raise UsageError(f"there are no algorithms of {operation!r:.40}; choose one of {', '.join(OPERATIONS)}.")
    return dict(_all()[operation])


def algorithm(operation: str, name: str) -> Algorithm:
    """Return an algorithm of an operation. Raises UsageError if one of the two is unknown."""
    known = algorithms_of(operation)
    require_text(name, "the algorithm")
    if name not in known:
        raise UsageError(f"{operation} has no algorithm {name!r:.40}; choose one of {', '.join(known)}.")
    return known[name]


_SEGMENT_B = 8192.0
"""Size of the segments of a pipeline."""


@dataclass(frozen=True, repr=False, eq=False)
class CollectiveModel(PerformanceModel):
    """What an algorithm costs with a model of one message; `collective` makes one.

    Attributes
    ----------
    algorithm : Algorithm
    message : PointToPoint
    """

    algorithm: Algorithm
    message: PointToPoint
    name: str = ""
    source: str = ""
    valid: Mapping[str, Range] = field(init=False)
    unit: ClassVar[str] = "s"
    """Seconds."""

    def __post_init__(self) -> None:
        one = self.algorithm
        require_message(self.message)
        source = "; ".join(s for s in (one.source, self.message.source) if s)
        self._settle(f"{one.operation}, {one.name}", source, valid={"P": Range(low=1.0, only=one.only)})

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on: S and P, of a barrier P alone."""
        return ordered({"P", *({"S"} & names_in(self.algorithm.formula))})

    @cached_property
    def scheme(self) -> Any:
        """The formula in ``T``, ``gap`` and ``exchange``, as a sympy expression."""
        names = frozenset({"S", "P", "gamma", "segment"})
        return parse_formula(self.algorithm.formula, names, messages=True)

    @property
    def _constants(self) -> dict[str, float]:
        return {"gamma": self.message.gamma_s, "segment": _SEGMENT_B}

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return its value twice."""
        constants = {name: np.asarray(value) for name, value in self._constants.items()}
        value = evaluate(self.scheme, {**at, **constants}, self.message.functions(outside))
        shape = np.broadcast_shapes(*(one.shape for one in at.values()))
        found = np.broadcast_to(value, shape)
        return found, found

    def to_sympy(self) -> Any:
        """Return the formula with the model of a message substituted."""
        return self._with(self.message.in_formulas)

    @property
    def growth_sum(self) -> GrowthSum:
        """Its leading terms with the protocol of the largest messages."""
        largest = {name: _largest(one) for name, one in self.message.in_formulas.items()}
        return growth_of(self._with(largest), self.parameters)

    def _with(self, models: Mapping[str, PerformanceModel]) -> Any:
        """Return the formula with these models of messages, and the values of its constants."""
        import sympy

        expression = self.scheme.subs({positive(name): value for name, value in self._constants.items()})
        for name, model in models.items():
            time = model.to_sympy()
            expression = expression.replace(
                sympy.Function(name), lambda size, time=time: time.subs(positive("S"), size, simultaneous=True)
            )
        return expression


def _largest(model: PerformanceModel) -> PerformanceModel:
    if isinstance(model, Composite):
        return Composite(tuple((factor, _largest(one)) for factor, one in model.terms))
    return _largest(model.pieces[-1][1]) if isinstance(model, RangeModel) else model


def collective(operation: str, name: str, message: PointToPoint) -> CollectiveModel:
    """Return the model of an operation by one algorithm, for example ``collective("broadcast", "binomial", message)``.

    Parameters
    ----------
    operation, name : str
        See `scalkit.perfmodels.collectives.model`.
    message : PointToPoint

    Raises
    ------
    UsageError
        If operation or algorithm are unknown.
    """
    return CollectiveModel(algorithm(operation, name), message)


def collectives_of(operation: str, message: PointToPoint) -> dict[str, CollectiveModel]:
    """Return the models of an operation by all of its algorithms, by name; see `collective`."""
    return {name: collective(operation, name, message) for name in algorithms_of(operation)}


_CHAINS = frozenset({"chain", "pipeline"})
"""The same where the data is one segment."""


def same_messages(operation: str, first: str, other: str, P: float | str, S: float | str = 0.0) -> bool:
    """Return whether two algorithms send the same messages, between the same processes and in the same order.

    Parameters
    ----------
    operation, first, other : str
        See `scalkit.perfmodels.collectives.model`.
    P : float
        Processes.
    S : float, in B, or str
        A text names its unit: ``"4 KiB"``.

    Raises
    ------
    UsageError
        If operation or algorithm are unknown, P or S are no numbers, or there is no process.

    Examples
    --------
    >>> same_messages("broadcast", "chain", "pipeline", P=16, S=4096)
    True
    >>> same_messages("broadcast", "chain", "pipeline", P=16, S=65536)
    False
    """
    processes, size = float(values_in(P, "P")), float(values_in(S, "S"))
    if not processes >= 1:
        raise UsageError(f"P = {processes:g}; there must be a process.")
    found = algorithm(operation, first)
    names = {first, algorithm(operation, other).name}
    if first == other or processes == 1:
        return True
    if size <= _SEGMENT_B:
        if names == _CHAINS:
            return True
        names = {"chain" if name == "pipeline" else name for name in names}
    return processes == 2 and any(names <= set(group) for group in alike_between_two(found.operation))
