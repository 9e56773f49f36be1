"""The exact model: a formula with all of its constants."""

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.growth.formula import syntax_tree
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Dimension, parse_quantity
from scalkit.perfmodels.formulas.ranges import Range, ranges_of
from scalkit.perfmodels.formulas.text import parse_formula
from scalkit.perfmodels.formulas.values import dimension_of, evaluate
from scalkit.perfmodels.models.constants import Legend
from scalkit.perfmodels.models.model import Outside, PerformanceModel


@dataclass(frozen=True, repr=False, eq=False)
class ExactModel(PerformanceModel):
    """A formula with all of its constants, for example ``ExactModel("a + b*S", {"a": "4.5 us", "b": "2.67 ns/B"})``.

    Parameters
    ----------
    formula : str
        See `scalkit.perfmodels.formulas.text`.
    constants : mapping from name to quantity
        Texts with a unit, or plain numbers. What the formula names beyond these is a parameter.
    valid : mapping from parameter to Range or pair of ends, optional
        ``{"S": ("1 KiB", None)}``; processes are at least 1 anyway.
    name, source : str
    also : sequence of str
        Parameters that do not occur in the formula: the barrier of a machine with a network for it is independent of P.

    Raises
    ------
    UsageError
        If the formula cannot be read, mixes units, or has no unit of a quantity.
    """

    formula: str
    constants: Mapping[str, object] = field(default_factory=dict)
    valid: Mapping[str, Range] = field(default_factory=dict)
    name: str = ""
    source: str = ""
    also: Sequence[str] = ()

    def __post_init__(self) -> None:
        values = {key: parse_quantity(one, f"constant {key}") for key, one in self.constants.items()}
        valid = with_processes(ranges_of(self.valid), self.parameters)
        self._settle(self.formula, _values=values, valid=valid)
        if unknown := [name for name in self.valid if name not in self.parameters]:
            raise UsageError(f"'{self.name}' has a range of {unknown[0]}, on which it does not depend.")
        self.unit  # noqa: B018 - mixed units shall fail here

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on."""
        return ordered({*names_in(self.formula), *self.also} - set(self.constants))

    @property
    def quantities(self) -> Mapping[str, tuple[float, str]]:
        """Value in base units, and unit, of each constant."""
        return dict(self.__dict__["_values"])

    @cached_property
    def unit(self) -> str:
        """Unit of its values."""
        dimensions = {name: Dimension.of(unit) for name, (_, unit) in self.quantities.items()}
        dimensions |= {name: Dimension.of(PARAMETER_UNITS.get(name, "1")) for name in self.parameters}
        return str(dimension_of(self._expression, dimensions, self.formula))

    @cached_property
    def _expression(self) -> Any:
        return parse_formula(self.formula, frozenset({*self.parameters, *self.constants}))

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return its value twice."""
        value = evaluate(self._expression, {**at, **{k: np.asarray(v) for k, (v, _) in self.quantities.items()}})
        return value, value

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the formula, and its constants."""
        return self._expression, self.quantities


def names_in(formula: str) -> set[str]:
    """Return the names in a formula that are no functions and no indices of sums."""
    tree = syntax_tree(str(formula))
    if tree is None:
        return set()  # parse_formula says what is wrong
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum" and node.args]
    indices = {ast.unparse(node.args[0]) for node in sums}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called - indices


def ordered(names: Collection[str]) -> tuple[str, ...]:
    """Return names of parameters in the order S, P, R, others."""
    first = [name for name in PARAMETER_UNITS if name in names]
    return (*first, *sorted(name for name in names if name not in PARAMETER_UNITS))


def with_processes(valid: dict[str, Range], parameters: Sequence[str]) -> dict[str, Range]:
    """Return ranges of which that of P begins at one process."""
    return {"P": Range(low=1.0), **valid} if "P" in parameters else valid
