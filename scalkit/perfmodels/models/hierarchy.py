"""The levels of the hierarchy below the exact model: bounded and asymptotic."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.growth.sums import GrowthSum
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Range, format_value, ranges_of, values_in
from scalkit.perfmodels.formulas.text import parse_formula
from scalkit.perfmodels.models.exact import with_processes
from scalkit.perfmodels.models.model import Kind, MadeOfModels, Outside, PerformanceModel, ordered, require_model
from scalkit.support.arrays import Floats

NOTATIONS = ("O", "Theta", "Omega", "o")
_ROUNDING = 1e-9
"""Relative; bounds that cross by less than this are equal but for rounding."""


@dataclass(frozen=True, repr=False, eq=False)
class AsymptoticModel(PerformanceModel):
    """A growth without constants, for example ``AsymptoticModel("log(P) + S")``.

    Parameters
    ----------
    expression : str, Growth or GrowthSum
        A sum of products of powers of 2^x, x and log2 x.
    notation : {"O", "Theta", "Omega", "o"}
    name, source, valid
        See `ExactModel`.

    Raises
    ------
    UsageError
        If the notation is unknown.
    ExpectationError
        If the growth cannot be read.
    """

    expression: object
    notation: str = "O"
    valid: Mapping[str, Range] = field(default_factory=dict)
    name: str = ""
    source: str = ""
    kind_of_class: ClassVar[Kind] = "asymptotic"
    unit: ClassVar[str] = "s"
    """Seconds; its constants are not known."""

    def __post_init__(self) -> None:
        if self.notation not in NOTATIONS:
            raise UsageError(f"the notation is {self.notation!r:.40}; choose one of {', '.join(NOTATIONS)}.")
        growth = GrowthSum.parse(self.expression)
        self._settle(f"{self.notation}({growth})", expression=growth)
        self._settle("", valid=with_processes(ranges_of(self.valid), self.parameters))

    @property
    def growth_sum(self) -> GrowthSum:
        """The growth itself."""
        assert isinstance(self.expression, GrowthSum)
        return self.expression

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on."""
        return ordered(self.growth_sum.parameters)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return zero and infinity: it makes no absolute statement."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        return np.zeros(shape), np.full(shape, np.inf)

    def to_sympy(self) -> Any:
        """Return the growth, without its notation."""
        return parse_formula(str(self.growth_sum), frozenset(self.parameters))

    def ratio(self, to: Mapping[str, ArrayLike], since: Mapping[str, ArrayLike]) -> Any:
        """Return by what factor the growth rises from one setting to another: what an asymptotic model can say.

        `to`, `since`: both with all parameters.
        """
        for setting in (to, since):
            self._require_names(setting)
        logs = [self.growth_sum.log2_value({k: values_in(v, k) for k, v in one.items()}) for one in (to, since)]
        return np.exp2(logs[0] - logs[1])[()]


@dataclass(frozen=True, repr=False, eq=False)
class BoundedModel(MadeOfModels):
    """Bounds with all of their constants, for example for the best and the worst placement of processes.

    Parameters
    ----------
    lower : PerformanceModel, optional
        Exact; zero if there is none.
    upper : PerformanceModel, optional
        Exact; without one there is no upper bound.
    name, source

    Raises
    ------
    UsageError
        If there is no bound, or one is not exact or in another unit.
    """

    lower: PerformanceModel | None = None
    upper: PerformanceModel | None = None
    name: str = ""
    source: str = ""
    kind_of_class: ClassVar[Kind] = "bounded"

    def __post_init__(self) -> None:
        sides = self.sides
        for one in sides:
            require_model(one, "a bound")
        if not sides or any(not one.is_exact for one in sides) or len({one.unit for one in sides}) > 1:
            raise UsageError("a bounded model needs a lower or an upper bound; both must be exact models in the same unit.")
        self._settle(" to ".join(one.name for one in sides), sides[-1].source)

    @property
    def sides(self) -> tuple[PerformanceModel, ...]:
        """The bounds that there are."""
        return tuple(one for one in (self.lower, self.upper) if one is not None)

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The bounds that there are."""
        return self.sides

    @property
    def growth_sum(self) -> GrowthSum:
        """Growth of the upper bound, else of the lower."""
        return self.sides[-1].growth_sum

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return both bounds; where the lower one is above the upper one there are none, see `PerformanceModel.__call__`."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        low = np.zeros(shape) if self.lower is None else self.lower.own_bounds(at, outside)[0]
        high = np.full(shape, np.inf) if self.upper is None else self.upper.own_bounds(at, outside)[0]
        low, high = (np.broadcast_to(side, shape) for side in (low, high))
        crossed = low > high * (1 + _ROUNDING)
        if outside == "error" and crossed.any():
            where = ", ".join(_span(name, np.broadcast_to(value, shape)[crossed]) for name, value in at.items())
            values = (format_value(float(side[crossed].flat[0]), self.unit) for side in (low, high))
            raise UsageError(
                f"the lower bound of '{self.name}' is above its upper one for {where or 'all values'}, first "
                f"{' above '.join(values)}; let both hold for fewer values, or say outside='nan'."
            )
        return np.where(crossed, np.nan, low), np.where(crossed, np.nan, high)

    def to_sympy(self) -> Any:
        """Return the pair of bounds, zero and infinity where there is none."""
        import sympy

        low = sympy.Integer(0) if self.lower is None else self.lower.to_sympy()
        return sympy.Tuple(low, sympy.oo if self.upper is None else self.upper.to_sympy())


def _span(parameter: str, values: Floats) -> str:
    """Return which values of a parameter are meant."""
    unit = PARAMETER_UNITS.get(parameter, "1")
    first, last = (format_value(float(one), unit) for one in (values.min(), values.max()))
    return f"{parameter} = {first}" if first == last else f"{parameter} = {first} to {last}"
