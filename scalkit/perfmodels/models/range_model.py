"""Models of ranges: another model for each range of one parameter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.fit.several.growth import GrowthSum
from scalkit.perfmodels.formulas.ranges import Range
from scalkit.perfmodels.formulas.text import positive
from scalkit.perfmodels.models.constants import Legend, over_bounds
from scalkit.perfmodels.models.exact import ExactModel, ordered, with_processes
from scalkit.perfmodels.models.model import Kind, Outside, PerformanceModel
from scalkit.perfmodels.models.parts import MadeOfModels

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
        pieces = tuple(self.pieces)
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

    def symbolic(self) -> tuple[Any, Legend]:
        """Return a Piecewise expression, or a pair of them where pieces have bounds, and the constants of all pieces."""
        import sympy

        conditions = [_condition(positive(self.parameter), limits) for limits, _ in self.pieces]
        return over_bounds(self.parts, lambda found: sympy.Piecewise(*zip(found, conditions, strict=True)))


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


def extrapolated(model: PerformanceModel, parameter: str = "S") -> PerformanceModel:
    """Return a model that goes on beyond what was measured, which its source then says.

    `model`: its first and its last formula go on.
    """
    limits = model.valid.get(parameter, Range())
    if limits.is_all:
        return model
    source = "; ".join(one for one in (model.source, f"{model.name} extrapolated outside of {limits.text(parameter)}") if one)
    if isinstance(model, RangeModel):
        pieces = list(model.pieces)
        pieces[0] = (replace(pieces[0][0], low=0.0, open_low=False), pieces[0][1])
        pieces[-1] = (replace(pieces[-1][0], high=math.inf), pieces[-1][1])
        return replace(model, pieces=pieces, source=source)
    assert isinstance(model, ExactModel)
    return replace(model, valid={k: v for k, v in model.valid.items() if k != parameter}, source=source)
