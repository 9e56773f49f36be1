"""The exact model: a formula with all of its constants."""

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from scalkit.errors import UsageError
from scalkit.growth.sums import GrowthSum
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Dimension, Range, parse_quantity, ranges_of
from scalkit.perfmodels.formulas.syntax import syntax_tree
from scalkit.perfmodels.formulas.text import dimension_of, evaluate, parse_formula, positive
from scalkit.perfmodels.models.model import Kind, MadeOfModels, Outside, PerformanceModel, ordered, pair_of
from scalkit.support.arguments import each_of, require_kind, require_text
from scalkit.support.arrays import Floats


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
        require_text(self.formula, "the formula")
        require_kind(self.constants, Mapping, "the constants", "give a dict such as {'a': '2 us'}")
        require_kind(self.also, tuple | list, "also", "give a list of parameters")
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

    def to_sympy(self) -> Any:
        """Return the formula, with the values of its constants in base units."""
        return self._expression.subs({positive(name): value for name, (value, _) in self.quantities.items()})


def names_in(formula: str) -> set[str]:
    """Return the names in a formula that are no functions and no indices of sums."""
    tree = syntax_tree(str(formula))
    if tree is None:
        return set()  # parse_formula says what is wrong
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum" and node.args]
    indices = {ast.unparse(node.args[0]) for node in sums}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called - indices


def with_processes(valid: dict[str, Range], parameters: Sequence[str]) -> dict[str, Range]:
    """Return ranges of which that of P begins at one process."""
    return {"P": Range(low=1.0), **valid} if "P" in parameters else valid


_NONE_BELOW = 1.0
"""What is measured at one byte holds for an empty message, too."""


@dataclass(frozen=True, repr=False, eq=False)
class RangeModel(MadeOfModels):
    """Other models for other ranges of one parameter, for example of the message size: eager, then rendezvous.

    Parameters
    ----------
    parameter : str
    pieces : sequence of (Range, PerformanceModel)
        Ascending, without overlap.
    name, source

    Raises
    ------
    UsageError
        If there is no piece, they overlap, or they differ in unit.
    """

    parameter: str
    pieces: Sequence[tuple[Range, PerformanceModel]]
    name: str = ""
    source: str = ""
    kind_of_class: ClassVar[Kind] = "ranges"

    def __post_init__(self) -> None:
        pieces = tuple(each_of(self.pieces, tuple, "the pieces", "give pairs (Range, model)"))
        if not pieces or len({model.unit for _, model in pieces}) > 1:
            raise UsageError("a model of ranges needs at least one piece, all in the same unit.")
        for (left, _), (right, _) in pairwise(pieces):
            if right.low < left.high or (right.low == left.high and not right.open_low):
                raise UsageError(
                    f"the ranges {left.text(self.parameter)} and {right.text(self.parameter)} overlap; "
                    "let one end where the next begins."
                )
        self._settle(f"{pieces[0][1].name} and others, by {self.parameter}", pieces[0][1].source, pieces=pieces)

    @property
    def valid(self) -> Mapping[str, Range]:  # type: ignore[override]
        """From the beginning of the first piece to the end of the last, and where any piece holds for other parameters."""
        found = {
            name: _around([model.valid.get(name, Range()) for _, model in self.pieces])
            for name in self.parameters
            if name != self.parameter
        }
        own = [both for limits, model in self.pieces if (both := limits & model.valid.get(self.parameter, Range()))]
        some = {name: limits for name, limits in found.items() if not limits.is_all}
        some[self.parameter] = _around(own or [limits for limits, _ in self.pieces])
        return with_processes(some, self.parameters)

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models of the pieces."""
        return tuple(model for _, model in self.pieces)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on."""
        return ordered({self.parameter, *super().parameters})

    @property
    def growth_sum(self) -> GrowthSum:
        """Growth of the last piece."""
        return self.pieces[-1][1].growth_sum

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the bounds of the piece of each value; NaN between pieces."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        wide = {name: np.broadcast_to(value, shape) for name, value in at.items()}
        low, high = np.full(shape, np.nan), np.full(shape, np.nan)
        covered = np.zeros(shape, dtype=bool)
        for limits, model in self.pieces:
            here = limits.contains(wide[self.parameter])
            covered |= here
            if here.any():
                low[here], high[here] = model.checked_bounds({n: wide[n][here] for n in model.parameters}, outside)
        if outside == "error" and not covered.all() and self.valid[self.parameter].contains(wide[self.parameter]).all():
            shown = ", ".join(limits.text(self.parameter) for limits, _ in self.pieces)
            gap = float(wide[self.parameter][~covered].flat[0])
            raise UsageError(f"'{self.name}' has no piece at {self.parameter} = {gap:g}; it has {shown}.")
        return low, high

    def to_sympy(self) -> Any:
        """Return a Piecewise expression, or a pair of them where pieces have bounds."""
        import sympy

        conditions = [_condition(positive(self.parameter), limits) for limits, _ in self.pieces]
        sides = zip(*(pair_of(one.to_sympy()) for one in self.parts), strict=True)
        low, high = (sympy.Piecewise(*zip(side, conditions, strict=True)) for side in sides)
        return low if low == high else sympy.Tuple(low, high)


def _around(ranges: Sequence[Range]) -> Range:
    """Return the least range that contains all of them."""
    low, open_low = min((one.low, one.open_low) for one in ranges)
    kinds = {one.only for one in ranges}
    return Range(low, max(one.high for one in ranges), open_low, kinds.pop() if len(kinds) == 1 else "")


def _condition(x: Any, limits: Range) -> Any:
    import sympy

    below = x <= _number(limits.high) if math.isfinite(limits.high) else sympy.true
    low = _number(limits.low)
    above = (x > low if limits.open_low else x >= low) if limits.low > 0 else sympy.true
    return sympy.And(above, below)


def _number(value: float) -> Any:
    import sympy

    return sympy.Integer(int(value)) if float(value).is_integer() else sympy.Float(value)


def within(model: PerformanceModel, parameter: str, low: float, high: float) -> PerformanceModel:
    """Return a model that holds no further than it was measured.

    `low`, `high`: the least and the largest value that were measured; 1 counts as 0.
    """
    limits = Range(low if low > _NONE_BELOW else 0.0, high)
    if isinstance(model, RangeModel):
        pieces = [(both, one) for piece, one in model.pieces if (both := piece & limits) is not None]
        return replace(model, pieces=pieces)
    assert isinstance(model, ExactModel)
    return replace(model, valid={**model.valid, parameter: limits})


def extrapolated(model: PerformanceModel) -> PerformanceModel:
    """Return a model of a message that goes on beyond the sizes that were measured, which its source then says.

    `model`: its first and its last formula go on.
    """
    limits = model.valid.get("S", Range())
    if limits.is_all:
        return model
    source = "; ".join(one for one in (model.source, f"{model.name} extrapolated outside of {limits.text('S')}") if one)
    if isinstance(model, RangeModel):
        pieces = list(model.pieces)
        pieces[0] = (replace(pieces[0][0], low=0.0, open_low=False), pieces[0][1])
        pieces[-1] = (replace(pieces[-1][0], high=math.inf), pieces[-1][1])
        return replace(model, pieces=pieces, source=source)
    assert isinstance(model, ExactModel)
    return replace(model, valid={k: v for k, v in model.valid.items() if k != "S"}, source=source)
