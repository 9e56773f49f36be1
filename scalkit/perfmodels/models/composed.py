"""Models made of models beside sums: the largest of several, and models that hold under conditions."""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Dimension
from scalkit.perfmodels.formulas.text import dimension_of, evaluate, parse_formula
from scalkit.perfmodels.models.model import MadeOfModels, Outside, PerformanceModel
from scalkit.perfmodels.models.symbols import Legend, over_bounds


@dataclass(frozen=True, repr=False, eq=False)
class Maximum(MadeOfModels):
    """The largest of models of one unit; it holds where all of them do.

    References
    ----------
    Williams, Waterman, Patterson 2009: a roofline is that of computing and memory (docs/references.md).
    """

    models: tuple[PerformanceModel, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if growths := [one.name for one in self.models if one.kind == "asymptotic"]:
            raise UsageError(f"'{growths[0]}' has no value to compare; give models with values or bounds.")
        self._settle(f"max({', '.join(one.name for one in self.models)})", self.sources)
        self._require_one_unit()

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models that are compared."""
        return self.models

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the largest of the lower bounds, and of the upper ones."""
        low, high = zip(*(model.own_bounds(at, outside) for model in self.models), strict=True)
        return reduce(np.maximum, low), reduce(np.maximum, high)

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the maximum, and the constants of all parts."""
        import sympy

        return over_bounds(self.models, lambda expressions: sympy.Max(*expressions))


_RELATION = re.compile(r"([^<>=]+)(<=|>=|<|>)([^<>=]+)")
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class _Condition:
    """Two formulas of parameters and what is between them; a plain number is in the base unit, such as bytes."""

    text: str
    left: Any
    relation: str
    right: Any

    @classmethod
    def of(cls, text: object, model: PerformanceModel) -> "_Condition":
        found = _RELATION.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise UsageError(f"the condition is {text!r:.60}; write two formulas with <, <=, > or >= between, as in 'P <= N'.")
        left, right = (parse_formula(found[k].strip(), frozenset(model.parameters)) for k in (1, 3))
        if not (left.is_number or right.is_number):
            dimension_of(
                left - right, {name: Dimension.of(PARAMETER_UNITS.get(name, "1")) for name in model.parameters}, found[0]
            )
        return cls(found[0], left, found[2], right)

    def holds(self, at: Mapping[str, Floats], shape: tuple[int, ...]) -> Flags:
        """Return where it holds."""
        return np.broadcast_to(_COMPARED[self.relation](evaluate(self.left, at), evaluate(self.right, at)), shape)


@dataclass(frozen=True, repr=False, eq=False)
class Conditioned(MadeOfModels):
    """A model that holds where conditions between its parameters do, such as ``P <= N`` or ``S < 1024``."""

    model: PerformanceModel
    conditions: tuple[str, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        read = tuple(_Condition.of(one, self.model) for one in self.conditions)
        self._settle(self.model.name, self.model.source, _read=read)

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The model."""
        return (self.model,)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the bounds of the model; where a condition does not hold, an error or NaN."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        inside = np.ones(shape, dtype=bool)
        for condition in self.__dict__["_read"]:
            holds = condition.holds(at, shape)
            if outside == "error" and not holds.all():
                where = ", ".join(f"{name} = {np.broadcast_to(value, shape)[~holds][0]:g}" for name, value in at.items())
                raise UsageError(f"'{self.name}' holds for {condition.text}, got {where}; stay inside, or say outside='nan'.")
            inside = inside & holds
        low, high = self.model.checked_bounds(at, outside)
        return np.where(inside, low, np.nan), np.where(inside, high, np.nan)

    def symbolic(self) -> tuple[Any, Legend]:
        """Return that of the model."""
        return self.model.symbolic()
