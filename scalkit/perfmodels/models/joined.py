"""Models joined otherwise than by adding: the larger of several, the difference of two, and a model under conditions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.fit.several.growth import GrowthSum
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Dimension
from scalkit.perfmodels.formulas.text import parse_formula
from scalkit.perfmodels.formulas.values import dimension_of, evaluate
from scalkit.perfmodels.models.constants import Legend, merged, over_bounds, pair_of
from scalkit.perfmodels.models.exact import names_in
from scalkit.perfmodels.models.model import Outside, PerformanceModel
from scalkit.perfmodels.models.parts import MadeOfModels

_RELATION = re.compile(r"([^<>=]+)(<=|>=)([^<>=]+)")


@dataclass(frozen=True, repr=False, eq=False)
class Joined(MadeOfModels):
    """The largest of models of one unit, as of a roofline, or the first less the second; it holds where all of them do."""

    how: Literal["max", "difference"]
    models: tuple[PerformanceModel, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        units = {model.unit for model in self.models}
        if len(units) != 1 or len(self.models) < 2 or any(model.kind == "asymptotic" for model in self.models):
            shown = ", ".join(f"'{model.name}' in {model.unit}" for model in self.models)
            raise UsageError(f"cannot join {shown}; two models of one unit that have values or bounds are needed.")
        names = [model.name for model in self.models]
        shown = f"max({', '.join(names)})" if self.how == "max" else f"{names[0]} - ({names[1]})"
        self._settle(shown, self.sources)
        self.valid  # noqa: B018 - models that never hold together shall fail here

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models that are joined."""
        return self.models

    @property
    def growth_sum(self) -> GrowthSum:
        """That of all of them; what is subtracted does not count."""
        counted = self.models if self.how == "max" else self.models[:1]
        return GrowthSum.of(term for model in counted for term in model.growth_sum.terms)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the largest bounds, or the lower less the upper one and the upper less the lower one."""
        own = [model.own_bounds(at, outside) for model in self.models]
        if self.how == "max":
            return reduce(np.maximum, (one[0] for one in own)), reduce(np.maximum, (one[1] for one in own))
        return own[0][0] - own[1][1], own[0][1] - own[1][0]

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the maximum or the difference, and the constants of all."""
        import sympy

        if self.how == "max":
            return over_bounds(self.models, lambda found: sympy.Max(*found))
        found, legend = merged(self.models)
        (low, high), (less, more) = map(pair_of, found)
        is_pair = any(isinstance(one, sympy.Tuple) for one in found)
        return sympy.Tuple(low - more, high - less) if is_pair else low - more, legend


@dataclass(frozen=True, repr=False, eq=False)
class Conditioned(MadeOfModels):
    """A model that holds where conditions between its parameters do, such as ``P <= N``.

    `conditions`: two formulas of the parameters with ``<=`` or ``>=`` between them.
    """

    model: PerformanceModel
    conditions: tuple[str, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        self._settle(self.model.name, self.model.source, _differences=tuple(map(self._difference, self.conditions)))

    def _difference(self, condition: str) -> Any:
        """Return what must not be negative."""
        found = _RELATION.fullmatch(condition) if isinstance(condition, str) else None
        if found is None:
            raise UsageError(f"the condition is {condition!r:.60}; write two formulas with <= or >= between, as in 'P <= N'.")
        left, right = (parse_formula(found[k].strip(), frozenset(names_in(found[k]))) for k in (1, 3))
        known = {name: Dimension.of(PARAMETER_UNITS.get(name, "1")) for name in self.parameters}
        if unknown := [name for name in names_in(f"({found[1]}) - ({found[3]})") if name not in known]:
            listed = ", ".join(self.parameters)
            raise UsageError(f"the condition {condition!r:.60} names {unknown[0]!r}; '{self.model.name}' depends on {listed}.")
        difference = right - left if found[2] == "<=" else left - right
        dimension_of(difference, known, condition)
        return difference

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The model."""
        return (self.model,)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the bounds of the model; where a condition does not hold, an error or NaN."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        broken = np.zeros(shape, dtype=bool)
        for condition, difference in zip(self.conditions, self.__dict__["_differences"], strict=True):
            fails = np.broadcast_to(~(evaluate(difference, at) >= 0), shape)
            if outside == "error" and fails.any():
                where = ", ".join(f"{n} = {np.broadcast_to(v, shape)[fails].flat[0]:g}" for n, v in at.items())
                raise UsageError(f"'{self.name}' holds for {condition}, got {where}; stay inside, or say outside='nan'.")
            broken = broken | fails
        low, high = self.model.checked_bounds(at, outside)
        return np.where(broken, np.nan, low), np.where(broken, np.nan, high)

    def symbolic(self) -> tuple[Any, Legend]:
        """Return that of the model."""
        return self.model.symbolic()


def largest(*models: PerformanceModel) -> Joined:
    """Return the largest of several models of one unit, for example the roofline of what computing and memory take.

    Raises
    ------
    UsageError
        If there are fewer than two, their units differ, or one is only a growth.
    """
    return Joined("max", models)


def roofline(work: object, traffic: object, peak: object, bandwidth: object, per: str = "N") -> PerformanceModel:
    """Return the time of computing ``work*N`` operations that move ``traffic*N`` bytes: the larger of both.

    Parameters
    ----------
    work, traffic : quantity
        Of one element, such as ``"8 flop"`` and ``"16 B"``.
    peak, bandwidth : quantity
        Such as ``"10 Gflop/s"`` and ``"20 GB/s"``.
    per : str
        A formula of the number of elements, such as ``"N^3/P"``.

    References
    ----------
    Williams, Waterman, Patterson 2009 (docs/references.md).
    """
    from scalkit.perfmodels.models.exact import ExactModel

    computing = ExactModel(f"work*({per})/peak", {"work": work, "peak": peak}, name="computing")
    memory = ExactModel(f"traffic*({per})/bandwidth", {"traffic": traffic, "bandwidth": bandwidth}, name="memory")
    return largest(computing, memory)
